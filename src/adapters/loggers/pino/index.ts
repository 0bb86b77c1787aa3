import { callable, checkOptions, count } from "../../../common/options.ts";
import type { CallGate, CallTally, LoggerAdapter, LoggerHost } from "../../../loggers/adapter.ts";
import type { Level } from "../../../loggers/level.ts";
import { ROOT } from "../../../loggers/name.ts";
import { callCounter } from "../../kit/loggers/call-counter.ts";
import { NamedLoggers, NativeHandle, nameUnder } from "../../kit/loggers/named-loggers.ts";
import { type PinoInstrumentation, pinoInstrumentation } from "./instrumentation.ts";
import { labelForLevel, levelFromValue } from "./level.ts";
import { type NativeLogger, type PinoCopy, type PinoLogger, pinoCopy } from "./native.ts";
import { streamLimit } from "./stream-limits.ts";

export type { PinoLogger } from "./native.ts";

/** How the loggers of pino are named, and how many of them are managed. */
export interface PinoLoggersOptions {
  /**
   * Returns the name for a child from its bindings, or undefined to leave the child alone, so that it follows its parent.
   * Default: the first non-empty string among `logger`, `module`, `component` and `name`.
   */
  readonly nameOf?: ((bindings: Readonly<Record<string, unknown>>) => string | undefined) | undefined;
  /** How many loggers of one name are managed; the newest ones are. Default 256. */
  readonly maxPerName?: number | undefined;
}

/**
 * Manages the loggers of pino 8, 9 and 10. The first logger given is ROOT; further ones go by their names, or are ROOT too.
 *
 * The adapter finds the children that any code makes after this call, by the name in their bindings; so call it right after
 * making the root logger. Children without a name, such as one for each request, follow their parent, with pino 8 and 9 too. A
 * level that the application sets is adopted. If a stream or transport filters records again, the logger shows a warning.
 *
 * @example
 * ```ts
 * import { createActuator } from "connect-actuator";
 * import { pinoLoggers } from "connect-actuator/pino";
 * import { pino } from "pino";
 *
 * const log = pino();
 * const actuator = createActuator({ loggers: { adapters: [pinoLoggers(log)] } });
 * const orders = log.child({ module: "shop.orders" });
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if a value is not a logger made by pino.
 */
export function pinoLoggers(
  loggers: PinoLogger | readonly [PinoLogger, ...PinoLogger[]],
  options: PinoLoggersOptions = {},
): LoggerAdapter {
  checkOptions<PinoLoggersOptions>("pinoLoggers", options, { nameOf: callable, maxPerName: count });
  return new PinoLoggers(Array.isArray(loggers) && loggers.length > 0 ? loggers : [loggers as PinoLogger], options);
}

/** A logger that was found before the adapter was attached. */
interface Found {
  readonly handle: PinoHandle;
  readonly own: boolean;
}

class PinoLoggers implements LoggerAdapter {
  readonly kind = "pino";
  readonly #nameOf: (bindings: Readonly<Record<string, unknown>>) => string | undefined;
  readonly #maxPerName: number;
  readonly #copies: ReadonlyMap<NativeLogger, PinoCopy>;
  readonly #loggers: NamedLoggers<NativeLogger, PinoHandle>;
  /** The handles whose loggers have level methods of their own; all other loggers inherit theirs. */
  readonly #pushed = new Set<PinoHandle>();
  #host: LoggerHost | undefined;
  #waiting: Found[] = [];
  #stops: readonly (() => void)[] = [];

  constructor(loggers: readonly PinoLogger[], options: PinoLoggersOptions) {
    this.#nameOf = options.nameOf ?? nameUnder(["logger", "module", "component", "name"]);
    this.#maxPerName = options.maxPerName ?? 256;
    this.#loggers = new NamedLoggers(this.#maxPerName, (handle) => this.#gone(handle));
    const copies = new Map<NativeLogger, PinoCopy>();
    for (const [index, logger] of (loggers as readonly NativeLogger[]).entries()) {
      const found = pinoCopy(logger);
      const copy = copies.get(found.prototype) ?? found;
      copies.set(copy.prototype, copy);
      const name = index === 0 ? ROOT : (this.#nameOf(logger.bindings()) ?? ROOT);
      this.#found(copy, name, logger, undefined, true);
    }
    this.#copies = copies;
    this.#observe();
  }

  attach(host: LoggerHost): () => void {
    this.#host = host;
    if (this.#stops.length === 0) this.#observe();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { handle, own } of waiting) {
      const { logger } = handle;
      if (logger !== undefined) this.#register(handle, logger, own);
    }
    return () => {
      for (const stop of this.#stops) stop();
      this.#stops = [];
      this.#host = undefined;
    };
  }

  measure(tallyOf: (name: string) => CallTally | undefined): () => void {
    const count = callCounter<PinoHandle>(tallyOf);
    return this.#intercept((copy, { interception }, loggers) =>
      interception.listen(
        (logger, verbosity, enabled) => count(this.#followed(copy, logger as NativeLogger), verbosity, enabled),
        loggers,
      ),
    );
  }

  gate(lets: CallGate): () => void {
    return this.#intercept((copy, { interception }, loggers) => {
      const nameOf = (logger: unknown) => this.#followed(copy, logger as NativeLogger)?.name;
      return interception.letThrough((logger, verbosity) => lets(verbosity, logger, nameOf), loggers);
    });
  }

  #intercept(
    start: (copy: PinoCopy, instrumentation: PinoInstrumentation, loggers: Iterable<NativeLogger>) => () => void,
  ): () => void {
    const stops = [...this.#copies.values()].map((copy) =>
      start(copy, pinoInstrumentation(copy), this.#pushedLoggers(copy)),
    );
    return () => {
      for (const stop of stops) stop();
    };
  }

  #observe(): void {
    this.#stops = [...this.#copies.values()].map((copy) =>
      pinoInstrumentation(copy).observe({
        childMade: (child, parent, bindings, own) => {
          const name = this.#nameOf(bindings as Record<string, unknown>);
          if (name !== undefined) this.#found(copy, name, child, this.#followed(copy, parent), own);
        },
        levelSet: (logger) => this.#levelSet(copy, logger),
        levelPushed: (logger) => {
          if (!this.#host?.pushing) this.#levelSet(copy, logger);
        },
      }),
    );
  }

  #levelSet(copy: PinoCopy, logger: NativeLogger): void {
    const handle = this.#loggers.get(logger);
    if (handle !== undefined) {
      this.#adopt(handle, currentLevel(copy, logger));
    } else if (isRoot(copy, logger)) {
      const name = this.#nameOf(logger.bindings());
      if (name !== undefined) this.#found(copy, name, logger, undefined, true);
    }
  }

  #adopt(handle: PinoHandle, level: Level): void {
    if (!this.#host?.pushing) {
      handle.note();
      this.#host?.changedOutside(handle, level);
      return;
    }
    // A "level-change" listener of the application set it during a push, which may still reach this logger too.
    queueMicrotask(() => {
      const { copy, logger } = handle;
      if (logger === undefined || currentLevel(copy, logger) !== level) return;
      handle.note();
      this.#host?.changedOutside(handle, level);
    });
  }

  #found(copy: PinoCopy, name: string, logger: NativeLogger, parent: PinoHandle | undefined, own: boolean): void {
    const handle = new PinoHandle(name, copy, logger, parent, this.#pushed);
    this.#loggers.set(logger, handle);
    if (this.#host === undefined) this.#waiting.push({ handle, own });
    else this.#register(handle, logger, own);
  }

  #register(handle: PinoHandle, logger: NativeLogger, own: boolean): void {
    const host = this.#host!;
    if (own) handle.note();
    if (!host.discovered(handle.name, handle, own ? currentLevel(handle.copy, logger) : undefined)) {
      this.#loggers.delete(logger);
      return;
    }
    const limit = handle.parent === undefined ? streamLimit(handle.copy, logger) : undefined;
    if (limit !== undefined) host.warn(handle.name, limit);
    const oldest = this.#loggers.manage(logger, handle);
    if (oldest === undefined) return;
    this.#gone(oldest);
    host.warn(handle.name, `more than ${this.#maxPerName} loggers have this name: the oldest keep the level they have`);
  }

  #gone(handle: PinoHandle): void {
    this.#pushed.delete(handle);
    this.#host?.gone(handle);
  }

  #followed(copy: PinoCopy, logger: NativeLogger | null | undefined): PinoHandle | undefined {
    return this.#loggers.nearest(logger, (at) => Object.hasOwn(at, copy.levelValue));
  }

  *#pushedLoggers(copy: PinoCopy): Iterable<NativeLogger> {
    for (const handle of this.#pushed) {
      const logger = handle.copy.prototype === copy.prototype ? handle.logger : undefined;
      if (logger !== undefined) yield logger;
    }
  }
}

class PinoHandle extends NativeHandle<NativeLogger> {
  readonly copy: PinoCopy;
  readonly #pushed: Set<PinoHandle>;
  /** The threshold that the application set on the logger itself; undefined if the logger follows. */
  #native: number | undefined;

  /** Adds itself to `pushed` when its logger is given a level of its own. */
  constructor(
    name: string,
    copy: PinoCopy,
    logger: NativeLogger,
    parent: PinoHandle | undefined,
    pushed: Set<PinoHandle>,
  ) {
    super(name, logger, parent);
    this.copy = copy;
    this.#pushed = pushed;
  }

  get level(): Level {
    const { copy, logger } = this;
    return logger === undefined ? "OFF" : currentLevel(copy, logger);
  }

  /** Notes the native threshold, which the application has set, as the one to restore. */
  note(): void {
    const { copy, logger } = this;
    if (logger === undefined) return;
    this.#native = logger[copy.levelValue] as number;
    this.#pushed.add(this);
  }

  apply(level: Level): void {
    const { logger } = this;
    if (logger !== undefined) this.#push(logger, labelForLevel(logger, level));
  }

  restore(): void {
    const { copy, logger } = this;
    if (logger === undefined) return;
    const value = this.#native ?? (Object.getPrototypeOf(logger) as NativeLogger)[copy.levelValue];
    this.#push(logger, logger.levels.labels[value as number]!);
  }

  #push(logger: NativeLogger, label: string): void {
    this.#pushed.add(this);
    pinoInstrumentation(this.copy).pushLevel(logger, label);
  }
}

/** The level in effect on a logger, its own or its parent's. */
function currentLevel({ levelValue }: PinoCopy, logger: NativeLogger): Level {
  return levelFromValue(logger[levelValue] as number);
}

/** A root inherits from an object that inherits from the prototype. A child inherits from a logger, which has a level. */
function isRoot(copy: PinoCopy, logger: NativeLogger): boolean {
  const above = Object.getPrototypeOf(logger) as NativeLogger;
  return above[copy.levelValue] === undefined;
}

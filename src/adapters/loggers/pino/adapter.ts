import type { CallGate, CallTally, LoggerAdapter, LoggerHost } from "../../../loggers/adapter.ts";
import { callCounter } from "../../../loggers/call-counter.ts";
import type { Level } from "../../../loggers/level.ts";
import { ROOT } from "../../../loggers/name.ts";
import { currentLevel, PinoHandle } from "./handle.ts";
import { letCallsThrough, listenToCalls, observePino } from "./instrumentation.ts";
import { type NativeLogger, type PinoCopy, type PinoLogger, pinoCopy } from "./native.ts";
import { streamLimit } from "./stream-limits.ts";

/** How pino's loggers are named and bounded. */
export interface PinoLoggersOptions {
  /**
   * The name that a child's bindings give it; undefined for a child without one, which is left alone and follows its parent.
   * Default: the first text among `logger`, `module`, `component` and `name`.
   */
  readonly nameOf?: ((bindings: Readonly<Record<string, unknown>>) => string | undefined) | undefined;
  /** How many loggers of one name are held; the oldest are let go first. Default 256. */
  readonly maxPerName?: number | undefined;
}

const NAME_KEYS = ["logger", "module", "component", "name"] as const;

function nameFromBindings(bindings: Readonly<Record<string, unknown>>): string | undefined {
  for (const key of NAME_KEYS) {
    const name = bindings[key];
    if (typeof name === "string" && name !== "") return name;
  }
  return undefined;
}

/**
 * Manages the loggers of pino 8, 9 and 10. The first logger given is ROOT; further ones go by their names, or are ROOT too.
 *
 * Children made from this call on, by whatever code, are found by the name in their bindings; call it where the root logger
 * is made. Children without a name, such as those of one request, are never held: they follow their parent, in pino 8 and 9
 * too. A level that application code sets is adopted. Where a stream or transport filters again, the logger carries a warning.
 *
 * @throws ActuatorError INVALID_ARGUMENT for what is no pino logger.
 */
export function pinoLoggers(
  loggers: PinoLogger | readonly [PinoLogger, ...PinoLogger[]],
  options: PinoLoggersOptions = {},
): LoggerAdapter {
  return new PinoLoggers(Array.isArray(loggers) ? loggers : [loggers as PinoLogger], options);
}

interface Found {
  readonly handle: PinoHandle;
  readonly logger: WeakRef<NativeLogger>;
  readonly own: boolean;
}

class PinoLoggers implements LoggerAdapter {
  readonly kind = "pino";
  readonly #nameOf: (bindings: Readonly<Record<string, unknown>>) => string | undefined;
  readonly #maxPerName: number;
  readonly #copies: ReadonlyMap<NativeLogger, PinoCopy>;
  readonly #handles = new WeakMap<NativeLogger, PinoHandle>();
  /** Those whose loggers have methods of their own; all the others inherit theirs. */
  readonly #pushed = new Set<PinoHandle>();
  readonly #byName = new Map<string, PinoHandle[]>();
  readonly #collected = new FinalizationRegistry<PinoHandle>((handle) => this.#forget(handle));
  #host: LoggerHost | undefined;
  /** What was found before the adapter was attached. */
  #waiting: Found[] = [];
  #stops: readonly (() => void)[] = [];

  constructor(loggers: readonly PinoLogger[], options: PinoLoggersOptions) {
    this.#nameOf = options.nameOf ?? nameFromBindings;
    this.#maxPerName = options.maxPerName ?? 256;
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
    for (const { handle, logger, own } of waiting) {
      const native = logger.deref();
      if (native !== undefined) this.#register(handle, native, own);
    }
    return () => {
      for (const stop of this.#stops) stop();
      this.#stops = [];
      this.#host = undefined;
    };
  }

  measure(tallyOf: (name: string) => CallTally | undefined): () => void {
    const count = callCounter<PinoHandle>(tallyOf);
    const stops = [...this.#copies.values()].map((copy) => {
      const called = (logger: unknown, verbosity: number, enabled: boolean) =>
        count(this.#followed(copy, logger as NativeLogger), verbosity, enabled);
      return listenToCalls(copy, called, this.#touchable(copy));
    });
    return () => {
      for (const stop of stops) stop();
    };
  }

  gate(lets: CallGate): () => void {
    const stops = [...this.#copies.values()].map((copy) => {
      const nameOf = (logger: unknown) => this.#followed(copy, logger as NativeLogger)?.name;
      return letCallsThrough(copy, (logger, verbosity) => lets(verbosity, logger, nameOf), this.#touchable(copy));
    });
    return () => {
      for (const stop of stops) stop();
    };
  }

  #observe(): void {
    this.#stops = [...this.#copies.values()].map((copy) =>
      observePino(copy, {
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
    const handle = this.#handles.get(logger);
    if (handle !== undefined) {
      this.#adopt(handle, currentLevel(copy, logger));
    } else if (isRoot(copy, logger)) {
      const name = this.#nameOf(logger.bindings());
      if (name !== undefined) this.#found(copy, name, logger, undefined, true);
    }
  }

  #adopt(handle: PinoHandle, level: Level): void {
    if (!this.#host?.pushing) {
      this.#host?.changedOutside(handle, level);
      return;
    }
    // A listener of "level-change" has set it, in the middle of a push that may still reach this logger as well.
    queueMicrotask(() => {
      const { copy, logger } = handle;
      if (logger !== undefined && currentLevel(copy, logger) === level) this.#host?.changedOutside(handle, level);
    });
  }

  #found(copy: PinoCopy, name: string, logger: NativeLogger, parent: PinoHandle | undefined, own: boolean): void {
    const handle = new PinoHandle(name, copy, logger, parent, this.#pushed);
    this.#handles.set(logger, handle);
    if (this.#host === undefined) this.#waiting.push({ handle, logger: new WeakRef(logger), own });
    else this.#register(handle, logger, own);
  }

  #register(handle: PinoHandle, logger: NativeLogger, own: boolean): void {
    const host = this.#host!;
    if (!host.discovered(handle.name, handle, own ? currentLevel(handle.copy, logger) : undefined)) {
      this.#handles.delete(logger);
      return;
    }
    this.#collected.register(logger, handle);
    const limit = handle.parent === undefined ? streamLimit(handle.copy, logger) : undefined;
    if (limit !== undefined) host.warn(handle.name, limit);
    const same = this.#byName.get(handle.name);
    if (same === undefined) this.#byName.set(handle.name, [handle]);
    else if (same.push(handle) > this.#maxPerName) {
      this.#letGo(same.shift()!);
      host.warn(
        handle.name,
        `more than ${this.#maxPerName} loggers have this name: the oldest keep the level they have`,
      );
    }
  }

  #letGo(handle: PinoHandle): void {
    this.#pushed.delete(handle);
    this.#host?.gone(handle);
  }

  #forget(handle: PinoHandle): void {
    this.#letGo(handle);
    const rest = this.#byName.get(handle.name)?.filter((other) => other !== handle) ?? [];
    if (rest.length === 0) this.#byName.delete(handle.name);
    else this.#byName.set(handle.name, rest);
  }

  /** The nearest logger held, from this one upwards, whose level reaches this one, and a child of it, natively. */
  #followed(copy: PinoCopy, logger: NativeLogger | null | undefined): PinoHandle | undefined {
    for (let at = logger; at != null; at = Object.getPrototypeOf(at) as NativeLogger | null) {
      const handle = this.#handles.get(at);
      if (handle !== undefined) return handle;
      if (Object.hasOwn(at, copy.levelValue)) return undefined;
    }
    return undefined;
  }

  *#touchable(copy: PinoCopy): Iterable<NativeLogger> {
    for (const handle of this.#pushed) {
      const logger = handle.copy.prototype === copy.prototype ? handle.logger : undefined;
      if (logger !== undefined) yield logger;
    }
  }
}

/** A root inherits from an object that inherits from the prototype; a child inherits from a logger, which has a level. */
function isRoot(copy: PinoCopy, logger: NativeLogger): boolean {
  const above = Object.getPrototypeOf(logger) as NativeLogger;
  return above[copy.levelValue] === undefined;
}

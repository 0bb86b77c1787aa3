import { callable, checkOptions, count, text } from "../../../common/options.ts";
import type { CallTally, LoggerAdapter, LoggerHost } from "../../../loggers/adapter.ts";
import type { Level } from "../../../loggers/level.ts";
import { ROOT } from "../../../loggers/name.ts";
import { callCounter } from "../../kit/loggers/call-counter.ts";
import { NamedLoggers, NativeHandle, nameUnder } from "../../kit/loggers/named-loggers.ts";
import { WeakList } from "../../kit/loggers/weak-list.ts";
import type { CallListener } from "./call-counting.ts";
import { containerInstrumentation, loggerInstrumentation, type WinstonObserver } from "./instrumentation.ts";
import { gateOf, type LevelGateObserver } from "./level-gate.ts";
import {
  loggerPrototype,
  type NativeLogger,
  owner,
  type WinstonContainer,
  type WinstonLogger,
  type WinstonModule,
  winstonSources,
} from "./native.ts";
import { groupOf, observeGate, releaseGate, type TransportGroup } from "./transport-group.ts";

export type { WinstonContainer, WinstonLogger, WinstonModule } from "./native.ts";

/** How the loggers of winston are named, and how many of them are managed. */
export interface WinstonLoggersOptions {
  /** The name of the first logger, and of others without one of their own. Default: ROOT. */
  readonly name?: string | undefined;
  /**
   * Returns the name for a child from its metadata, or for a logger from its `defaultMeta`. If it returns undefined the logger
   * is left alone; a child then follows its parent. Default: the first non-empty string among `logger`, `module`, `component`,
   * `name`, `label` and `service`.
   */
  readonly nameOf?: ((metadata: Readonly<Record<string, unknown>>) => string | undefined) | undefined;
  /** How many loggers of one name are managed; the newest ones are. Default 256. */
  readonly maxPerName?: number | undefined;
}

/** What `winstonLoggers` takes: a logger, a container of loggers, or the module with its default logger and container. */
export type WinstonLoggersSource = WinstonLogger | WinstonContainer | WinstonModule;

/**
 * Manages the loggers of winston 3. The first logger given is ROOT; further ones go by the name in their `defaultMeta`, or are
 * ROOT too. The loggers of a container, such as `winston.loggers`, go by their ids. The module stands for its default logger
 * and `winston.loggers`.
 *
 * The adapter finds the named loggers and children that any code makes after this call; so call it right after making the first
 * logger. Children without a name follow their parent. A level that the application sets is adopted.
 *
 * A disabled call returns at once; winston itself would build and format the record first. Children can have levels of their
 * own, which winston does not offer, and OFF is off. A transport with a level of its own keeps it: less severe records are not
 * written to it whatever the logger's level, and the logger shows a warning.
 *
 * @example
 * ```ts
 * import { createActuator } from "connect-actuator";
 * import { winstonLoggers } from "connect-actuator/winston";
 * import winston from "winston";
 *
 * const log = winston.createLogger({ transports: [new winston.transports.Console()] });
 * const actuator = createActuator({ loggers: { adapters: [winstonLoggers(log)] } });
 * const orders = log.child({ module: "shop.orders" });
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if a value is not a logger, a container or the module of winston 3.
 */
export function winstonLoggers(
  sources: WinstonLoggersSource | readonly [WinstonLoggersSource, ...WinstonLoggersSource[]],
  options: WinstonLoggersOptions = {},
): LoggerAdapter {
  checkOptions<WinstonLoggersOptions>("winstonLoggers", options, { name: text, nameOf: callable, maxPerName: count });
  const list = Array.isArray(sources) && sources.length > 0 ? sources : [sources as WinstonLoggersSource];
  return new WinstonLoggers(list, options);
}

class WinstonLoggers implements LoggerAdapter, WinstonObserver, LevelGateObserver {
  readonly kind = "winston";
  readonly #nameOf: (metadata: Readonly<Record<string, unknown>>) => string | undefined;
  readonly #prototypes = new Set<NativeLogger>();
  readonly #containers = new Set<WinstonContainer>();
  readonly #loggers: NamedLoggers<NativeLogger, WinstonHandle>;
  #host: LoggerHost | undefined;
  /** What was found before the adapter was attached. */
  #waiting: WinstonHandle[] = [];
  #stops: readonly (() => void)[] = [];
  /** The measurement that runs, if any. */
  #measuring: Measuring | undefined;

  constructor(given: readonly WinstonLoggersSource[], options: WinstonLoggersOptions) {
    this.#nameOf = options.nameOf ?? nameUnder(["logger", "module", "component", "name", "label", "service"]);
    this.#loggers = new NamedLoggers(options.maxPerName ?? 256, (handle) => this.#host?.gone(handle));
    const rootName = options.name ?? ROOT;
    let root: NativeLogger | undefined;
    for (const source of given.flatMap(winstonSources)) {
      if (source.type === "container") this.#containers.add(source.container);
      else {
        const { logger } = source;
        this.#prototypes.add(loggerPrototype(logger)!);
        const name = root === undefined ? rootName : (this.#nameOf(metadataOf(logger)) ?? rootName);
        this.#found(name, logger, root === undefined || logger.level !== root.level);
        root ??= logger;
      }
    }
    for (const container of this.#containers) {
      for (const [id, logger] of container.loggers as ReadonlyMap<string, NativeLogger>) {
        this.#prototypes.add(loggerPrototype(logger)!);
        this.#found(id, logger, logger.level !== root?.level);
      }
    }
    this.#observe();
  }

  attach(host: LoggerHost): () => void {
    this.#host = host;
    if (this.#stops.length === 0) this.#observe();
    const waiting = this.#waiting;
    this.#waiting = [];
    // All gates are made before the first logger is registered, so that a transport which two of them share counts as ours.
    for (const { logger } of waiting) if (logger !== undefined) observeGate(logger, this);
    for (const handle of waiting) this.#register(handle);
    return () => {
      for (const stop of this.#stops) stop();
      this.#stops = [];
      this.#waiting = this.#loggers.managed();
      this.#loggers.clear();
      for (const { logger } of this.#waiting) if (logger !== undefined) releaseGate(logger, this);
      this.#host = undefined;
    };
  }

  refresh(): void {
    for (const { logger } of this.#loggers.managed()) {
      if (logger !== undefined && owner(logger) === logger) groupOf(logger)?.transportsChanged();
    }
  }

  measure(tallyOf: (name: string) => CallTally | undefined): () => void {
    const count = callCounter<WinstonHandle>(tallyOf);
    const measuring = new Measuring((logger, verbosity, enabled) =>
      count(this.#loggers.nearest(logger as NativeLogger | undefined), verbosity, enabled),
    );
    this.#measuring = measuring;
    for (const { logger } of this.#loggers.managed()) measuring.add(logger);
    return () => {
      this.#measuring = undefined;
      measuring.end();
    };
  }

  loggerMade(logger: NativeLogger, id: string | undefined, own: boolean): void {
    const name = id ?? this.#nameOf(metadataOf(logger));
    if (name === undefined) return;
    this.#found(name, logger, own);
    queueMicrotask(() => gateOf(logger)?.coverLevelMethods());
  }

  childMade(child: NativeLogger, parent: NativeLogger, metadata: object): void {
    const name = this.#nameOf(metadata as Record<string, unknown>);
    if (name !== undefined) this.#found(name, child, false, this.#loggers.nearest(parent));
  }

  levelSet(logger: NativeLogger, level: Level): void {
    const handle = this.#loggers.get(logger);
    if (handle !== undefined && this.#host?.pushing === false) this.#host.changedOutside(handle, level);
  }

  reachChanged(logger: NativeLogger): void {
    const handle = this.#loggers.get(logger);
    const host = this.#host;
    if (handle === undefined || host === undefined || !this.#loggers.isManaged(handle)) return;
    host.reachChanged();
    this.#warn(handle, logger);
  }

  #observe(): void {
    this.#stops = [
      ...[...this.#prototypes].map((prototype) => loggerInstrumentation(prototype).observe(this)),
      ...[...this.#containers].map((container) => containerInstrumentation(container).observe(this)),
    ];
  }

  #found(name: string, logger: NativeLogger, own: boolean, parent?: WinstonHandle): void {
    if (this.#loggers.get(logger) !== undefined) return;
    const handle = new WinstonHandle(name, logger, own, parent);
    this.#loggers.set(logger, handle);
    if (this.#host === undefined) this.#waiting.push(handle);
    else this.#register(handle);
  }

  #register(handle: WinstonHandle): void {
    const host = this.#host!;
    const { logger } = handle;
    if (logger === undefined) return;
    const gate = observeGate(logger, this);
    const own = gate.isOwner ? handle.own : gate.isOwn || Object.hasOwn(logger, "level");
    if (!host.discovered(handle.name, handle, own ? gate.group.levels.level(gate.value) : undefined)) {
      this.#letGo(logger);
      return;
    }
    this.#measuring?.add(logger);
    this.#warn(handle, logger);
    const oldest = this.#loggers.manage(logger, handle);
    if (oldest === undefined) return;
    host.gone(oldest);
    if (oldest.logger !== undefined) this.#letGo(oldest.logger);
  }

  #warn(handle: WinstonHandle, logger: NativeLogger): void {
    if (owner(logger) !== logger) return;
    for (const limit of groupOf(logger)?.limits() ?? []) this.#host!.warn(handle.name, limit);
  }

  #letGo(logger: NativeLogger): void {
    this.#loggers.delete(logger);
    releaseGate(logger, this);
  }
}

class WinstonHandle extends NativeHandle<NativeLogger> {
  /** Whether the logger had been given a level before it was found. */
  readonly own: boolean;

  constructor(name: string, logger: NativeLogger, own: boolean, parent: WinstonHandle | undefined) {
    super(name, logger, parent);
    this.own = own;
  }

  get level(): Level {
    return (this.logger && gateOf(this.logger)?.effective) ?? "OFF";
  }

  apply(level: Level): void {
    if (this.logger !== undefined) gateOf(this.logger)?.apply(level);
  }

  restore(): void {
    if (this.logger !== undefined) gateOf(this.logger)?.restore();
  }
}

/** The transport groups whose calls one measurement counts. */
class Measuring {
  readonly #listener: CallListener;
  readonly #groups = new WeakList<TransportGroup>();

  constructor(listener: CallListener) {
    this.#listener = listener;
  }

  /** Counts the calls of a logger's group, those of its later children included. */
  add(logger: NativeLogger | undefined): void {
    const group = logger && groupOf(logger);
    if (group === undefined || this.#groups.has(group)) return;
    this.#groups.add(group);
    group.setListeners([...group.listeners, this.#listener]);
  }

  /** Stops counting. Groups that no other measurement counts get their original methods back. */
  end(): void {
    for (const group of this.#groups) {
      group.setListeners(group.listeners.filter((listener) => listener !== this.#listener));
    }
    this.#groups.clear();
  }
}

function metadataOf({ defaultMeta }: NativeLogger): Readonly<Record<string, unknown>> {
  return typeof defaultMeta === "object" && defaultMeta !== null ? (defaultMeta as Record<string, unknown>) : {};
}

import type { CallTally, LoggerAdapter, LoggerHost } from "../../../loggers/adapter.ts";
import type { Level } from "../../../loggers/level.ts";
import { ROOT } from "../../../loggers/name.ts";
import { WinstonHandle } from "./handle.ts";
import { observeContainers, observeLoggers, type WinstonObserver } from "./instrumentation.ts";
import { gateOf, type LevelGateObserver } from "./level-gate.ts";
import { CallListening } from "./listening.ts";
import { metadataOf, nameFromMetadata } from "./naming.ts";
import {
  loggerPrototype,
  type NativeLogger,
  owner,
  type WinstonContainer,
  type WinstonLogger,
  type WinstonModule,
  winstonSources,
} from "./native.ts";
import { groupOf, observe, release } from "./transport-group.ts";

/** How winston's loggers are named and bounded. */
export interface WinstonLoggersOptions {
  /** The name of the first logger, and of others without one of their own. Default: ROOT. */
  readonly name?: string | undefined;
  /**
   * The name that a child's metadata give it, or a logger's `defaultMeta`; undefined for one without a name, which is left
   * alone: a child then follows its parent. Default: the first text among `logger`, `module`, `component`, `name`, `label`
   * and `service`.
   */
  readonly nameOf?: ((metadata: Readonly<Record<string, unknown>>) => string | undefined) | undefined;
  /** How many loggers of one name are held; the oldest are let go first. Default 256. */
  readonly maxPerName?: number | undefined;
}

/** What `winstonLoggers` takes: a logger, a container of loggers, or the module with its default logger and container. */
export type WinstonLoggersSource = WinstonLogger | WinstonContainer | WinstonModule;

/**
 * Manages the loggers of winston 3. The first logger given is ROOT; further ones go by the name in their `defaultMeta`, or
 * are ROOT too. Given a container, such as `winston.loggers`, its loggers go by their ids; given the module, the default
 * logger and `winston.loggers` are both taken.
 *
 * Loggers and children made from this call on, by whatever code, are found by their names; call it where the first logger is
 * made. Nameless ones are never held: children follow their parent. A level that application code sets is adopted.
 *
 * A disabled call returns at once, where winston itself would build and format the record first. Children have levels of
 * their own, which winston does not know, and OFF is off. A transport with a level of its own keeps it: less severe records
 * are not written to it whatever the logger's level, and the logger carries a warning.
 *
 * @throws ActuatorError INVALID_ARGUMENT for what is no logger, container or module of winston 3.
 */
export function winstonLoggers(
  sources: WinstonLoggersSource | readonly [WinstonLoggersSource, ...WinstonLoggersSource[]],
  options: WinstonLoggersOptions = {},
): LoggerAdapter {
  return new WinstonLoggers(Array.isArray(sources) ? sources : [sources as WinstonLoggersSource], options);
}

class WinstonLoggers implements LoggerAdapter, WinstonObserver, LevelGateObserver {
  readonly kind = "winston";
  readonly #nameOf: (metadata: Readonly<Record<string, unknown>>) => string | undefined;
  readonly #maxPerName: number;
  readonly #prototypes = new Set<NativeLogger>();
  readonly #containers = new Set<WinstonContainer>();
  readonly #handles = new WeakMap<NativeLogger, WinstonHandle>();
  readonly #byName = new Map<string, WinstonHandle[]>();
  readonly #collected = new FinalizationRegistry<WinstonHandle>((handle) => this.#forget(handle));
  #host: LoggerHost | undefined;
  /** What was found before the adapter was attached. */
  #waiting: WinstonHandle[] = [];
  #stops: readonly (() => void)[] = [];
  /** There while somebody measures. */
  #listening: CallListening | undefined;

  constructor(given: readonly WinstonLoggersSource[], options: WinstonLoggersOptions) {
    this.#nameOf = options.nameOf ?? nameFromMetadata;
    this.#maxPerName = options.maxPerName ?? 256;
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
    // All are held before the first is registered: a transport that two of them share is then nobody else's.
    for (const { logger } of waiting) {
      const native = logger.deref();
      if (native !== undefined) observe(native, this);
    }
    for (const handle of waiting) this.#register(handle);
    return () => {
      for (const stop of this.#stops) stop();
      this.#stops = [];
      this.#waiting = this.#held();
      this.#byName.clear();
      for (const handle of this.#waiting) this.#release(handle);
      this.#host = undefined;
    };
  }

  refresh(): void {
    for (const handle of this.#held()) {
      const logger = handle.logger.deref();
      if (logger !== undefined && owner(logger) === logger) groupOf(logger)?.transportsChanged();
    }
  }

  measure(tallyOf: (name: string) => CallTally | undefined): () => void {
    const listening = new CallListening((logger) => this.#followed(logger), tallyOf);
    this.#listening = listening;
    for (const handle of this.#held()) this.#listen(handle);
    return () => {
      this.#listening = undefined;
      listening.end();
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
    if (name !== undefined) this.#found(name, child, false, this.#followed(parent));
  }

  levelSet(logger: NativeLogger, level: Level): void {
    const handle = this.#handles.get(logger);
    if (handle !== undefined && this.#host?.pushing === false) this.#host.changedOutside(handle, level);
  }

  reachChanged(logger: NativeLogger): void {
    const handle = this.#handles.get(logger);
    const host = this.#host;
    if (handle === undefined || host === undefined || !this.#byName.get(handle.name)?.includes(handle)) return;
    host.gone(handle);
    host.discovered(handle.name, handle);
    this.#warn(handle, logger);
  }

  #observe(): void {
    this.#stops = [
      ...[...this.#prototypes].map((prototype) => observeLoggers(prototype, this)),
      ...[...this.#containers].map((container) => observeContainers(container)),
    ];
  }

  #found(name: string, logger: NativeLogger, own: boolean, parent?: WinstonHandle): void {
    if (this.#handles.has(logger)) return;
    const handle = new WinstonHandle(name, logger, own, parent);
    this.#handles.set(logger, handle);
    if (this.#host === undefined) this.#waiting.push(handle);
    else this.#register(handle);
  }

  #register(handle: WinstonHandle): void {
    const host = this.#host!;
    const logger = handle.logger.deref();
    if (logger === undefined) return;
    const gate = observe(logger, this);
    const isChild = !gate.isOwner;
    const own = isChild ? gate.isOwn || Object.hasOwn(logger, "level") : handle.own;
    if (!host.discovered(handle.name, handle, own ? gate.group.levels.level(gate.value) : undefined)) {
      this.#letGo(handle);
      return;
    }
    this.#collected.register(logger, handle);
    this.#listen(handle);
    this.#warn(handle, logger);
    const same = this.#byName.get(handle.name);
    if (same === undefined) this.#byName.set(handle.name, [handle]);
    else if (same.push(handle) > this.#maxPerName) {
      const oldest = same.shift()!;
      host.gone(oldest);
      this.#letGo(oldest);
    }
  }

  #listen(handle: WinstonHandle): void {
    const logger = handle.logger.deref();
    const group = logger && groupOf(logger);
    if (group !== undefined) this.#listening?.add(group);
  }

  #held(): WinstonHandle[] {
    return [...this.#byName.values()].flat();
  }

  #warn(handle: WinstonHandle, logger: NativeLogger): void {
    if (owner(logger) !== logger) return;
    for (const limit of groupOf(logger)?.limits() ?? []) this.#host!.warn(handle.name, limit);
  }

  #letGo(handle: WinstonHandle): void {
    const logger = handle.logger.deref();
    if (logger !== undefined) this.#handles.delete(logger);
    this.#release(handle);
  }

  #release(handle: WinstonHandle): void {
    const logger = handle.logger.deref();
    if (logger !== undefined) release(logger, this);
  }

  #forget(handle: WinstonHandle): void {
    this.#host?.gone(handle);
    const rest = this.#byName.get(handle.name)?.filter((other) => other !== handle) ?? [];
    if (rest.length === 0) this.#byName.delete(handle.name);
    else this.#byName.set(handle.name, rest);
  }

  /** The nearest logger held, from this one upwards, whose level reaches a child of this one. */
  #followed(logger: NativeLogger | undefined): WinstonHandle | undefined {
    for (
      let at: NativeLogger | null = logger ?? null;
      at !== null;
      at = Object.getPrototypeOf(at) as NativeLogger | null
    ) {
      const handle = this.#handles.get(at);
      if (handle !== undefined) return handle;
    }
    return undefined;
  }
}

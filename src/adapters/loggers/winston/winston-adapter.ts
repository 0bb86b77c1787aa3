import type { CallTally, LoggerAdapter, LoggerHost, RecordSink } from "../../../loggers/adapter.ts";
import type { Level } from "../../../loggers/level.ts";
import { ROOT } from "../../../loggers/name.ts";
import { objectsBelow } from "../../kit/heap/heap-search.ts";
import { callCounter } from "../../kit/loggers/call-counter.ts";
import type { Instrumentation } from "../../kit/loggers/instrumentation.ts";
import { NativeHandle } from "../../kit/loggers/native-handle.ts";
import { type RecordSinks, recordSinks } from "../../kit/loggers/record-sinks.ts";
import { WeakList } from "../../kit/loggers/weak-list.ts";
import { existingLoggers } from "./existing.ts";
import { containerInstrumentation, loggerInstrumentation, type WinstonObserver } from "./instrumentation.ts";
import {
  type CallListener,
  type Gate,
  type GroupObserver,
  groupFor,
  type LoggerGroup,
  placeGate,
} from "./logger-group.ts";
import {
  loggerPrototype,
  type NativeLogger,
  type WinstonContainer,
  type WinstonLogger,
  type WinstonModule,
  winstonSources,
} from "./native.ts";

const NAME_KEYS = ["logger", "module", "component", "name", "label", "service"] as const;

type Source = WinstonLogger | WinstonContainer | WinstonModule;

interface Given {
  readonly name?: string | undefined;
  readonly nameOf?: ((metadata: Readonly<Record<string, unknown>>) => string | undefined) | undefined;
  readonly findExisting?: boolean | undefined;
}

/** The loggers of any number of copies of winston. */
export class WinstonAdapter implements LoggerAdapter, WinstonObserver, GroupObserver {
  readonly kind = "winston";
  readonly hides = true;
  readonly nameOf: (metadata: Readonly<Record<string, unknown>>) => string | undefined;
  readonly #prototypes = new Set<NativeLogger>();
  readonly #containerClasses = new Set<Instrumentation<WinstonObserver>>();
  /** The level of the first logger, when it was given. */
  #rootLevel: string | undefined;
  readonly #groups = new WeakList<LoggerGroup>();
  readonly #handles = new WeakMap<Gate, WinstonHandle>();
  /** The handles that were reported to the host. */
  readonly #managed = new Set<WinstonHandle>();
  readonly #collected = new FinalizationRegistry<WinstonHandle>((handle) => this.#gone(handle));
  /** The warnings that are shown on loggers with transports. */
  readonly #limits = new Map<WinstonHandle, readonly string[]>();
  #host: LoggerHost | undefined;
  /** What was found before the adapter was attached. */
  #waiting: WinstonHandle[] = [];
  #stops: readonly (() => void)[] = [];
  /** What the measurement and the tail that run, if any, begin with a new group. */
  readonly #begins = new Set<(group: LoggerGroup) => void>();

  constructor(given: readonly Source[], { name: rootName = ROOT, nameOf = nameUnderKey, findExisting }: Given) {
    this.nameOf = nameOf;
    const sources = given.flatMap(winstonSources);
    const root = sources.find((source) => source.type === "logger")?.logger;
    this.#rootLevel = root?.level;
    for (const source of sources) {
      if (source.type === "container") continue;
      const { logger } = source;
      const name = logger === root ? rootName : (this.nameOf(metadataOf(logger)) ?? rootName);
      this.#given(name, logger, logger === root || logger.level !== this.#rootLevel);
    }
    for (const source of sources) if (source.type === "container") this.#givenContainer(source.container);
    if (findExisting) for (const prototype of this.#prototypes) this.#addExisting(prototype, objectsBelow(prototype));
    this.#observe();
  }

  /**
   * Manages one more logger, or the logger that a child descends from, or a container, if it is not managed yet.
   *
   * @param unnamed returns the name of a logger without one in its `defaultMeta`; undefined for ROOT
   * @param isEachFound whether all other loggers that exist are added as well, so that a child is managed, too
   */
  add(
    source: WinstonLogger | WinstonContainer,
    unnamed: () => string | undefined,
    { isEachFound = false }: { readonly isEachFound?: boolean } = {},
  ): void {
    for (const each of winstonSources(source)) {
      if (each.type === "container") this.#givenContainer(each.container);
      else {
        const { logger } = groupFor(each.logger);
        if (isEachFound && logger !== each.logger)
          this.#addExisting(loggerPrototype(logger)!, lineOf(each.logger, logger));
        if (this.#handles.has(groupFor(logger).gate)) continue;
        const isFirst = this.#rootLevel === undefined;
        const own = isFirst ? undefined : this.nameOf(metadataOf(logger));
        this.#given(own ?? unnamed() ?? ROOT, logger, logger.level !== this.#rootLevel);
        if (isFirst) this.#rootLevel = logger.level;
      }
    }
    this.#observe();
  }

  attach(host: LoggerHost): () => void {
    this.#host = host;
    if (this.#stops.length === 0) this.#observe();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const handle of waiting) {
      const gate = handle.logger;
      if (gate === undefined) continue;
      this.#join(gate.group);
      this.#register(gate, handle);
    }
    return () => {
      for (const stop of this.#stops) stop();
      this.#stops = [];
      this.#waiting = [...this.#managed];
      this.#managed.clear();
      for (const group of this.#groups) group.leave(this);
      this.#groups.clear();
      for (const [{ name }, limits] of this.#limits) for (const limit of limits) host.retract(name, limit);
      this.#limits.clear();
      this.#host = undefined;
    };
  }

  refresh(): void {
    for (const group of this.#groups) group.look();
  }

  measure(tallyOf: (name: string) => CallTally | undefined): () => void {
    const count = callCounter<WinstonHandle>(tallyOf);
    const listener: CallListener = (gate, ...call) => count(this.#nearest(gate), ...call);
    return this.#withEachGroup(
      (group) => group.listen(listener),
      (group) => group.ignore(listener),
    );
  }

  tail(sinkOf: (name: string) => RecordSink | undefined, hides = false): () => void {
    const { find, findHidden, give } = recordSinks<WinstonHandle>(sinkOf);
    const sinks: RecordSinks<Gate> = {
      find: (gate, verbosity) => find(this.#nearest(gate), verbosity),
      findHidden: (gate, verbosity) => (hides ? findHidden(this.#nearest(gate), verbosity) : undefined),
      give,
    };
    return this.#withEachGroup(
      (group) => group.tail(sinks),
      (group) => group.untail(sinks),
    );
  }

  loggerMade(logger: NativeLogger, id: string | undefined, own: boolean): void {
    const name = id ?? this.nameOf(metadataOf(logger));
    if (name === undefined) return;
    this.#given(name, logger, own);
    if (this.#stops.length < this.#prototypes.size + this.#containerClasses.size) this.#observe();
  }

  childMade(gate: Gate, name: string): void {
    if (this.#handles.get(gate) !== undefined) return;
    this.#join(gate.group);
    this.#found(gate, new WinstonHandle(name, gate, false, this.#nearest(gate.above)));
  }

  levelSet(gate: Gate, level: Level | undefined): void {
    const handle = this.#handles.get(gate);
    if (handle === undefined) return;
    if (this.#host === undefined) handle.own = true;
    else if (!this.#host.pushing) this.#host.changedOutside(handle, level);
  }

  reachChanged({ gate }: LoggerGroup): void {
    this.#host?.reachChanged();
    const handle = this.#handles.get(gate);
    if (handle !== undefined && this.#managed.has(handle)) this.#warn(handle, gate.group.limits());
  }

  #givenContainer(container: WinstonContainer): void {
    this.#containerClasses.add(containerInstrumentation(container));
    for (const [id, logger] of container.loggers as ReadonlyMap<string, NativeLogger>) {
      this.#given(id, logger, logger.level !== this.#rootLevel);
    }
  }

  #given(name: string, logger: NativeLogger, own: boolean): void {
    this.#prototypes.add(loggerPrototype(logger)!);
    this.#foundLogger(name, logger, own);
    queueMicrotask(() => groupFor(logger).coverLevelMethods());
  }

  #observe(): void {
    this.#stops = [
      ...[...this.#prototypes].map((prototype) => loggerInstrumentation(prototype).observe(this)),
      ...[...this.#containerClasses].map((instrumentation) => instrumentation.observe(this)),
    ];
  }

  /** Manages the named loggers and children of a copy of winston among these objects. */
  #addExisting(prototype: NativeLogger, objects: readonly object[]): void {
    const { loggers, children } = existingLoggers(prototype, objects);
    for (const logger of loggers) {
      const name = this.nameOf(metadataOf(logger));
      if (name !== undefined) this.#foundLogger(name, logger, logger.level !== this.#rootLevel);
    }
    for (const { child, metadata } of children) {
      const name = this.nameOf(metadata);
      if (name !== undefined) this.childMade(placeGate(child, name), name);
    }
  }

  #foundLogger(name: string, logger: NativeLogger, own: boolean): void {
    const group = groupFor(logger);
    if (group.logger !== logger) {
      // A child that was given instead of the logger itself.
      const gate = group.gate.named(name);
      gate.place(logger);
      this.childMade(gate, name);
    } else if (this.#handles.get(group.gate) === undefined) {
      this.#join(group);
      this.#found(group.gate, new WinstonHandle(name, group.gate, own));
    }
  }

  #found(gate: Gate, handle: WinstonHandle): void {
    this.#handles.set(gate, handle);
    if (this.#host === undefined) this.#waiting.push(handle);
    else this.#register(gate, handle);
  }

  #register(gate: Gate, handle: WinstonHandle): void {
    if (!this.#host!.discovered(handle.name, handle, handle.own ? gate.group.nativeLevel : undefined)) {
      this.#handles.delete(gate);
      return;
    }
    this.#managed.add(handle);
    this.#collected.register(gate, handle);
    if (gate === gate.group.gate) this.#warn(handle, gate.group.limits());
  }

  #gone(handle: WinstonHandle): void {
    if (!this.#managed.delete(handle)) return;
    this.#warn(handle, []);
    this.#host!.gone(handle);
  }

  #join(group: LoggerGroup): void {
    if (this.#groups.has(group)) return;
    this.#groups.add(group);
    group.join(this);
    for (const begin of this.#begins) begin(group);
  }

  /** Calls `begin` with every group, including later ones, until the returned function is called; this calls `end` with them. */
  #withEachGroup(begin: (group: LoggerGroup) => void, end: (group: LoggerGroup) => void): () => void {
    const begun = new WeakList<LoggerGroup>();
    const beginWith = (group: LoggerGroup) => {
      begun.add(group);
      begin(group);
    };
    this.#begins.add(beginWith);
    for (const group of this.#groups) beginWith(group);
    return () => {
      this.#begins.delete(beginWith);
      for (const group of begun) end(group);
    };
  }

  /** The handle that a call of a gate counts for. */
  #nearest(gate: Gate | undefined): WinstonHandle | undefined {
    for (let at = gate; at !== undefined; at = at.above) {
      const handle = this.#handles.get(at);
      if (handle !== undefined) return handle;
    }
    return undefined;
  }

  /** Shows these warnings for a logger, and no others. */
  #warn(handle: WinstonHandle, limits: readonly string[]): void {
    const gone = this.#limits.get(handle)?.filter((limit) => !limits.includes(limit)) ?? [];
    if (limits.length === 0) this.#limits.delete(handle);
    else this.#limits.set(handle, limits);
    for (const limit of limits) this.#host?.warn(handle.name, limit);
    if (gone.length === 0) return;
    // Another logger of the name may have the same.
    const still = [...this.#limits].flatMap(([{ name }, each]) => (name === handle.name ? each : []));
    for (const limit of gone) if (!still.includes(limit)) this.#host?.retract(handle.name, limit);
  }
}

class WinstonHandle extends NativeHandle<Gate> {
  /** Whether the application gave the logger a level. */
  own: boolean;

  constructor(name: string, gate: Gate, own: boolean, parent?: WinstonHandle) {
    super(name, gate, parent);
    this.own = own;
  }

  get level(): Level {
    const gate = this.logger;
    return gate === undefined ? "OFF" : gate.group.levels.level(gate.group.reach(gate.deciding));
  }

  apply(level: Level): void {
    this.logger?.group.apply(this.logger, level, this);
  }

  restore(): void {
    this.logger?.group.restore(this.logger, this);
  }
}

/** A child, the loggers that it descends from, and the one that has the transports. */
function lineOf(child: NativeLogger, owner: NativeLogger): readonly NativeLogger[] {
  const line = [child];
  while (line.at(-1) !== owner) line.push(Object.getPrototypeOf(line.at(-1)) as NativeLogger);
  return line;
}

function metadataOf({ defaultMeta }: NativeLogger): Readonly<Record<string, unknown>> {
  return typeof defaultMeta === "object" && defaultMeta !== null ? (defaultMeta as Record<string, unknown>) : {};
}

/** The first non-empty string under one of the keys that applications use for the names of loggers. */
function nameUnderKey(metadata: Readonly<Record<string, unknown>>): string | undefined {
  for (const key of NAME_KEYS) {
    const name = metadata[key];
    if (typeof name === "string" && name !== "") return name;
  }
  return undefined;
}

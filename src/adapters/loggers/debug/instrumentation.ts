import { placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { Instrumentation, oncePer } from "../../kit/loggers/instrumentation.ts";
import { WeakList } from "../../kit/loggers/weak-list.ts";
import type { DebugCopy, DebugLogger } from "./native.ts";

/** What an adapter learns from watching a copy of debug. */
export interface DebugObserver {
  /** A namespace is used. Returns whether the adapter manages it; otherwise its patterns decide. */
  found(namespace: Namespace): boolean;
  /** The application or another adapter switched a namespace on or off. */
  switched(namespace: Namespace): void;
}

/** The instrumentation of a copy of debug, which all adapters share. */
export const debugInstrumentation = oncePer((copy: DebugCopy) => new DebugInstrumentation(copy));

/**
 * Decides for a copy of debug which namespaces are on, where an adapter has switched one. Otherwise its patterns decide, as ever.
 *
 * A logger of debug asks its copy by name whether it is on, and keeps the answer until `debug.namespaces` has another value.
 * Answering for the copy, and changing that value with each change, therefore reaches every logger, also those made before,
 * which debug does not list. A call costs nothing more: the logger compares the same two values as ever.
 */
class DebugInstrumentation extends Instrumentation<DebugObserver> {
  readonly #copy: DebugCopy;
  /** debug's own answer, from its patterns. */
  readonly #matches: (name: string) => boolean;
  readonly #namespaces = new Map<string, Namespace>();
  /** The list of patterns that the application's last `enable` made. */
  #names: readonly unknown[] = [];
  /** What the application's last `enable` was called with. */
  #pattern: unknown;
  /** The answer to every question while {@link #override} asks. */
  #probe: boolean | undefined;

  constructor(copy: DebugCopy) {
    super();
    this.#copy = copy;
    const { enabled } = copy;
    this.#matches = (name) => enabled.call(copy, name);
  }

  /** Adds an observer and tells it of all namespaces so far. Returns a function that removes it. */
  start(observer: DebugObserver): () => void {
    const stop = this.observe(observer);
    for (const namespace of this.#namespaces.values()) observer.found(namespace);
    return stop;
  }

  protected install(): () => void {
    const copy = this.#copy;
    const restore = undoing([
      placeMethod(copy, "init", (original) => (logger) => {
        original.call(copy, logger);
        this.#made(logger as DebugLogger);
      }),
      placeMethod(copy, "enabled", () => (name) => this.#enabled(name as string)),
      placeMethod(copy, "enable", (original) => (namespaces) => {
        original.call(copy, namespaces);
        this.#adopt();
      }),
    ]);
    this.#noteEnable();
    for (const namespace of this.#namespaces.values()) namespace.said = this.#said(namespace.name);
    return () => {
      for (const namespace of this.#namespaces.values()) namespace.leave();
      restore();
      if ("namespaces" in copy) copy.namespaces = this.#pattern;
    };
  }

  /** Switches a namespace, from its next call on, or gives it back to the application (undefined). */
  turn(namespace: Namespace, on: boolean | undefined): void {
    const was = namespace.on;
    namespace.turn(on);
    this.#askAgain();
    if (was !== namespace.on) this.#tell(namespace);
  }

  /** Looks for changes that the application made without calling `enable`. */
  refresh(): void {
    if (this.#copy.names !== this.#names) this.#adopt();
    for (const namespace of this.#namespaces.values()) {
      if (!namespace.wasSet()) continue;
      this.#askAgain();
      this.#tell(namespace);
    }
  }

  #tell(namespace: Namespace): void {
    for (const observer of this.observers) observer.switched(namespace);
  }

  #enabled(name: string): boolean {
    if (this.#probe !== undefined) return this.#probe;
    // Code may have kept a reference to the original `enable`.
    if (this.#copy.names !== this.#names) this.#adopt();
    return this.#find(name)?.turned ?? this.#matches(name);
  }

  #made(logger: DebugLogger): void {
    this.#find(logger.namespace)?.add(logger);
  }

  #find(name: string): Namespace | undefined {
    // If the application wrapped a replaced method, it is still called after the last observer has gone.
    if (!this.isWatched) return undefined;
    const known = this.#namespaces.get(name);
    if (known !== undefined) return known;
    const namespace = new Namespace(
      name,
      () => this.#matches(name),
      (logger) => this.#override(logger),
    );
    namespace.said = this.#said(name);
    this.#namespaces.set(name, namespace);
    let taken = false;
    for (const observer of this.observers) if (observer.found(namespace)) taken = true;
    if (taken) return namespace;
    this.#namespaces.delete(name);
    return undefined;
  }

  /** What the application set a logger to by itself. debug does not tell, but such a logger has the same answer to either one. */
  #override(logger: DebugLogger): boolean | undefined {
    const [one, other] = [true, false].map((answer) => {
      this.#probe = answer;
      this.#askAgain();
      return logger.enabled;
    });
    this.#probe = undefined;
    this.#askAgain();
    return one === other ? one : undefined;
  }

  /**
   * What the patterns say about a name: true if one matches it; false if one excludes it, or if one matches only an ancestor,
   * from which it would inherit otherwise; undefined if none applies.
   */
  #said(name: string): boolean | undefined {
    const { names, skips } = this.#copy;
    if (this.#matches(name)) return true;
    for (const { index } of name.matchAll(/[:/.]/g)) if (this.#matches(name.slice(0, index))) return false;
    if (skips.length === 0) return undefined;
    // Only debug itself can match its patterns.
    Object.assign(this.#copy, { names: skips, skips: [] });
    const excluded = this.#matches(name);
    Object.assign(this.#copy, { names, skips });
    return excluded ? false : undefined;
  }

  /** Adopts the application's patterns: after `debug.enable()` exactly the namespaces are on that match them. */
  #adopt(): void {
    if (!this.isWatched) return;
    this.#noteEnable();
    for (const namespace of this.#namespaces.values()) {
      const matches = this.#matches(namespace.name);
      const said = this.#said(namespace.name);
      const { turned, said: before } = namespace;
      if (turned === matches) continue;
      if (turned === undefined && said === before) continue;
      // One that this has switched off is not to be on again because of a name above.
      namespace.said = said ?? (turned === true || before === true ? false : undefined);
      namespace.turn(undefined);
      this.#askAgain();
      this.#tell(namespace);
    }
  }

  #noteEnable(): void {
    this.#names = this.#copy.names;
    this.#pattern = this.#copy.namespaces;
    this.#askAgain();
  }

  #askAgain(): void {
    // Before 4.3.2 loggers do not keep the answer.
    if (!("namespaces" in this.#copy)) return;
    // An object differs from every value that a logger has seen, and still reads as the same string.
    this.#copy.namespaces = new String(this.#pattern ?? "");
  }
}

/** One namespace of debug: whether it is on, and its loggers, which are held weakly. */
export class Namespace {
  readonly name: string;
  /** What the application said about the name, by its patterns or otherwise; undefined for nothing. */
  said: boolean | undefined;
  readonly #matches: () => boolean;
  readonly #override: (logger: DebugLogger) => boolean | undefined;
  readonly #loggers = new WeakList<DebugLogger>();
  /** What the application had set single loggers to before the namespace was switched. */
  #set = new WeakMap<DebugLogger, boolean>();
  #turned: boolean | undefined;

  /**
   * `matches` returns whether the patterns include the name, and `override` what the application set a logger to by itself,
   * if it did.
   */
  constructor(name: string, matches: () => boolean, override: (logger: DebugLogger) => boolean | undefined) {
    this.name = name;
    this.#matches = matches;
    this.#override = override;
  }

  /** What an adapter has switched it to; undefined while it is the application's. */
  get turned(): boolean | undefined {
    return this.#turned;
  }

  /** Whether any of its loggers writes. */
  get on(): boolean {
    if (this.#turned !== undefined) return this.#turned;
    const loggers = [...this.#loggers];
    return loggers.length > 0 ? loggers.some(({ enabled }) => enabled) : this.#matches();
  }

  /** Whether the patterns or the application decide about the name, rather than that it is off by default. */
  get configured(): boolean {
    return this.said !== undefined || this.#turned !== undefined || this.on || this.#single() !== undefined;
  }

  add(logger: DebugLogger): void {
    this.#loggers.add(logger);
  }

  /** Switches all loggers of the name, or makes them what they were (undefined). */
  turn(on: boolean | undefined): void {
    if (this.#turned === undefined && on !== undefined) {
      for (const logger of this.#loggers) {
        const enabled = this.#override(logger);
        if (enabled === undefined) continue;
        this.#set.set(logger, enabled);
        logger.enabled = null;
      }
    } else if (on === undefined) {
      for (const logger of this.#loggers) {
        const enabled = this.#set.get(logger);
        if (enabled !== undefined) logger.enabled = enabled;
      }
      this.#set = new WeakMap();
    }
    this.#turned = on;
  }

  /** Whether the application has set a single logger by itself since the namespace was switched. It is then no longer switched. */
  wasSet(): boolean {
    const single = this.#turned === undefined ? undefined : this.#single();
    if (single === undefined) return false;
    const { enabled } = single;
    this.turn(undefined);
    single.enabled = enabled;
    this.said = enabled;
    return true;
  }

  /** Gives the loggers back to the patterns; if these differ from what was switched, each logger keeps that. */
  leave(): void {
    const turned = this.#turned;
    this.turn(undefined);
    if (turned === undefined || turned === this.#matches()) return;
    for (const logger of this.#loggers) logger.enabled = turned;
  }

  /** A logger that the application has set by itself to something else. */
  #single(): DebugLogger | undefined {
    const on = this.#turned ?? this.#matches();
    return [...this.#loggers].find(({ enabled }) => enabled !== on);
  }
}

import { placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { Instrumentation, oncePer } from "../../kit/loggers/instrumentation.ts";
import type { DebugCopy, DebugLogger } from "./native.ts";

/** What an adapter learns from watching a copy of debug. */
export interface DebugObserver {
  /** A namespace is used. Returns whether the adapter manages it; otherwise its patterns decide. */
  found(namespace: Namespace): boolean;
  /** The application or an adapter switched a namespace on or off. */
  switched(namespace: Namespace): void;
}

/** The instrumentation of a copy of debug, which all adapters share. */
export const debugInstrumentation = oncePer((copy: DebugCopy) => new DebugInstrumentation(copy));

/**
 * Decides for a copy of debug which namespaces are on, in place of its patterns.
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
    for (const namespace of this.#namespaces.values()) namespace.begin(this.#said(namespace.name));
    return () => {
      for (const namespace of this.#namespaces.values()) namespace.end(this.#matches(namespace.name));
      restore();
      if ("namespaces" in copy) copy.namespaces = this.#pattern;
    };
  }

  /** Switches a namespace, from its next call on. */
  turn(namespace: Namespace, on: boolean): void {
    const was = namespace.on;
    namespace.turn(on);
    if (was === on) return;
    this.#askAgain();
    for (const observer of this.observers) observer.switched(namespace);
  }

  /** Looks for changes that the application made without calling `enable`. */
  refresh(): void {
    if (this.#copy.names !== this.#names) this.#adopt();
    for (const namespace of this.#namespaces.values()) {
      const on = namespace.override();
      if (on !== undefined) this.turn(namespace, on);
    }
  }

  #enabled(name: string): boolean {
    // Code may have kept a reference to the original `enable`.
    if (this.#copy.names !== this.#names) this.#adopt();
    return this.#find(name)?.on ?? this.#matches(name);
  }

  #made(logger: DebugLogger): void {
    this.#find(logger.namespace)?.add(logger);
  }

  #find(name: string): Namespace | undefined {
    // If the application wrapped a replaced method, it is still called after the last observer has gone.
    if (!this.isWatched) return undefined;
    const known = this.#namespaces.get(name);
    if (known !== undefined) return known;
    const namespace = new Namespace(name);
    namespace.begin(this.#said(name));
    this.#namespaces.set(name, namespace);
    let taken = false;
    for (const observer of this.observers) if (observer.found(namespace)) taken = true;
    if (taken) return namespace;
    this.#namespaces.delete(name);
    return undefined;
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
    let changed = true;
    // Others inherit what is adopted for one namespace; each of them is corrected at most once.
    while (changed) {
      changed = false;
      for (const namespace of this.#namespaces.values()) {
        const on = this.#matches(namespace.name);
        if (on !== namespace.on) changed = true;
        this.turn(namespace, on);
      }
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

/** How many loggers of one name are held; the oldest make room for new ones. */
const MAX_LOGGERS = 256;

/** One namespace of debug: whether it is on, and its loggers, which are held weakly. */
export class Namespace {
  readonly name: string;
  /** The application's setting when the namespace was found: on, off, or undefined for none. */
  #said: boolean | undefined;
  #on = false;
  #made = 0;
  readonly #loggers: WeakRef<DebugLogger>[] = [];

  constructor(name: string) {
    this.name = name;
  }

  get on(): boolean {
    return this.#on;
  }

  /** Whether it was ever switched, rather than being off by default. */
  get configured(): boolean {
    return this.#said !== undefined || this.#on;
  }

  add(logger: DebugLogger): void {
    this.#loggers[this.#made++ % MAX_LOGGERS] = new WeakRef(logger);
  }

  /** Takes over from the patterns and from what single loggers were set to. */
  begin(said: boolean | undefined): void {
    this.#on = said ?? false;
    this.#said = this.override() ?? said;
    this.turn(this.#said ?? false);
  }

  /** Switches the namespace, and with it the loggers that the application had set by themselves. */
  turn(on: boolean): void {
    this.#on = on;
    for (const logger of this.#live()) logger.enabled = null;
  }

  /** What the application set a logger to, if that differs from the namespace. */
  override(): boolean | undefined {
    return this.#live().find(({ enabled }) => enabled !== this.#on)?.enabled;
  }

  /** Gives the loggers back to the patterns; if these differ, each logger keeps what it has. */
  end(patterns: boolean): void {
    if (patterns === this.#on) return;
    for (const logger of this.#live()) logger.enabled = this.#on;
  }

  #live(): DebugLogger[] {
    return this.#loggers.flatMap((held) => held.deref() ?? []);
  }
}

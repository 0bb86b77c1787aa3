import { Namespace } from "./namespace.ts";
import type { DebugCopy, DebugLogger } from "./native.ts";

/** What is told to each adapter that watches a copy of debug. */
export interface DebugObserver {
  /** A namespace is used. Returns whether it was taken; one that nobody takes is left to its patterns. */
  found(namespace: Namespace): boolean;
  /** A namespace was switched on or off, by the application or by another adapter. */
  switched(namespace: Namespace): void;
}

const instrumentations = new WeakMap<DebugCopy, Instrumentation>();

/** What decides for a copy of debug; one for all adapters that watch the copy. */
export function debugInstrumentation(copy: DebugCopy): Instrumentation {
  let instrumentation = instrumentations.get(copy);
  if (instrumentation === undefined) instrumentations.set(copy, (instrumentation = new Instrumentation(copy)));
  return instrumentation;
}

/**
 * Decides for a copy of debug which namespaces are on, in place of its patterns.
 *
 * A logger of debug asks its copy by name whether it is on, and keeps the answer until `debug.namespaces` is another value.
 * Answering for the copy, and giving it another value with each change, therefore reaches every logger, also those that were
 * made before and that nothing lists. Nothing is added to a call: the logger compares the same two values as ever.
 */
class Instrumentation {
  readonly #copy: DebugCopy;
  readonly #original: Pick<DebugCopy, "init" | "enabled" | "enable">;
  readonly #replacement: Pick<DebugCopy, "init" | "enabled" | "enable">;
  readonly #observers = new Set<DebugObserver>();
  readonly #namespaces = new Map<string, Namespace>();
  /** The list of patterns that the application's last `enable` made. */
  #names: readonly unknown[] = [];
  /** What the application's last `enable` was called with. */
  #pattern: unknown;

  constructor(copy: DebugCopy) {
    this.#copy = copy;
    const { init, enabled, enable } = copy;
    this.#original = { init, enabled, enable };
    this.#replacement = {
      init: (logger) => {
        init.call(copy, logger);
        this.#made(logger);
      },
      enabled: (name) => this.#enabled(name),
      enable: (namespaces) => {
        enable.call(copy, namespaces);
        this.#adopt();
      },
    };
  }

  start(observer: DebugObserver): void {
    if (this.#observers.size === 0) {
      Object.assign(this.#copy, this.#replacement);
      this.#noteEnable();
      for (const namespace of this.#namespaces.values()) namespace.begin(this.#said(namespace.name));
    }
    this.#observers.add(observer);
    for (const namespace of this.#namespaces.values()) observer.found(namespace);
  }

  stop(observer: DebugObserver): void {
    if (!this.#observers.delete(observer) || this.#observers.size > 0) return;
    for (const namespace of this.#namespaces.values()) namespace.end(this.#original.enabled(namespace.name));
    for (const key of ["init", "enabled", "enable"] as const) {
      if (this.#copy[key] === this.#replacement[key]) Object.assign(this.#copy, { [key]: this.#original[key] });
    }
    if ("namespaces" in this.#copy) this.#copy.namespaces = this.#pattern;
  }

  /** Switches a namespace, from its next call on. */
  turn(namespace: Namespace, on: boolean): void {
    const was = namespace.on;
    namespace.turn(on);
    if (was === on) return;
    this.#askAgain();
    for (const observer of this.#observers) observer.switched(namespace);
  }

  /** Looks for what application code did without telling. */
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
    return this.#find(name)?.on ?? this.#original.enabled(name);
  }

  #made(logger: DebugLogger): void {
    this.#find(logger.namespace)?.add(logger);
  }

  #find(name: string): Namespace | undefined {
    // Whoever wrapped what stands here keeps calling it after the end.
    if (this.#observers.size === 0) return undefined;
    const known = this.#namespaces.get(name);
    if (known !== undefined) return known;
    const namespace = new Namespace(name);
    namespace.begin(this.#said(name));
    this.#namespaces.set(name, namespace);
    let taken = false;
    for (const observer of this.#observers) if (observer.found(namespace)) taken = true;
    if (taken) return namespace;
    this.#namespaces.delete(name);
    return undefined;
  }

  /**
   * What the patterns say of a name: true where one names it, false where one excludes it or names an ancestor alone, which
   * would else be inherited from; undefined where they say nothing.
   */
  #said(name: string): boolean | undefined {
    const { names, skips } = this.#copy;
    if (this.#original.enabled(name)) return true;
    for (const { index } of name.matchAll(/[:/.]/g)) if (this.#original.enabled(name.slice(0, index))) return false;
    if (skips.length === 0) return undefined;
    // Which names a pattern matches debug alone can tell.
    Object.assign(this.#copy, { names: skips, skips: [] });
    const excluded = this.#original.enabled(name);
    Object.assign(this.#copy, { names, skips });
    return excluded ? false : undefined;
  }

  /** The application's last word counts: after `debug.enable()` those namespaces are on that it names, and no others. */
  #adopt(): void {
    if (this.#observers.size === 0) return;
    this.#noteEnable();
    let changed = true;
    // What is adopted for one namespace is inherited by others; each of them is put right at most once.
    while (changed) {
      changed = false;
      for (const namespace of this.#namespaces.values()) {
        const on = this.#original.enabled(namespace.name);
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
    // Before 4.3.2 loggers keep no answer.
    if (!("namespaces" in this.#copy)) return;
    // Equal to nothing that a logger has seen, and still the same text for code that reads it.
    this.#copy.namespaces = new String(this.#pattern ?? "");
  }
}

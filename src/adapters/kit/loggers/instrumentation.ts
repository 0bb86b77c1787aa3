/**
 * Replaces methods of one copy of a library while at least one observer watches it. All adapters and measurements that watch
 * the same copy share one instrumentation, so each method is replaced once; use {@link oncePer} to find it.
 */
export abstract class Instrumentation<Observer> {
  /**
   * All current observers, in the order in which they came. Each installation has a set of its own, so replacements should keep
   * the one that there is when they are made: one that the application wrapped stays in place, and must not tell later observers.
   */
  protected observers = new Set<Observer>();
  #uninstall: (() => void) | undefined;

  /** Whether at least one observer watches. A replacement that the application wrapped may be called after the last has gone. */
  get isWatched(): boolean {
    return this.observers.size > 0;
  }

  /** Adds an observer and returns a function that removes it. The methods are replaced only in between. */
  observe(observer: Observer): () => void {
    if (this.observers.size === 0) {
      this.observers = new Set();
      this.#uninstall = this.install();
    }
    const { observers } = this;
    observers.add(observer);
    return () => {
      if (!observers.delete(observer) || observers.size > 0) return;
      this.#uninstall?.();
      this.#uninstall = undefined;
    };
  }

  /** Replaces the methods and returns a function that puts the original ones back. */
  protected abstract install(): () => void;
}

/** Returns a function that makes one value for each key and afterwards returns the same one. Keys are held weakly. */
export function oncePer<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, Value>();
  return (key) => {
    let value = made.get(key);
    if (value === undefined) made.set(key, (value = make(key)));
    return value;
  };
}

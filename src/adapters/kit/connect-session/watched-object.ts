import { replaceMethod } from "../interception/replaced-method.ts";

/** Calls the method as it was called, but with these arguments. */
export type Call = (args: unknown[]) => unknown;
/** What is done in the place of a method. */
export type Watching = (call: Call, args: unknown[]) => unknown;

/** An object whose methods are replaced while anybody watches it. */
export class WatchedObject<Watcher> {
  readonly #object: object;
  readonly #methods: Readonly<Record<string, Watching>>;
  readonly #watchers = new Set<Watcher>();
  #restores: readonly (() => void)[] = [];

  constructor(object: object, methods: Readonly<Record<string, Watching>>) {
    this.#object = object;
    this.#methods = methods;
  }

  add(watcher: Watcher): void {
    if (this.#watchers.size === 0) {
      this.#restores = Object.entries(this.#methods).map(([name, watching]) => this.#replace(name, watching));
    }
    this.#watchers.add(watcher);
  }

  remove(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
    for (const restore of this.#restores) restore();
  }

  /** Tells every watcher. A watcher's trouble is its own. */
  tell(tell: (watcher: Watcher) => unknown): void {
    for (const watcher of this.#watchers) {
      try {
        const told = tell(watcher);
        if (told instanceof Promise) told.catch(() => {});
      } catch {
        // The application's request goes on.
      }
    }
  }

  #replace(name: string, watching: Watching): () => void {
    return replaceMethod(this.#object, name, (method) => {
      return function (this: unknown, ...args: unknown[]) {
        return watching((passed) => Reflect.apply(method, this, passed), args);
      };
    });
  }
}

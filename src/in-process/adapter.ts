import type { Detach, GraphAdapter, GraphHost } from "../integration-graph/adapter.ts";
import { checkedName } from "../integration-graph/declaration.ts";

/** Feeds the graph with what passes through objects of the application itself. */
export interface InProcessAdapter<T> extends GraphAdapter {
  /**
   * Watches another object, and gives it back. Under the same name it is one with those before: an instance for each
   * connection, the workers of a pool, the streams of each run. Throws a TypeError where it is unfit, or watched already.
   */
  watch<U extends T>(target: U): U;
}

/** Watches objects for one graph. */
export interface Watch<T> {
  add(target: T): void;
  /** Leaves all objects as they were. */
  end(): void;
}

/** What an operator calls an object of the application: the first part of the names of its nodes. */
export interface InProcessOptions {
  readonly name: string;
}

/** An adapter that watches `targets`, and more later. `checked` throws a TypeError where one is unfit. */
export function watchingAdapter<T>(
  targets: readonly T[],
  { name }: InProcessOptions,
  checked: (target: T) => void,
  begin: (host: GraphHost) => Watch<T>,
): InProcessAdapter<T> {
  checkedName(name);
  const waiting = new Set<T>();
  let attached: Watch<T> | undefined;

  function watch<U extends T>(target: U): U {
    checked(target);
    if (attached === undefined) waiting.add(target);
    else attached.add(target);
    return target;
  }

  for (const target of targets) watch(target);
  return {
    name: "in-process",
    watch,
    attach(host: GraphHost): Detach {
      if (attached !== undefined) throw new TypeError(`the adapter of "${name}" is attached already`);
      const watched = begin(host);
      try {
        for (const target of waiting) watched.add(target);
      } catch (error) {
        watched.end();
        throw error;
      }
      attached = watched;
      waiting.clear();
      return () => {
        if (attached === watched) attached = undefined;
        watched.end();
      };
    },
  };
}

/** The objects that are watched, each by one adapter: a message must not count twice. */
export class WatchedObjects {
  readonly #objects = new WeakSet<object>();
  readonly #what: string;

  constructor(what: string) {
    this.#what = what;
  }

  /** Throws a TypeError where it is watched already. */
  enter(object: object): void {
    if (this.#objects.has(object)) throw new TypeError(`this ${this.#what} is watched already`);
    this.#objects.add(object);
  }

  has(object: object): boolean {
    return this.#objects.has(object);
  }

  leave(object: object): void {
    this.#objects.delete(object);
  }
}

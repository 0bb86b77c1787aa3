import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { checkedName } from "../../../integration-graph/declaration.ts";
import {
  type Watch,
  type WatchingAdapter,
  watchAll,
  watchingAdapter,
} from "../../../integration-graph/watching-adapter.ts";

/** Feeds the graph with what passes through objects of the application itself. */
export interface InProcessAdapter<T> extends WatchingAdapter<T> {
  /**
   * Watches another object, and gives it back. Under the same name it is one with those before: an instance for each
   * connection, the workers of a pool, the streams of each run. Throws a TypeError where it is unfit, or watched already.
   */
  watch<U extends T>(target: U): U;
}

/** What an operator calls an object of the application: the first part of the names of its nodes. */
export interface InProcessOptions {
  readonly name: string;
}

/** An adapter that watches `targets`, and more later. `check` throws a TypeError where one is unfit. */
export function inProcessAdapter<T>(
  targets: readonly T[],
  { name }: InProcessOptions,
  check: (target: T) => void,
  begin: (host: GraphHost) => Watch<T>,
): InProcessAdapter<T> {
  return watchingAdapter<T>({
    name: "in-process",
    title: `the adapter of "${checkedName(name)}"`,
    targets,
    check,
    begin: (host, targets) => watchAll(begin(host), targets),
  });
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

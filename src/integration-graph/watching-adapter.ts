import type { Detach, GraphAdapter, GraphHost } from "./adapter.ts";

/** An adapter that watches objects of a library, and may be given more of them later. */
export interface WatchingAdapter<T> extends GraphAdapter {
  /** Watches another object, and gives it back. Throws a TypeError where it is unfit, or watched already. */
  watch<U extends T>(target: U): U;
}

/** Watches objects for one graph. */
export interface Watch<T> {
  /** Throws a TypeError where the object is watched already. */
  add(target: T): void;
  /** Leaves all objects as they were. */
  end(): void;
}

/** What an adapter watches, and how. */
export interface Watching<T> {
  /** What an operator calls the adapter. */
  readonly name: string;
  /** What its errors call it, such as "this adapter of amqplib". */
  readonly title: string;
  readonly targets: T | readonly T[];
  /** Throws a TypeError for what is none of the objects that the adapter watches. */
  readonly check: (target: T) => void;
  /** Watches these for a graph; all of them, or throws and has changed nothing. */
  readonly begin: (host: GraphHost, targets: readonly T[]) => Watch<T>;
}

/** An adapter that watches `targets`, and more later: those wait until it is attached, and are let go when it is detached. */
export function watchingAdapter<T>({ name, title, targets, check, begin }: Watching<T>): WatchingAdapter<T> {
  const waiting = new Set<T>();
  let attached: Watch<T> | undefined;

  function watch<U extends T>(target: U): U {
    check(target);
    if (attached === undefined) waiting.add(target);
    else attached.add(target);
    return target;
  }

  for (const target of Array.isArray(targets) ? (targets as readonly T[]) : [targets as T]) watch(target);
  return {
    name,
    watch,
    attach(host: GraphHost): Detach {
      if (attached !== undefined) throw new TypeError(`${title} is attached already`);
      const begun = begin(host, [...waiting]);
      attached = begun;
      waiting.clear();
      return () => {
        if (attached === begun) attached = undefined;
        begun.end();
      };
    },
  };
}

/** `watch` with all the targets; where it does not take one of them, it ends with none. */
export function watchAll<T, W extends Watch<T>>(watch: W, targets: Iterable<T>): W {
  try {
    for (const target of targets) watch.add(target);
  } catch (error) {
    watch.end();
    throw error;
  }
  return watch;
}

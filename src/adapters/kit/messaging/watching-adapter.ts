import { described } from "../../../common/described.ts";
import { ActuatorError } from "../../../common/error.ts";
import type { Detach, GraphAdapter, GraphHost } from "../../../integration-graph/adapter.ts";

/** Stops watching an object and leaves it as it was. */
export type Unwatch = () => void;

/** A graph adapter that watches objects of a library. It can be given more of them later. */
export interface WatchingAdapter<T> extends GraphAdapter {
  /**
   * Watches another object and returns it, so that it can wrap the call that makes the object.
   *
   * @throws ActuatorError INVALID_ARGUMENT if it is not an object of the library, FAILED_PRECONDITION if an adapter watches it
   *   already.
   */
  watch<U extends T>(target: U): U;
  /** Stops watching an object and leaves it as it was. What was declared through it leaves the graph at the next rebuild. */
  unwatch(target: T): void;
}

/** What {@link watchingAdapter} needs to know of a library. */
export interface WatchingOptions<T extends object> {
  /** The adapter's name as operators see it: the library's name, such as "amqplib". */
  readonly name: string;
  /** The function that applications call, for error messages: "amqplibSource". */
  readonly source: string;
  /** What the adapter watches, for error messages: "a channel or connection of amqplib". */
  readonly expected: string;
  /** Throws if the version of the library is not supported. Called before `accepts`. */
  readonly checkVersion?: ((target: unknown) => void) | undefined;
  /** May throw an error of its own that says more. */
  readonly accepts: (target: unknown) => boolean;
  /** One object, or several in an array. */
  readonly targets: T | readonly T[];
  /** One for each library, shared by all its adapters. */
  readonly watched: WatchedObjects;
  /** Called each time the adapter is attached to a graph. */
  readonly begin: (host: GraphHost, objects: WatchSet<T>) => Watcher<T>;
}

/** Watches objects of a library for one graph. */
export interface Watcher<T> {
  /** Watches one object. Returns the function that leaves it as it was. Throws only before it has changed anything. */
  watch(target: T): Unwatch;
  /** Called once, when all objects that were given before are watched. */
  started?(): void;
  /** Removes from the graph what is no longer used. Called at each rebuild. */
  prune?(): void;
  /** Called when the adapter is detached, after all objects were left as they were. */
  end?(): void;
}

/**
 * Makes a graph adapter that watches `targets`, and more objects later. Objects that are given while it is not attached wait
 * until it is.
 *
 * @example
 * ```ts
 * const watched = new WatchedObjects("queue of tinyqueue");
 *
 * export function tinyqueueSource(targets: Queue | readonly Queue[] = []): WatchingAdapter<Queue> {
 *   return watchingAdapter<Queue>({
 *     name: "tinyqueue",
 *     source: "tinyqueueSource",
 *     expected: "a queue of tinyqueue",
 *     accepts: (target) => target instanceof Queue,
 *     targets,
 *     watched,
 *     begin: (host) => ({ watch: (queue) => watchQueue(queue, host) }),
 *   });
 * }
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if one of `targets` is not an object of the library.
 */
export function watchingAdapter<T extends object>(options: WatchingOptions<T>): WatchingAdapter<T> {
  const { name, source, expected, checkVersion, accepts, targets, watched, begin } = options;
  const waiting = new Set<T>();
  let attached: WatchSet<T> | undefined;

  function watch<U extends T>(target: U): U {
    checkVersion?.(target);
    if (!accepts(target)) {
      throw new ActuatorError(
        "INVALID_ARGUMENT",
        "INVALID_TARGET",
        `${source}() expects ${expected}, got ${described(target)}`,
      );
    }
    if (attached === undefined) waiting.add(target);
    else attached.add(target);
    return target;
  }

  for (const target of Array.isArray(targets) ? (targets as readonly T[]) : [targets as T]) watch(target);
  return {
    name,
    watchesObjects: true,
    watch,
    unwatch(target) {
      waiting.delete(target);
      attached?.remove(target);
    },
    attach(host: GraphHost): Detach {
      if (attached !== undefined) {
        const message = `this ${source}() is attached already; call ${source}() again for another graph`;
        throw new ActuatorError("FAILED_PRECONDITION", "ALREADY_ATTACHED", message);
      }
      const set: WatchSet<T> = new WatchSet(watched, (target) => watcher.watch(target), host.yields);
      const watcher = begin(host, set);
      function end(): void {
        if (attached === set) attached = undefined;
        // Attached again, to this graph or another one, it watches the same objects.
        for (const target of set) waiting.add(target);
        set.end();
        watcher.end?.();
      }
      if (watcher.prune !== undefined) {
        host.read({
          name,
          read() {
            watcher.prune!();
            return { nodes: [], links: [] };
          },
        });
      }
      try {
        for (const target of waiting) if (!set.has(target)) set.add(target);
      } catch (error) {
        end();
        throw error;
      }
      attached = set;
      waiting.clear();
      watcher.started?.();
      return end;
    },
  };
}

/** The objects of a library that adapters watch in this process. Each is watched once, so that no message counts twice. */
export class WatchedObjects {
  /** Whether those that the application forgets are forgotten here too, although they were never closed. */
  readonly weak: boolean;
  /** Each with what leaves it as it was, if it is left to another adapter. */
  readonly #objects = new WeakMap<object, (() => void) | undefined>();
  readonly #what: string;
  readonly #parts: (object: object) => readonly object[];

  /**
   * @param what what the objects are, for error messages: "connection of amqplib"
   * @param options `parts` returns what must not be watched twice, if that is not the object itself: the object that a proxy
   *   stands for, the ends of a channel. `weak` is for libraries whose objects have no end.
   */
  constructor(
    what: string,
    options: { readonly parts?: (object: never) => readonly object[]; readonly weak?: boolean } = {},
  ) {
    this.#what = what;
    this.#parts = (options.parts as ((object: object) => readonly object[]) | undefined) ?? ((object) => [object]);
    this.weak = options.weak ?? false;
  }

  /**
   * @param leaveIt leaves the object as it was; given by adapters that give it up for another one
   * @throws ActuatorError FAILED_PRECONDITION if an adapter watches it already.
   */
  enter(object: object, leaveIt?: () => void): void {
    // An adapter that gives objects up takes none away.
    if (leaveIt === undefined) for (const part of this.#parts(object)) this.#objects.get(part)?.();
    if (this.has(object)) {
      const message = `this ${this.#what} is watched already; detach the adapter that watches it first`;
      throw new ActuatorError("FAILED_PRECONDITION", "ALREADY_WATCHED", message);
    }
    for (const part of this.#parts(object)) this.#objects.set(part, leaveIt);
  }

  has(object: object): boolean {
    return this.#parts(object).some((part) => this.#objects.has(part));
  }

  /** Whether an adapter watches it that does not give it up. */
  isKept(object: object): boolean {
    return this.#parts(object).some((part) => this.#objects.has(part) && this.#objects.get(part) === undefined);
  }

  leave(object: object): void {
    for (const part of this.#parts(object)) this.#objects.delete(part);
  }
}

/** The objects that one adapter watches for one graph, in the order in which it began to. */
export class WatchSet<T extends object> {
  readonly #watched: WatchedObjects;
  readonly #watch: (target: T) => Unwatch;
  readonly #unwatch = new WeakMap<T, Unwatch>();
  readonly #targets: Set<T> | WeakObjects<T>;
  readonly #yields: boolean;

  /**
   * @param watch watches one object for {@link add}, and returns the function that leaves it as it was
   * @param yields as {@link GraphHost.yields}
   */
  constructor(watched: WatchedObjects, watch: (target: T) => Unwatch, yields = false) {
    this.#yields = yields;
    this.#watched = watched;
    this.#watch = watch;
    this.#targets = watched.weak ? new WeakObjects() : new Set();
  }

  /** @throws ActuatorError FAILED_PRECONDITION if an adapter watches it already. */
  add(target: T): void {
    this.#enter(target);
    try {
      this.#unwatch.set(target, this.#watch(target));
      this.#targets.add(target);
    } catch (error) {
      this.#watched.leave(target);
      throw error;
    }
  }

  /** Keeps an object that is watched in another way than {@link add} would. */
  keep(target: T, unwatch: Unwatch): void {
    this.#enter(target);
    this.#unwatch.set(target, unwatch);
    this.#targets.add(target);
  }

  /** Watches an object that the library made, unless an adapter watches it already. */
  addNew(target: T): void {
    if (!this.isTaken(target)) this.add(target);
  }

  /** Whether this adapter may not watch it, because another one does, or it does already. */
  isTaken(target: object): boolean {
    return this.#yields ? this.#watched.has(target) : this.#watched.isKept(target);
  }

  /** Whether this adapter watches it. */
  has(target: T): boolean {
    return this.#unwatch.has(target);
  }

  #enter(target: T): void {
    this.#watched.enter(target, this.#yields ? () => this.remove(target) : undefined);
  }

  /** Leaves it as it was. May be called again. */
  remove(target: T): void {
    const unwatch = this.#unwatch.get(target);
    if (unwatch === undefined) return;
    this.#unwatch.delete(target);
    this.#targets.delete(target);
    this.#watched.leave(target);
    unwatch();
  }

  /** Leaves all of them as they were, the last first. */
  end(): void {
    for (const target of [...this.#targets].reverse()) this.remove(target);
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#targets[Symbol.iterator]();
  }
}

/** A set of objects that keeps none of them alive. */
class WeakObjects<T extends object> {
  readonly #refs = new Set<WeakRef<T>>();
  readonly #refOf = new WeakMap<T, WeakRef<T>>();
  readonly #collected = new FinalizationRegistry<WeakRef<T>>((ref) => this.#refs.delete(ref));

  add(object: T): void {
    const ref = new WeakRef(object);
    this.#refOf.set(object, ref);
    this.#refs.add(ref);
    this.#collected.register(object, ref, ref);
  }

  delete(object: T): void {
    const ref = this.#refOf.get(object);
    if (ref === undefined) return;
    this.#refOf.delete(object);
    this.#refs.delete(ref);
    this.#collected.unregister(ref);
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const ref of this.#refs) {
      const object = ref.deref();
      if (object !== undefined) yield object;
    }
  }
}

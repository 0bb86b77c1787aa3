import { settlesWithin } from "../../../common/timeout.ts";
import { isPlainPromise, settling } from "../interception/plain-promise.ts";
import { replaceMethod } from "../interception/replaced-method.ts";
import { RecentIds } from "./recent-ids.ts";

/** Calls the original method as it was called, but with these arguments. */
export type Call = (args: unknown[]) => unknown;
/** Runs instead of a method. */
export type Watching = (call: Call, args: unknown[]) => unknown;

/** A watch on a store. */
export interface StoreWatch {
  /**
   * Ends a session for an operator with `destroy`, so that no request under way saves it again: for 60 seconds, and for the
   * last 10,000 sessions, the store's saves of this id report success and do nothing. A save already on its way is awaited
   * for up to 5 seconds; then `destroy` is called a second time. If `destroy` fails, the session may be saved as before.
   * Resolves to what the first `destroy` resolves to.
   */
  end<T>(id: string, destroy: () => Promise<T>): Promise<T>;
  /** Stops watching. The store is as it was once its last watch is detached, in whatever order. */
  detach(): void;
}

/** Watches stores of one kind: each store's methods are replaced once, for any number of watchers. */
export class StoreWatches<Store extends object, Watcher> {
  readonly #byStore = new WeakMap<Store, WatchedStore<Watcher>>();
  readonly #methodsOf: (store: Store, watched: WatchedStore<Watcher>) => Readonly<Record<string, Watching>>;

  /** @param methodsOf what replaces the methods of a store */
  constructor(methodsOf: (store: Store, watched: WatchedStore<Watcher>) => Readonly<Record<string, Watching>>) {
    this.#methodsOf = methodsOf;
  }

  watch(store: Store, watcher: Watcher): StoreWatch {
    let watched = this.#byStore.get(store);
    if (watched === undefined) {
      watched = new WatchedStore<Watcher>(store, (made) => this.#methodsOf(store, made));
      this.#byStore.set(store, watched);
    }
    return watched.watch(watcher);
  }
}

/** How long a request may have been under way when its store was first watched. */
const MAX_REQUEST_MS = 60_000;

const usedUntil = new WeakMap<object, number>();

/** States that requests have used a store before it is watched: for a minute, nothing that they save is taken for new. */
export function usedBefore(store: object): void {
  usedUntil.set(store, Date.now() + MAX_REQUEST_MS);
}

/** Whether a session that the store did not return to its request is certainly new. */
export function knowsNew(store: object): boolean {
  return (usedUntil.get(store) ?? 0) <= Date.now();
}

const REFUSED_MS = 60_000;
const MAX_REFUSED = 10_000;
const MAX_WAIT_MS = 5_000;

/** One store and its watchers. Its methods are replaced while there is one. */
export class WatchedStore<Watcher> {
  readonly #store: object;
  readonly #methods: Readonly<Record<string, Watching>>;
  readonly #watchers = new Set<Watcher>();
  readonly #ended = new RecentIds(REFUSED_MS, MAX_REFUSED);
  readonly #saves = new PendingSaves();
  #restores: readonly (() => void)[] = [];

  constructor(store: object, methodsOf: (watched: WatchedStore<Watcher>) => Readonly<Record<string, Watching>>) {
    this.#store = store;
    this.#methods = methodsOf(this);
  }

  watch(watcher: Watcher): StoreWatch {
    if (this.#watchers.size === 0) {
      this.#restores = Object.entries(this.#methods).map(([name, watching]) => this.#replace(name, watching));
    }
    this.#watchers.add(watcher);
    return { end: (id, destroy) => this.#end(id, destroy), detach: () => this.#detach(watcher) };
  }

  /** Tells every watcher. What a watcher throws or rejects with never reaches the application. */
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

  /**
   * Performs a save, unless an operator has ended the session.
   *
   * @param before called before the store's method, in the same turn
   * @param after called when the store has answered, with whether it failed
   */
  save(call: Call, args: unknown[], id: string, before: () => void, after: (failed: boolean) => void): unknown {
    if (this.#ended.has(id)) {
      const callback = args.findLast((arg): arg is Callback => typeof arg === "function");
      if (callback !== undefined) setImmediate(callback, null);
      return Promise.resolve();
    }
    before();
    const settle = this.#saves.begin(id);
    return answering(call, args, (failed) => {
      settle();
      after(failed);
    });
  }

  async #end<T>(id: string, destroy: () => Promise<T>): Promise<T> {
    const save = this.#saves.pending(id);
    const before = this.#ended.has(id);
    this.#ended.add(id);
    try {
      const result = await destroy();
      if (save === undefined) return result;
      if (await settlesWithin(save, MAX_WAIT_MS)) await destroy();
      else save.then(destroy).catch(() => {});
      return result;
    } catch (error) {
      if (!before) this.#ended.delete(id);
      throw error;
    }
  }

  #detach(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
    for (const restore of this.#restores) restore();
  }

  #replace(name: string, watching: Watching): () => void {
    return replaceMethod(this.#store, name, (method) => {
      return function (this: unknown, ...args: unknown[]) {
        return watching((passed) => Reflect.apply(method, this, passed), args);
      };
    });
  }
}

type Callback = (this: unknown, ...args: unknown[]) => unknown;

/** Returns the arguments with a callback that first calls `listener`. */
export function withCallback(args: readonly unknown[], listener: (...args: unknown[]) => void): unknown[] {
  const at = args.findLastIndex((arg) => typeof arg === "function");
  if (at < 0) return [...args];
  const callback = args[at] as Callback;
  function listened(this: unknown, ...results: unknown[]): unknown {
    listener(...results);
    return Reflect.apply(callback, this, results);
  }
  return args.with(at, listened);
}

/** Calls the store and reports when it has answered, by its callback or else its promise, or has thrown. */
function answering(call: Call, args: unknown[], answered: (failed: boolean) => void): unknown {
  let result: unknown;
  try {
    result = call(withCallback(args, (error) => answered(Boolean(error))));
  } catch (error) {
    answered(true);
    throw error;
  }
  if (args.some((arg) => typeof arg === "function")) return result;
  if (isPlainPromise(result)) return settling(result, { returned: () => answered(false), threw: () => answered(true) });
  answered(false);
  return result;
}

/** Tracks the saves that a store has not answered yet, by session. */
class PendingSaves {
  readonly #byId = new Map<string, { count: number; readonly settled: PromiseWithResolvers<void> }>();

  /** Notes that a save begins. Returns what to call when the store has answered. */
  begin(id: string): () => void {
    const saves = this.#byId.get(id) ?? { count: 0, settled: Promise.withResolvers<void>() };
    this.#byId.set(id, saves);
    saves.count++;
    let answered = false;
    return () => {
      if (answered) return;
      answered = true;
      if (--saves.count > 0) return;
      this.#byId.delete(id);
      saves.settled.resolve();
    };
  }

  /** Resolves when no save of the session is pending any more; undefined if none is. */
  pending(id: string): Promise<void> | undefined {
    return this.#byId.get(id)?.settled.promise;
  }
}

import type { SessionRecord } from "./record.ts";
import type { ConnectStore } from "./store.ts";
import { WatchedStore } from "./watched-store.ts";

/**
 * What passes through a store's methods. Records are the live sessions of requests or what other code hands over: read
 * them at once and change nothing. What a method throws or rejects with never reaches the application.
 */
export interface StoreWatcher {
  /**
   * The application saves the session, which counts as a use of it; `made`: surely it did not exist before. Told before
   * the store's own `set` is called, in the same turn, so that commands of both travel together.
   */
  saved(id: string, record: SessionRecord, made: boolean): unknown;
  /** A request used the session without changing it. Told as `saved` is, before the store's `touch`. */
  used(id: string, record: SessionRecord): unknown;
  /** The application ended the session. Told after the store's `destroy` was called, in the same turn. */
  ended(id: string): unknown;
  /** All sessions were ended. Told after the store's `clear` was called, in the same turn. */
  cleared(): unknown;
  /** A request got the session out of the store: it is not new. */
  loaded?(id: string, record: SessionRecord): unknown;
}

/** A store that is being watched. */
export interface ConnectWatch {
  /**
   * Ends a session for an operator by `destroy`, so that no request that is under way saves it again: for 60 seconds the
   * store's `set` and `touch` say that they did for this id and do nothing. Resolves to what `destroy` resolves to, which
   * is called a second time where a save was on its way to the store.
   */
  end<T>(id: string, destroy: () => Promise<T>): Promise<T>;
  /** Tells the watcher nothing more. The object is as it was when its last watcher has gone, in whatever order they go. */
  detach(): void;
}

const watched = new WeakMap<object, WatchedStore>();

/**
 * Watches the `set`, `touch`, `destroy`, `clear`, `get` and `createSession` of the very object that the application hands
 * to express-session or @fastify/session. Arguments, results and `this` stay as they are, and nothing is saved that would
 * not have been saved. Any number of watchers can watch one store.
 */
export function watchStore(store: ConnectStore, watcher: StoreWatcher): ConnectWatch {
  const known = watched.get(store) ?? new WatchedStore(store);
  watched.set(store, known);
  known.add(watcher);
  return { end: (id, destroy) => known.end(id, destroy), detach: () => known.remove(watcher) };
}

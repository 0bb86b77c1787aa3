import type { ConnectStore } from "./store.ts";
import type { StoreWatcher } from "./store-watcher.ts";
import { WatchedStore } from "./watched-store.ts";

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

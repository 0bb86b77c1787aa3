import type { SessionRecord } from "../../../sessions/principal.ts";
import { parseRecord } from "../../kit/connect-session/record.ts";
import { knowsNew, StoreWatches, type WatchedStore, type Watching } from "../../kit/connect-session/watched-store.ts";

/** A store that an application passes to koa-session as its `store`. Its methods may return promises. */
export interface KoaStore {
  get(key: string, maxAge: number | "session" | undefined, options: { rolling: boolean; ctx?: unknown }): unknown;
  set(
    key: string,
    session: object,
    maxAge: number | "session" | undefined,
    options: { rolling: boolean; changed: boolean; ctx?: unknown },
  ): unknown;
  destroy(key: string, options: { ctx?: unknown }): unknown;
}

/** Observes what passes through a store of koa-session. Read the records at once and change nothing. */
export interface KoaStoreWatcher {
  /** The application saves the session; `made`: its request did not get it from the store. Called before the store's `set`. */
  saved(id: string, record: SessionRecord, made: boolean): unknown;
  /** The store has answered a save, successfully or not. */
  written(id: string, made: boolean): unknown;
  /** A request got the session from the store. */
  loaded(id: string, record: SessionRecord): unknown;
  /** The application ended the session. Called after the store's `destroy`, in the same turn. */
  ended(id: string): unknown;
}

/**
 * Watches the `get`, `set` and `destroy` of the objects that applications pass to koa-session. Arguments, results and `this`
 * stay as they are. Any number of watchers can watch one store.
 */
export const koaWatches = new StoreWatches<KoaStore, KoaStoreWatcher>(watchingMethods);

function watchingMethods(store: KoaStore, watched: WatchedStore<KoaStoreWatcher>): Readonly<Record<string, Watching>> {
  /** The session that a request has in the store, by the request's context. */
  const stored = new WeakMap<object, string>();

  return {
    get(call, args) {
      const id = args[0];
      const ctx = contextOf(args[2]);
      const found = call(args);
      if (typeof id !== "string" || ctx === undefined) return found;
      const note = (data: unknown): void => {
        const record = recordIn(data);
        if (record === undefined) return;
        stored.set(ctx, id);
        watched.tell((watcher) => watcher.loaded(id, record));
      };
      if (found instanceof Promise) found.then(note, () => {});
      else note(found);
      return found;
    },
    set(call, args) {
      const [id, data] = args;
      if (typeof id !== "string") return call(args);
      const record = recordIn(data);
      let made = false;
      const before = () => {
        if (record === undefined) return;
        const ctx = contextOf(args[3]);
        made = ctx !== undefined && stored.get(ctx) !== id && knowsNew(store);
        if (ctx !== undefined) stored.set(ctx, id);
        watched.tell((watcher) => watcher.saved(id, record, made));
      };
      return watched.save(call, args, id, before, () => {
        if (record !== undefined) watched.tell((watcher) => watcher.written(id, made));
      });
    },
    destroy(call, args) {
      const id = args[0];
      const result = call(args);
      if (typeof id === "string") watched.tell((watcher) => watcher.ended(id));
      return result;
    },
  };
}

function recordIn(data: unknown): SessionRecord | undefined {
  return typeof data === "object" ? parseRecord(data) : undefined;
}

function contextOf(options: unknown): object | undefined {
  const ctx = parseRecord(options)?.ctx;
  return typeof ctx === "object" && ctx !== null ? ctx : undefined;
}

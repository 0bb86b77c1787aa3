import type { SessionRecord } from "../../../sessions/principal.ts";
import { parseRecord } from "./record.ts";
import { SessionOrigins } from "./session-origins.ts";
import type { ConnectStore } from "./store.ts";
import {
  type Call,
  knowsNew,
  type StoreWatch,
  StoreWatches,
  type WatchedStore,
  type Watching,
  withCallback,
} from "./watched-store.ts";

/**
 * Observes what passes through a store's methods. Records are the live sessions of requests or come from other code: read
 * them at once and change nothing. What a method throws or rejects with never reaches the application.
 */
export interface StoreWatcher {
  /**
   * The application saves the session, which counts as a use. `made`: it certainly did not exist before; `stored`: the store
   * has certainly had it. Called before the store's own `set`, in the same turn, so that commands of both travel together.
   */
  saved?(id: string, record: SessionRecord, made: boolean, stored: boolean): unknown;
  /** The store has answered a save, successfully or not. */
  written?(id: string, made: boolean): unknown;
  /** A request used the session without changing it. Called before the store's `touch`, in the same turn. */
  used?(id: string, record: SessionRecord): unknown;
  /** The application ended the session. Called after the store's `destroy`, in the same turn. */
  ended?(id: string): unknown;
  /** All sessions were ended. Called after the store's `clear`, in the same turn. */
  cleared?(): unknown;
  /** A request got the session out of the store: it is not new. */
  loaded?(id: string, record: SessionRecord): unknown;
}

const watches = new StoreWatches<ConnectStore, StoreWatcher>(watchingMethods);

/**
 * Watches the `set`, `touch`, `destroy`, `clear`, `get` and `createSession` of the object that the application passes to
 * express-session or @fastify/session. Arguments, results and `this` stay as they are, and nothing is saved that would not
 * have been saved. Any number of watchers can watch one store.
 */
export function watchStore(store: ConnectStore, watcher: StoreWatcher): StoreWatch {
  return watches.watch(store, watcher);
}

function watchingMethods(store: ConnectStore, watched: WatchedStore<StoreWatcher>): Readonly<Record<string, Watching>> {
  // express-session puts a `generate` on its store. What is found on a prototype may only wait for that.
  const isExpress = () => Object.hasOwn(store, "generate");
  const origins = new SessionOrigins(isExpress);

  return {
    get(call, args) {
      const id = args[0];
      if (typeof id !== "string") return call(args);
      return call(
        withCallback(args, (error, found) => {
          const record = error ? undefined : parseRecord(found);
          if (record === undefined) return;
          origins.given(id, record);
          // express-session reports what it loaded through createSession.
          if (!isExpress()) watched.tell((watcher) => watcher.loaded?.(id, record));
        }),
      );
    },
    createSession(call, args) {
      const [request, data] = args;
      const session = call(args);
      const record = parseRecord(data);
      if (typeof session === "object" && session !== null) origins.inflated(session, record);
      const id = parseRecord(request)?.sessionID;
      if (typeof id === "string" && record !== undefined) watched.tell((watcher) => watcher.loaded?.(id, record));
      return session;
    },
    set(call, args) {
      const [id, record] = sessionIn(args);
      if (id === undefined) return call(args);
      let made = false;
      const before = () => {
        if (record === undefined) return;
        const origin = origins.saving(id, record);
        made = origin.made && knowsNew(store);
        watched.tell((watcher) => watcher.saved?.(id, record, made, origin.stored));
      };
      return watched.save(call, args, id, before, (failed) => {
        if (record === undefined) return;
        if (!failed) origins.taken(id, record);
        watched.tell((watcher) => watcher.written?.(id, made));
      });
    },
    touch(call, args) {
      const [id, record] = sessionIn(args);
      if (id === undefined) return call(args);
      const before = () => {
        if (record !== undefined) watched.tell((watcher) => watcher.used?.(id, record));
      };
      return watched.save(call, args, id, before, () => {});
    },
    destroy(call, args) {
      const ids = Array.isArray(args[0]) ? args[0] : [args[0]];
      return endingWith(call, args, () => {
        for (const id of ids) {
          if (typeof id !== "string") continue;
          origins.ended(id);
          watched.tell((watcher) => watcher.ended?.(id));
        }
      });
    },
    clear: (call, args) => endingWith(call, args, () => watched.tell((watcher) => watcher.cleared?.())),
  };
}

/** The id and the live session of a save. Text is not parsed: it is not the session of a request. */
function sessionIn([id, session]: unknown[]): readonly [id: string | undefined, record: SessionRecord | undefined] {
  return [typeof id === "string" ? id : undefined, typeof session === "object" ? parseRecord(session) : undefined];
}

/** Calls `tell` after the store was called, or before a callback that it calls synchronously, since that may save again. */
function endingWith(call: Call, args: unknown[], tell: () => void): unknown {
  let told = false;
  const tellOnce = (): void => {
    if (!told) tell();
    told = true;
  };
  const result = call(withCallback(args, tellOnce));
  tellOnce();
  return result;
}

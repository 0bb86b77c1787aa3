import type { SessionRecord } from "../../../sessions/principal.ts";
import { EndedSessions } from "../../kit/connect-session/ended-sessions.ts";
import { parseRecord } from "../../kit/connect-session/record.ts";
import { WatchedObject, type Watching } from "../../kit/connect-session/watched-object.ts";
import type { KoaStore } from "./koa-store.ts";

/** What passes through a store of koa-session. Read the records at once and change nothing. */
export interface KoaStoreWatcher {
  /** The application saves the session; `made`: its request did not get it out of the store. Told before the store's `set`. */
  saved(id: string, record: SessionRecord, made: boolean): unknown;
  /** The store has answered a save, well or ill. */
  written(id: string, made: boolean): unknown;
  /** A request got the session out of the store. */
  loaded(id: string, record: SessionRecord): unknown;
  /** The application ended the session. Told after the store's `destroy` was called, in the same turn. */
  ended(id: string): unknown;
}

/** A store of koa-session and all that watch it. */
class WatchedKoaStore {
  readonly #watched: WatchedObject<KoaStoreWatcher>;
  readonly #ended = new EndedSessions();
  /** The session that a request has in the store, by the request's context. */
  readonly #stored = new WeakMap<object, string>();

  constructor(store: KoaStore) {
    this.#watched = new WatchedObject(store, this.#methods);
  }

  watch(watcher: KoaStoreWatcher): KoaWatch {
    this.#watched.add(watcher);
    return {
      end: (id, destroy) => this.#ended.end(id, destroy),
      detach: () => this.#watched.remove(watcher),
    };
  }

  readonly #methods: Readonly<Record<string, Watching>> = {
    get: (call, args) => {
      const id = args[0];
      const ctx = contextOf(args[2]);
      const found = call(args);
      if (typeof id !== "string" || ctx === undefined) return found;
      const note = (data: unknown): void => {
        const record = typeof data === "object" ? parseRecord(data) : undefined;
        if (record === undefined) return;
        this.#stored.set(ctx, id);
        this.#watched.tell((watcher) => watcher.loaded(id, record));
      };
      if (isPromise(found)) found.then(note, () => {});
      else note(found);
      return found;
    },
    set: (call, args) => {
      const [id, data] = args;
      if (typeof id !== "string") return call(args);
      if (this.#ended.refuses(id)) return Promise.resolve();
      const record = typeof data === "object" ? parseRecord(data) : undefined;
      const made = record !== undefined && this.#tellSaved(id, record, contextOf(args[3]));
      const saved = call(args);
      const writing = this.#ended.writing(id);
      const answered = (): void => {
        writing();
        if (record !== undefined) this.#watched.tell((watcher) => watcher.written(id, made));
      };
      if (isPromise(saved)) saved.then(answered, answered);
      else answered();
      return saved;
    },
    destroy: (call, args) => {
      const id = args[0];
      const result = call(args);
      if (typeof id === "string") this.#watched.tell((watcher) => watcher.ended(id));
      return result;
    },
  };

  /** Returns whether it is made. */
  #tellSaved(id: string, record: SessionRecord, ctx: object | undefined): boolean {
    const made = ctx !== undefined && this.#stored.get(ctx) !== id;
    if (ctx !== undefined) this.#stored.set(ctx, id);
    this.#watched.tell((watcher) => watcher.saved(id, record, made));
    return made;
  }
}

/** A store of koa-session that is being watched; as `ConnectWatch`. */
export interface KoaWatch {
  end<T>(id: string, destroy: () => Promise<T>): Promise<T>;
  detach(): void;
}

const watched = new WeakMap<object, WatchedKoaStore>();

/**
 * Watches the `get`, `set` and `destroy` of the very object that the application hands to koa-session. Arguments, results
 * and `this` stay as they are. Any number of watchers can watch one store.
 */
export function watchKoaStore(store: KoaStore, watcher: KoaStoreWatcher): KoaWatch {
  const known = watched.get(store) ?? new WatchedKoaStore(store);
  watched.set(store, known);
  return known.watch(watcher);
}

function contextOf(options: unknown): object | undefined {
  const ctx = parseRecord(options)?.ctx;
  return typeof ctx === "object" && ctx !== null ? ctx : undefined;
}

function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise;
}

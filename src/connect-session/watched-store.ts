import { isPlainPromise, settling } from "../interception/plain-promise.ts";
import { EndedSessions } from "./ended-sessions.ts";
import { RecentIds } from "./recent-ids.ts";
import { parseRecord, type SessionRecord } from "./record.ts";
import type { ConnectStore } from "./store.ts";
import type { StoreWatcher } from "./store-watcher.ts";
import { type Call, WatchedObject, type Watching } from "./watched-object.ts";

type Callback = (this: unknown, ...args: unknown[]) => unknown;

const LOADED_FOR = 600_000;
const MAX_LOADED = 100_000;

/** One store and all that watch it. Its methods are replaced while anybody does. */
export class WatchedStore {
  readonly #store: ConnectStore;
  readonly #watched: WatchedObject<StoreWatcher>;
  readonly #ended = new EndedSessions();
  /** The sessions of requests that are in the store, where the library tells: see `#made`. */
  readonly #stored = new WeakSet<object>();
  readonly #loaded = new RecentIds(LOADED_FOR, MAX_LOADED);

  constructor(store: ConnectStore) {
    this.#store = store;
    this.#watched = new WatchedObject(store, this.#methods);
  }

  add(watcher: StoreWatcher): void {
    this.#watched.add(watcher);
  }

  remove(watcher: StoreWatcher): void {
    this.#watched.remove(watcher);
  }

  end<T>(id: string, destroy: () => Promise<T>): Promise<T> {
    return this.#ended.end(id, destroy);
  }

  readonly #methods: Readonly<Record<string, Watching>> = {
    get: (call, args) => {
      const id = args[0];
      // express-session says by createSession what it loaded; it is what puts a `generate` on its store.
      if (typeof id !== "string" || "generate" in this.#store) return call(args);
      return call(
        withCallback(args, (error, found) => {
          const record = error ? undefined : parseRecord(found);
          if (record !== undefined) this.#load(id, record);
        }),
      );
    },
    createSession: (call, args) => {
      const [request, data] = args;
      const session = call(args);
      if (typeof session === "object" && session !== null) this.#stored.add(session);
      const id = parseRecord(request)?.sessionID;
      const record = parseRecord(data);
      if (typeof id === "string" && record !== undefined) this.#watched.tell((watcher) => watcher.loaded?.(id, record));
      return session;
    },
    set: (call, args) => {
      let made = false;
      return this.#write(
        call,
        args,
        (id, record) => {
          made = this.#made(id, record);
          this.#watched.tell((watcher) => watcher.saved(id, record, made));
        },
        (id) => this.#watched.tell((watcher) => watcher.written?.(id, made)),
      );
    },
    touch: (call, args) => {
      return this.#write(call, args, (id, record) => this.#watched.tell((watcher) => watcher.used(id, record)));
    },
    destroy: (call, args) => {
      const ids = Array.isArray(args[0]) ? args[0] : [args[0]];
      return endingWith(call, args, () => {
        for (const id of ids) {
          if (typeof id === "string") this.#watched.tell((watcher) => watcher.ended(id));
        }
      });
    },
    clear: (call, args) => endingWith(call, args, () => this.#watched.tell((watcher) => watcher.cleared())),
  };

  #write(
    call: Call,
    args: unknown[],
    tell: (id: string, record: SessionRecord) => void,
    tellAnswered: (id: string) => void = () => {},
  ): unknown {
    const [id, session] = args;
    if (typeof id !== "string") return call(args);
    if (this.#ended.refuses(id)) {
      const callback = args.findLast((arg): arg is Callback => typeof arg === "function");
      if (callback !== undefined) setImmediate(callback, null);
      return Promise.resolve();
    }
    // Not parsed: text is no session of a request.
    const record = typeof session === "object" ? parseRecord(session) : undefined;
    if (record !== undefined) tell(id, record);
    const writing = this.#ended.writing(id);
    return answering(call, args, () => {
      writing();
      if (record !== undefined) tellAnswered(id);
    });
  }

  /**
   * Whether what is saved did surely not exist before.
   *
   * express-session makes a request's session anew or has `createSession` make it of what is stored: what it saves without
   * having been stored before is new. @fastify/session makes a new object each time; there, what nobody got out of the
   * store before is new, as far as that can be remembered. A session without a request was put there by other code, and
   * may be as old as it likes.
   */
  #made(id: string, session: SessionRecord): boolean {
    if (Object.getOwnPropertyDescriptor(session, "req")?.enumerable === false) {
      const made = !this.#stored.has(session);
      this.#stored.add(session);
      return made;
    }
    if (typeof session.encryptedSessionId !== "string" || "generate" in this.#store) return false;
    const made = this.#loaded.complete && !this.#loaded.has(id);
    this.#loaded.add(id);
    return made;
  }

  #load(id: string, record: SessionRecord): void {
    this.#loaded.add(id);
    this.#watched.tell((watcher) => watcher.loaded?.(id, record));
  }
}

/** Calls the store and tells when it has answered, by its callback or else its promise, or has thrown. */
function answering(call: Call, args: unknown[], answered: () => void): unknown {
  let result: unknown;
  try {
    result = call(withCallback(args, answered));
  } catch (error) {
    answered();
    throw error;
  }
  if (args.some((arg) => typeof arg === "function")) return result;
  if (isPlainPromise(result)) return settling(result, { returned: answered, threw: answered });
  answered();
  return result;
}

/** Tells once the store was called; before that where it calls back at once, since what follows may save again. */
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

/** The arguments, of which the callback tells `listener` first. */
function withCallback(args: readonly unknown[], listener: (...args: unknown[]) => void): unknown[] {
  const at = args.findLastIndex((arg) => typeof arg === "function");
  if (at < 0) return [...args];
  const callback = args[at] as Callback;
  function listened(this: unknown, ...results: unknown[]): unknown {
    listener(...results);
    return Reflect.apply(callback, this, results);
  }
  return args.with(at, listened);
}

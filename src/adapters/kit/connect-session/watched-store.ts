import type { SessionRecord } from "../../../sessions/principal.ts";
import { isPlainPromise, settling } from "../interception/plain-promise.ts";
import { EndedSessions } from "./ended-sessions.ts";
import { parseRecord } from "./record.ts";
import { SessionOrigins } from "./session-origins.ts";
import type { ConnectStore } from "./store.ts";
import type { StoreWatcher } from "./store-watcher.ts";
import { type Call, WatchedObject, type Watching } from "./watched-object.ts";

type Callback = (this: unknown, ...args: unknown[]) => unknown;

/** One store and all that watch it. Its methods are replaced while anybody does. */
export class WatchedStore {
  readonly #store: ConnectStore;
  readonly #watched: WatchedObject<StoreWatcher>;
  readonly #ended = new EndedSessions();
  // It is express-session that puts a `generate` on its store.
  readonly #origins = new SessionOrigins(() => "generate" in this.#store);

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
      if (typeof id !== "string") return call(args);
      return call(
        withCallback(args, (error, found) => {
          const record = error ? undefined : parseRecord(found);
          if (record === undefined) return;
          this.#origins.given(id, record);
          // express-session says by createSession what it loaded.
          if (!("generate" in this.#store)) this.#watched.tell((watcher) => watcher.loaded?.(id, record));
        }),
      );
    },
    createSession: (call, args) => {
      const [request, data] = args;
      const session = call(args);
      const record = parseRecord(data);
      if (typeof session === "object" && session !== null) this.#origins.inflated(session, record);
      const id = parseRecord(request)?.sessionID;
      if (typeof id === "string" && record !== undefined) this.#watched.tell((watcher) => watcher.loaded?.(id, record));
      return session;
    },
    set: (call, args) => {
      let made = false;
      return this.#write(
        call,
        args,
        (id, record) => {
          const origin = this.#origins.saving(id, record);
          made = origin.made;
          this.#watched.tell((watcher) => watcher.saved?.(id, record, made, origin.stored));
        },
        (id, record, failed) => {
          if (!failed) this.#origins.taken(id, record);
          this.#watched.tell((watcher) => watcher.written?.(id, made));
        },
      );
    },
    touch: (call, args) => {
      return this.#write(call, args, (id, record) => this.#watched.tell((watcher) => watcher.used?.(id, record)));
    },
    destroy: (call, args) => {
      const ids = Array.isArray(args[0]) ? args[0] : [args[0]];
      return endingWith(call, args, () => {
        for (const id of ids) {
          if (typeof id !== "string") continue;
          this.#origins.ended(id);
          this.#watched.tell((watcher) => watcher.ended?.(id));
        }
      });
    },
    clear: (call, args) => endingWith(call, args, () => this.#watched.tell((watcher) => watcher.cleared?.())),
  };

  #write(
    call: Call,
    args: unknown[],
    tell: (id: string, record: SessionRecord) => void,
    tellAnswered: (id: string, record: SessionRecord, failed: boolean) => void = () => {},
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
    return answering(call, args, (failed) => {
      writing();
      if (record !== undefined) tellAnswered(id, record, failed);
    });
  }
}

/** Calls the store and tells when it has answered, by its callback or else its promise, or has thrown. */
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

import { ActuatorError } from "../../../common/error.ts";
import { withTimeout } from "../../../common/timeout.ts";
import { parseRecord, type SessionEntry } from "./record.ts";

/** Node's callback convention, as the connect family's stores use it. */
export type StoreCallback<T> = (error?: unknown, result?: T | null) => void;

/**
 * A session store of the connect family, as express-session defined it and @fastify/session adopted it: methods with
 * callbacks, of which `get`, `set` and `destroy` always exist.
 */
export interface ConnectStore {
  get(id: string, callback: StoreCallback<object>): unknown;
  set(id: string, record: object, callback?: StoreCallback<never>): unknown;
  destroy(id: string, callback?: StoreCallback<never>): unknown;
  touch?(id: string, record: object, callback?: StoreCallback<never>): unknown;
  all?(callback: StoreCallback<object>): unknown;
  length?(callback: StoreCallback<number>): unknown;
  clear?(callback?: StoreCallback<never>): unknown;
}

/** @throws ActuatorError INVALID_ARGUMENT if `store` lacks a method that every store of `library` has. */
export function requireStore(store: unknown, library: string): void {
  const methods = ["get", "set", "destroy"];
  const given = typeof store === "object" && store !== null ? (store as Readonly<Record<string, unknown>>) : {};
  if (methods.every((method) => typeof given[method] === "function")) return;
  throw wrongStore(`the object with get, set and destroy that the application passes to ${library} as its store`);
}

/** Returns the error for a store that is not the expected one; `expected` completes "store must be". */
export function wrongStore(expected: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", `store must be ${expected}.`, { field: "store" });
}

/**
 * Calls a store's callback method and settles within `timeoutMs`.
 *
 * @throws ActuatorError UNAVAILABLE if the store throws, reports an error or does not answer in time. The store's own error
 * is the `cause`; it may name hosts and keys and is therefore not part of the message.
 */
export function callStore<T>(timeoutMs: number, call: (callback: StoreCallback<T>) => unknown): Promise<T | undefined> {
  return awaitStore<T | undefined>(timeoutMs, () => {
    return new Promise((resolve, reject) => {
      const returned = call((error, result) => {
        if (error) reject(error);
        else resolve(result ?? undefined);
      });
      // Stores written as async functions also reject their unused promise (connect-redis 8 and later).
      if (returned instanceof Promise) returned.catch(reject);
    });
  });
}

/**
 * Waits for a store's operation for at most `timeoutMs`.
 *
 * @param name the subject of the error's message
 * @throws ActuatorError UNAVAILABLE as `callStore` does.
 */
export function awaitStore<T>(
  timeoutMs: number,
  call: () => T | PromiseLike<T>,
  name = "The session store",
): Promise<T> {
  // Not a function: the store has no use for its signal.
  const answer = (async (): Promise<T> => call())().catch((cause: unknown) => {
    throw cause instanceof ActuatorError ? cause : unavailable(`${name} could not be reached.`, cause);
  });
  return withTimeout(answer, timeoutMs, () => unavailable(`${name} did not answer within ${timeoutMs} ms.`));
}

function unavailable(message: string, cause?: unknown): ActuatorError {
  return new ActuatorError("UNAVAILABLE", "SESSION_STORE_UNAVAILABLE", message, {}, { cause });
}

/**
 * Returns a function that reads everything a store's `all` returns; undefined if the store has no `all`. MemoryStore and
 * memorystore return an object of sessions by id, others an array of sessions with their `id` added.
 */
export function listedSessions(store: ConnectStore, timeoutMs: number): (() => Promise<SessionEntry[]>) | undefined {
  if (typeof store.all !== "function") return undefined;
  return async () => {
    const listing = await callStore<object>(timeoutMs, (callback) => store.all?.(callback));
    return Array.isArray(listing) ? listing.flatMap(entryWithId) : entriesOf(Object.entries(listing ?? {}));
  };
}

/** Parses the sessions of a listing by id and leaves out what is not a session. */
export function entriesOf(listing: Iterable<readonly [string, unknown]>): SessionEntry[] {
  return [...listing].flatMap(([id, stored]): SessionEntry[] => {
    const record = parseRecord(stored);
    return record === undefined ? [] : [[id, record]];
  });
}

function entryWithId(stored: unknown): SessionEntry[] {
  const record = parseRecord(stored);
  if (record === undefined) return [];
  const { id, ...attributes } = record;
  if (typeof id === "string") return [[id, attributes]];
  const message = `The application's session store lists its sessions without their ids. ${BY_QUERY}`;
  throw new ActuatorError("UNIMPLEMENTED", "SESSIONS_LISTED_WITHOUT_IDS", message);
}

const BY_QUERY = "The adapter's option `list` can query them.";

/** Why a store without `all` cannot be searched. */
export const NO_LISTING = `The application's session store cannot list its sessions (it has no \`all\` method), so they cannot be searched or listed. ${BY_QUERY}`;

import { type Principal, principalResolver, type SessionRecord } from "../../../sessions/principal.ts";
import type { Session } from "../../../sessions/session.ts";
import type { SessionStore } from "../../../sessions/store.ts";
import { parseRecord } from "./record.ts";
import { COOKIE_TIMES, type RecordTimes, recordReader } from "./record-reader.ts";
import { type ScannedSessions, scannedSessions } from "./scanned-sessions.ts";
import type { ScanBounds, SessionEntries } from "./session-scan.ts";
import { Sightings } from "./sightings.ts";
import type { ConnectStore } from "./store.ts";
import { awaitStore, callStore } from "./store-call.ts";
import { watchStore } from "./watch.ts";

/** How the sessions of a connect store are read. */
export interface ConnectSessionsOptions {
  /** Whose session it is. Default: `DEFAULT_PRINCIPAL`. */
  readonly principal?: Principal | undefined;
  /** Milliseconds to wait for an answer of the store. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
  /** For how many sessions at most the creation time is remembered. Default: 100,000. */
  readonly maxRemembered?: number | undefined;
  /** How much is read for a search by user or a page of the list. */
  readonly scan?: ScanBounds | undefined;
}

/** The sessions of a connect store, whose creation times this process remembers. */
export interface ConnectSessions<Kind extends string = string> extends SessionStore {
  readonly kind: Kind;
  /** How many sessions are remembered for their creation time. */
  readonly remembered: number;
  /** Gives the application's store back as it was. Reading and deleting still work; creation times are no longer noted. */
  detach(): void;
}

/** How a connect store is read beyond what all of them have. */
export interface ConnectReading {
  /** What the records say of their times. Default: what their cookies say. */
  readonly times?: RecordTimes | undefined;
  /** What the store has under this id. Default: what its `get` answers. */
  readonly find?: ((id: string) => unknown) | undefined;
  /** All that the store has, as an array where it tells all at once; undefined: it cannot list, and `limit` says why. */
  readonly entries?: (() => Promise<SessionEntries>) | undefined;
  /** How many sessions the store has, where it can tell without reading them. */
  readonly count?: (() => Promise<number>) | undefined;
  readonly limit?: string | undefined;
}

/** The sessions in a store without an index: what the adapters of such stores share. */
export function connectSessions<Kind extends string>(
  kind: Kind,
  store: ConnectStore,
  reading: ConnectReading,
  options: ConnectSessionsOptions,
): ConnectSessions<Kind> {
  const { timeoutMs: timeout = 5_000, maxRemembered = 100_000, scan } = options;
  const { times = COOKIE_TIMES, find, entries, limit } = reading;
  const sightings = new Sightings(maxRemembered);
  const watch = watchStore(store, sightings);
  const reader = recordReader(times, sightings, principalResolver(options.principal));

  function found(id: string): Promise<unknown> {
    if (find !== undefined) return awaitStore(timeout, () => find(id));
    return callStore<unknown>(timeout, (callback) =>
      // The middlewares take this error as "there is none": stores of files report it.
      store.get(id, (error, data) => (codeOf(error) === "ENOENT" ? callback() : callback(error, data))),
    );
  }

  async function findRecord(id: string): Promise<SessionRecord | undefined> {
    const began = Date.now();
    const record = parseRecord(await found(id));
    if (record === undefined) sightings.forget(id, began);
    return record;
  }

  async function findById(id: string): Promise<Session | undefined> {
    const record = await findRecord(id);
    return record && reader.session(id, record);
  }

  async function destroy(id: string): Promise<boolean> {
    if ((await findRecord(id)) === undefined) return false;
    await watch.end(id, () => callStore(timeout, (callback) => store.destroy(id, callback)));
    return true;
  }

  /** What the store has. What it has no more is forgotten where it tells all at once. */
  async function listed(list: () => Promise<SessionEntries>): Promise<SessionEntries> {
    const began = Date.now();
    const all = await list();
    if (!Array.isArray(all)) return all;
    const ids = new Set(all.map(([id]) => id));
    sightings.keepOnly((id) => ids.has(id), began);
    return all;
  }

  function searches(list: () => Promise<SessionEntries>): ScannedSessions {
    const scanned = scannedSessions(() => listed(list), reader, scan);
    const { count } = reading;
    if (count === undefined) return scanned;
    const counted: ScannedSessions["count"] = ({ active }) =>
      active === undefined ? awaitStore(timeout, count) : scanned.count({ active });
    return { ...scanned, count: counted };
  }

  return {
    kind,
    findById,
    delete: destroy,
    detach: watch.detach,
    get remembered() {
      return sightings.size;
    },
    ...(entries === undefined ? { limits: { findByUsername: limit, list: limit } } : searches(entries)),
  };
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

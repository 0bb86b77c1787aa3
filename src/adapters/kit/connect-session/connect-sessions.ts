import { type Checks, count, timeLimitMs } from "../../../common/options.ts";
import { type Principal, principalFault, principalResolver, type SessionRecord } from "../../../sessions/principal.ts";
import type { SessionStore } from "../../../sessions/store.ts";
import { COOKIE_TIMES, parseRecord, type RecordTimes } from "./record.ts";
import {
  RecordReader,
  SCAN_BOUNDS,
  type ScanBounds,
  type ScannedSessions,
  type SessionEntries,
  scannedSessions,
  sessionsOfUser,
} from "./scan.ts";
import { Sightings } from "./sightings.ts";
import { awaitStore, type ConnectStore, callStore } from "./store.ts";
import { watchStore } from "./watch.ts";

/** How the sessions of a connect store are read. */
export interface ConnectSessionsOptions {
  /** How to find a session's user. Default: `DEFAULT_PRINCIPAL`. */
  readonly principal?: Principal | undefined;
  /** Milliseconds to wait for an answer of the store. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
  /** The most sessions whose creation time is remembered. Default: 100,000. */
  readonly maxRemembered?: number | undefined;
  /** Bounds of a search by user or a page of the list. */
  readonly scan?: ScanBounds | undefined;
}

/** The checks of adapters without options of their own. */
export const CONNECT_SESSIONS_OPTIONS: Checks<ConnectSessionsOptions> = {
  principal: principalFault,
  timeoutMs: timeLimitMs,
  maxRemembered: count,
  scan: SCAN_BOUNDS,
};

/** The sessions of a connect store, whose creation times this process remembers. */
export interface ConnectSessions<Kind extends string = string> extends SessionStore {
  readonly kind: Kind;
  /** The number of sessions whose creation time is remembered. */
  readonly remembered: number;
  /** Restores the application's store. Reading and deleting still work; creation times are no longer noted. */
  detach(): void;
}

/** How a particular connect store is read. */
export interface ConnectReading {
  /** The times in its records. Default: those of their cookies. */
  readonly times?: RecordTimes | undefined;
  /** Reads the session with this id. Default: the store's `get`. */
  readonly find?: ((id: string) => unknown) | undefined;
  /** Reads all sessions, as an array if the store returns all at once; undefined: it cannot, and `limit` says why. */
  readonly entries?: (() => Promise<SessionEntries>) | undefined;
  /** Reads the sessions of a user, perhaps among others, by an index. */
  readonly entriesOfUser?: ((username: string) => Promise<SessionEntries>) | undefined;
  /** Counts the sessions, if that is possible without reading them. */
  readonly count?: (() => Promise<number>) | undefined;
  readonly limit?: string | undefined;
}

/** Reads and ends the sessions in a store without an index: what the adapters of such stores share. */
export function connectSessions<Kind extends string>(
  kind: Kind,
  store: ConnectStore,
  reading: ConnectReading,
  options: ConnectSessionsOptions,
): ConnectSessions<Kind> {
  const { timeoutMs = 5_000, maxRemembered = 100_000, scan } = options;
  const { times = COOKIE_TIMES, find, entries, entriesOfUser, limit } = reading;
  const sightings = new Sightings(maxRemembered);
  const watch = watchStore(store, sightings);
  const reader = new RecordReader(times, sightings, principalResolver(options.principal));

  function found(id: string): Promise<unknown> {
    if (find !== undefined) return awaitStore(timeoutMs, () => find(id));
    return callStore<unknown>(timeoutMs, (callback) =>
      // File stores report ENOENT for a missing session, and the middlewares take it as such.
      store.get(id, (error, data) => (codeOf(error) === "ENOENT" ? callback() : callback(error, data))),
    );
  }

  async function findRecord(id: string): Promise<SessionRecord | undefined> {
    const began = Date.now();
    const record = parseRecord(await found(id));
    if (record === undefined) sightings.forget(id, began);
    return record;
  }

  /** Reads all sessions; if they come at once, those that are gone are forgotten. */
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
      active === undefined ? awaitStore(timeoutMs, count) : scanned.count({ active });
    return { ...scanned, count: counted };
  }

  return {
    kind,
    async findById(id) {
      const record = await findRecord(id);
      return record && reader.session(id, record);
    },
    async delete(id) {
      if ((await findRecord(id)) === undefined) return false;
      await watch.end(id, () => callStore(timeoutMs, (callback) => store.destroy(id, callback)));
      return true;
    },
    detach: watch.detach,
    get remembered() {
      return sightings.size;
    },
    ...(entries === undefined ? { limits: { findByUsername: limit, list: limit } } : searches(entries)),
    ...(entriesOfUser && {
      findByUsername: async (name: string) => sessionsOfUser(await entriesOfUser(name), name, reader, scan),
    }),
  };
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

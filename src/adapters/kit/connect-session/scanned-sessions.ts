import type { SessionStore } from "../../../sessions/store.ts";
import { NewestSessions } from "./newest-sessions.ts";
import type { RecordReader } from "./record-reader.ts";
import { type ScanBounds, type SessionEntries, scanSessions } from "./session-scan.ts";

/** What a store without an index can do by reading all that it has. */
export type ScannedSessions = Required<Pick<SessionStore, "count" | "findByUsername" | "list">>;

/**
 * Searches and lists sessions by reading all of them within the bounds. A list is ordered by newest access, then by id,
 * and a page begins after the last position of the page before, wherever sessions have come or gone since. A count is never
 * short: where the bounds do not suffice, there is none.
 */
export function scannedSessions(
  entries: () => Promise<SessionEntries> | SessionEntries,
  reader: RecordReader,
  bounds: ScanBounds = {},
): ScannedSessions {
  return {
    async findByUsername(username) {
      const found: (readonly [string, Parameters<RecordReader["session"]>[1]])[] = [];
      const partial = await scanSessions(await entries(), bounds, (id, record) => {
        if (reader.username(record) === username) found.push([id, record]);
      });
      return { sessions: found.map(([id, record]) => reader.session(id, record)), partial };
    },
    async list({ limit, after, active }) {
      const newest = new NewestSessions(limit, after);
      const partial = await scanSessions(await entries(), bounds, (id, record) => {
        if (active !== undefined && reader.expired(record) === active) return;
        newest.offer({ id, record, time: reader.accessTime(id, record) });
      });
      const { sessions, next } = newest.first();
      return { sessions: sessions.map(({ id, record }) => reader.session(id, record)), partial, next };
    },
    async count({ active }) {
      let counted = 0;
      const partial = await scanSessions(await entries(), bounds, (_, record) => {
        if (active === undefined || reader.expired(record) !== active) counted++;
      });
      return partial ? undefined : counted;
    },
  };
}

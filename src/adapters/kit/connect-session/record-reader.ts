import type { PrincipalResolver, SessionRecord } from "../../../sessions/principal.ts";
import type { Session } from "../../../sessions/session.ts";
import { attributeNames, expiryTime, maxAge, maxInactiveInterval } from "./record.ts";
import type { Sightings } from "./sightings.ts";

/** How the records of a store are read. */
export interface RecordReader {
  /** The session that the record is of; from now on it is known when it was first seen. */
  session(id: string, record: SessionRecord): Session;
  /** When the session was last used, as far as anybody knows: what lists are ordered by. */
  accessTime(id: string, record: SessionRecord): number;
  expired(record: SessionRecord): boolean;
  username(record: SessionRecord): string | undefined;
}

/** What of a record is not the same in all stores. */
export interface RecordTimes {
  /** undefined: the record does not say. */
  lastAccessedTime(record: SessionRecord): number | undefined;
  /** Milliseconds of inactivity until it expires; undefined: never. */
  maxAge(record: SessionRecord): number | undefined;
  expired(record: SessionRecord): boolean;
  /** What in a record is not the application's. */
  readonly hidden: readonly string[];
}

/** Records that say their times by their cookie alone. */
export const COOKIE_TIMES: RecordTimes = {
  lastAccessedTime(record) {
    const expires = expiryTime(record);
    const age = maxAge(record);
    return expires === undefined || age === undefined ? undefined : expires - age;
  },
  maxAge,
  expired(record) {
    const expires = expiryTime(record);
    return expires !== undefined && expires <= Date.now();
  },
  hidden: ["cookie"],
};

/** Reads records of which the process remembers what they do not say. */
export function recordReader(times: RecordTimes, sightings: Sightings, username: PrincipalResolver): RecordReader {
  return {
    session(id, record) {
      const { creationTime, firstSeenTime, lastUsedTime } = sightings.see(id, record, false);
      return {
        id,
        attributeNames: attributeNames(record, times.hidden),
        creationTime,
        firstSeenTime,
        lastAccessedTime: times.lastAccessedTime(record) ?? lastUsedTime,
        maxInactiveInterval: maxInactiveInterval(times.maxAge(record)),
        expired: times.expired(record),
        username: username(record),
      };
    },
    accessTime(id, record) {
      const time = times.lastAccessedTime(record);
      if (time !== undefined) return time;
      const { firstSeenTime, lastUsedTime } = sightings.see(id, record, false);
      return lastUsedTime ?? firstSeenTime;
    },
    expired: times.expired,
    username,
  };
}

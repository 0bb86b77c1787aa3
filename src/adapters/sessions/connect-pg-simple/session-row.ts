import type { PrincipalResolver, SessionRecord } from "../../../sessions/principal.ts";
import type { Session } from "../../../sessions/session.ts";
import {
  attributeNames,
  expiryTime,
  maxAge,
  maxInactiveInterval,
  parseRecord,
} from "../../kit/connect-session/record.ts";
import type { Sighting, Sightings } from "../../kit/connect-session/sightings.ts";

/** A session as `statements` return it. Times are seconds since the epoch. */
export type SessionRow = readonly [
  id: string,
  expire: string,
  expiry: number | null,
  shownTwice: boolean,
  created: number | null,
  seen: number | null,
  record: SessionRecord | string | readonly [SessionRecord | null] | true | null,
];

/** What is known of a record. */
interface RecordFacts {
  /** Milliseconds. */
  readonly age: number | undefined;
  readonly expiryTime: number | undefined;
  readonly names: readonly string[];
  readonly username: string | undefined;
  /** Whether its user is known. */
  readonly resolved: boolean;
}

/** A session, and whether its user is known; not if its record is too large to be read as a whole. */
export interface ReadSession {
  readonly session: Session;
  readonly resolved: boolean;
}

/** How rows become sessions. */
export interface RowReader {
  readonly resolver: PrincipalResolver;
  /** Milliseconds that a session lives whose cookie has no expiry. */
  ttlMs(): number;
  readonly sightings: Sightings;
}

const HOUR_MS = 3_600_000;
const ROUNDING_MS = 1000;

/** Returns the session of a row. */
export function readSession(row: SessionRow, reader: RowReader): ReadSession {
  const [id, , expiry, shownTwice, created, seen, record] = row;
  const facts = recordFacts(record, reader);
  const { age } = facts;
  const expiryTime = expiry === null ? undefined : Math.round(expiry * 1000);
  const sighting = seen === null ? see(reader.sightings, id, expiryTime) : undefined;
  const creationTime = created === null ? sighting?.creationTime : wholeMs(created);
  const lastUsed = lastAccessedTime(expiryTime, shownTwice, age, facts.expiryTime, sighting?.lastUsedTime);
  return {
    resolved: facts.resolved,
    session: {
      id,
      attributeNames: facts.names,
      creationTime,
      firstSeenTime: seen === null ? sighting!.firstSeenTime : wholeMs(seen),
      lastAccessedTime: notBefore(creationTime, lastUsed),
      maxInactiveInterval: age === undefined ? undefined : maxInactiveInterval(age),
      expired: expiryTime !== undefined && expiryTime < nowInSeconds() * 1000,
      username: facts.username,
    },
  };
}

/** Returns whole milliseconds. Times in PostgreSQL have microseconds, to which a product of fractions must be rounded first. */
function wholeMs(seconds: number): number {
  return Math.floor(Math.round(seconds * 1_000_000) / 1000);
}

/** Returns the second before which the store takes a session as expired. */
export function nowInSeconds(): number {
  return Math.ceil(Date.now() / 1000);
}

/**
 * Returns the expiry minus the age. The store rounds the expiry up to whole seconds: unless the record (if it was not
 * touched since it was saved) or this process knows better, it is the beginning of that second, at most a second early.
 */
function lastAccessedTime(
  expiryTime: number | undefined,
  shownTwice: boolean,
  age: number | undefined,
  cookieExpiry: number | undefined,
  lastUsedTime: number | undefined,
): number | undefined {
  if (expiryTime === undefined || age === undefined) return lastUsedTime;
  const inSecond = (time: number | undefined, end: number) =>
    time !== undefined && time > end - ROUNDING_MS && time <= end;
  for (const end of shownTwice ? [expiryTime, expiryTime - HOUR_MS] : [expiryTime]) {
    if (inSecond(cookieExpiry, end)) return cookieExpiry! - age;
    if (inSecond(lastUsedTime, end - age)) return lastUsedTime;
  }
  const latest = expiryTime - age;
  const earlierMeant = shownTwice && latest > Date.now() + ROUNDING_MS;
  return (earlierMeant ? latest - HOUR_MS : latest) - ROUNDING_MS + 1;
}

/** Corrects the rounding of the expiry: a session was created before it was used. */
function notBefore(creationTime: number | undefined, time: number | undefined): number | undefined {
  if (creationTime === undefined || time === undefined || creationTime - time >= ROUNDING_MS) return time;
  return Math.max(creationTime, time);
}

function recordFacts(stored: SessionRow[6], { resolver, ttlMs }: RowReader): RecordFacts {
  if (stored === true) {
    return { age: undefined, expiryTime: undefined, names: [], username: undefined, resolved: false };
  }
  const resolved = !Array.isArray(stored);
  const record = parseRecord(resolved ? stored : stored[0]) ?? {};
  const username = resolved ? resolver(record) : undefined;
  const expires = expiryTime(record);
  // As in the store: if the cookie has no expiry, the session lives for the store's own time.
  const age = expires === undefined ? ttlMs() : maxAge(record);
  return { age, expiryTime: expires, names: attributeNames(record), username, resolved };
}

function see(sightings: Sightings, id: string, expiryTime: number | undefined): Sighting {
  const expires = expiryTime === undefined ? undefined : new Date(expiryTime);
  return sightings.see(id, { cookie: { expires } }, false);
}

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

/** What a statement answers of a session: see `statements`. Times are milliseconds, but for the expiry in seconds. */
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
  /** Whether it is known whose it is. */
  readonly resolved: boolean;
}

/** A session, and whether it is known whose it is: not where its record is too large to be read as a whole. */
export interface ReadSession {
  readonly session: Session;
  readonly resolved: boolean;
}

/** How rows become sessions. */
export interface RowReader {
  readonly resolver: PrincipalResolver;
  /** Seconds that a session lives whose cookie does not say. */
  ttl(): number;
  readonly sightings: Sightings;
}

const HOUR = 3_600_000;
const ROUNDING = 1000;

/** The session that a row is of. */
export function readSession(row: SessionRow, reader: RowReader): ReadSession {
  const [id, , expiry, shownTwice, created, seen, record] = row;
  const { age, ...facts } = recordFacts(record, reader);
  const expiryTime = expiry === null ? undefined : Math.round(expiry * 1000);
  const sighting = seen === null ? see(reader.sightings, id, expiryTime) : undefined;
  const creationTime = created === null ? sighting?.creationTime : Math.floor(created);
  const lastUsed = lastAccessedTime(expiryTime, shownTwice, age, facts.expiryTime, sighting?.lastUsedTime);
  return {
    resolved: facts.resolved,
    session: {
      id,
      attributeNames: facts.names,
      creationTime,
      firstSeenTime: seen === null ? sighting!.firstSeenTime : Math.floor(seen),
      lastAccessedTime: notBefore(creationTime, lastUsed),
      maxInactiveInterval: age === undefined ? undefined : maxInactiveInterval(age),
      expired: expiryTime !== undefined && expiryTime < nowInSeconds() * 1000,
      username: facts.username,
    },
  };
}

/** The second at which the store takes a session for expired that expires before. */
export function nowInSeconds(): number {
  return Math.ceil(Date.now() / 1000);
}

/**
 * Expiry less age. The store rounds the expiry up to whole seconds: where neither the record (unless it was touched since
 * it was saved) nor this process knows better, it is the beginning of that second, so at most a second too early.
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
    time !== undefined && time > end - ROUNDING && time <= end;
  for (const end of shownTwice ? [expiryTime, expiryTime - HOUR] : [expiryTime]) {
    if (inSecond(cookieExpiry, end)) return cookieExpiry! - age;
    if (inSecond(lastUsedTime, end - age)) return lastUsedTime;
  }
  const latest = expiryTime - age;
  const earlierMeant = shownTwice && latest > Date.now() + ROUNDING;
  return (earlierMeant ? latest - HOUR : latest) - ROUNDING + 1;
}

/** Within the second that the expiry is rounded by, a session was made before it was used. */
function notBefore(creationTime: number | undefined, time: number | undefined): number | undefined {
  if (creationTime === undefined || time === undefined || creationTime - time >= ROUNDING) return time;
  return Math.max(creationTime, time);
}

function recordFacts(stored: SessionRow[6], { resolver, ttl }: RowReader): RecordFacts {
  if (stored === true) {
    return { age: undefined, expiryTime: undefined, names: [], username: undefined, resolved: false };
  }
  const resolved = !Array.isArray(stored);
  const record = parseRecord(resolved ? stored : stored[0]) ?? {};
  const username = resolved ? resolver(record) : undefined;
  return { ...cookieFacts(record, ttl), names: attributeNames(record), username, resolved };
}

/** As the store decides by itself: where the cookie has no expiry, the session lives for the store's own time. */
function cookieFacts(record: SessionRecord, ttl: RowReader["ttl"]): Pick<RecordFacts, "age" | "expiryTime"> {
  const expires = expiryTime(record);
  return { expiryTime: expires, age: expires === undefined ? ttl() * 1000 : maxAge(record) };
}

function see(sightings: Sightings, id: string, expiryTime: number | undefined): Sighting {
  const expires = expiryTime === undefined ? undefined : new Date(expiryTime);
  return sightings.see(id, { cookie: { expires } }, false);
}

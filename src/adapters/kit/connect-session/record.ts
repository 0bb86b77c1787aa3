import { isRecord } from "../../../common/record.ts";
import type { SessionRecord } from "../../../sessions/principal.ts";

/** A session's id and record. */
export type SessionEntry = readonly [id: string, record: SessionRecord];

/** Parses a store's JSON (or takes what it parsed already); undefined if that is not an object. Never throws. */
export function parseRecord(stored: unknown): SessionRecord | undefined {
  let value = stored;
  if (typeof stored === "string" || Buffer.isBuffer(stored)) {
    try {
      value = JSON.parse(stored.toString("utf8"));
    } catch {
      return undefined;
    }
  }
  return isRecord(value) ? value : undefined;
}

/**
 * Returns when the session expires by its cookie, in milliseconds since the epoch; undefined if the cookie lives as long as
 * the browser. The record may be parsed JSON or the live session of a request.
 */
export function expiryTime(record: SessionRecord | undefined): number | undefined {
  const expires = cookieOf(record)?.expires;
  const time =
    typeof expires === "string" ? Date.parse(expires) : expires instanceof Date ? expires.getTime() : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Returns the cookie's maximum age in milliseconds; undefined if it has none. */
export function maxAge(record: SessionRecord | undefined): number | undefined {
  const age = cookieOf(record)?.originalMaxAge;
  return typeof age === "number" && Number.isFinite(age) ? age : undefined;
}

function cookieOf(record: SessionRecord | undefined): SessionRecord | undefined {
  const cookie = record?.cookie;
  return typeof cookie === "object" && cookie !== null ? (cookie as SessionRecord) : undefined;
}

/** Converts a maximum age to whole seconds, as the API shows it; -1: the session never expires. */
export function maxInactiveInterval(ageMs: number | undefined): number {
  return ageMs === undefined ? -1 : Math.round(ageMs / 1000);
}

/** Returns the names of what the application keeps in the session, without the `hidden` ones that its library adds. */
export function attributeNames(record: SessionRecord, hidden: readonly string[] = ["cookie"]): string[] {
  return Object.keys(record).filter((name) => !hidden.includes(name));
}

/** Reads the times in a store's records, which differ from store to store. */
export interface RecordTimes {
  /** undefined: the record does not say. */
  lastAccessedTime(record: SessionRecord): number | undefined;
  /** Milliseconds of inactivity until the session expires; undefined: never. */
  maxAge(record: SessionRecord): number | undefined;
  expired(record: SessionRecord): boolean;
  /** Names in a record that are not the application's. */
  readonly hidden: readonly string[];
}

/** Reads times from the record's cookie. */
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

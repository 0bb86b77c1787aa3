import { isRecord } from "../../../common/record.ts";
import type { SessionRecord } from "../../../sessions/principal.ts";

/**
 * When the session expires by its cookie, in milliseconds since the epoch; undefined where the cookie lives as long as
 * the browser. The record may be parsed from JSON or be the live session of a request.
 */
export function expiryTime(record: SessionRecord | undefined): number | undefined {
  const expires = cookieOf(record)?.expires;
  const time = expires instanceof Date || typeof expires === "string" ? new Date(expires).getTime() : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** The longest inactivity in milliseconds; undefined where the cookie names none. */
export function maxAge(record: SessionRecord | undefined): number | undefined {
  const age = cookieOf(record)?.originalMaxAge;
  return typeof age === "number" && Number.isFinite(age) ? age : undefined;
}

/** The longest inactivity in whole seconds, as the API shows it; -1: the session never expires. */
export function maxInactiveInterval(age: number | undefined): number {
  return age === undefined ? -1 : Math.round(age / 1000);
}

/** The names of what the application keeps in the session, without those in `hidden`, which the middleware or store adds. */
export function attributeNames(record: SessionRecord, hidden: readonly string[] = ["cookie"]): string[] {
  return Object.keys(record).filter((name) => !hidden.includes(name));
}

/** What a store's JSON text (or what it parsed already) says; undefined where that is no record. Never throws. */
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

function cookieOf(record: SessionRecord | undefined): SessionRecord | undefined {
  const cookie = record?.cookie;
  return typeof cookie === "object" && cookie !== null ? (cookie as SessionRecord) : undefined;
}

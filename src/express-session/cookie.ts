import type { SessionData } from "express-session";

/** When the session expires, in milliseconds since the epoch; undefined where its cookie lives as long as the browser. */
export function expiryTime(session: Readonly<SessionData> | undefined): number | undefined {
  // Parsed from JSON it is a string, whatever the types say.
  const expires: unknown = session?.cookie?.expires;
  const time = expires instanceof Date || typeof expires === "string" ? new Date(expires).getTime() : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** The longest inactivity in milliseconds; undefined where the session never expires. */
export function maxAge(session: Readonly<SessionData>): number | undefined {
  const maxAge: unknown = session.cookie?.originalMaxAge;
  return typeof maxAge === "number" && Number.isFinite(maxAge) ? maxAge : undefined;
}

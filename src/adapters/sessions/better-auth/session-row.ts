import type { Session } from "../../../sessions/session.ts";
import type { BetterAuthContext, Row } from "./instance.ts";

/** The columns that every application has; others were added by plugins and by the application. */
const STANDARD = ["id", "userId", "createdAt", "updatedAt", "expiresAt", "ipAddress", "userAgent", "token"];

/** The columns to read of a session: all but the token, and what nobody asks for. */
export function sessionColumns({ tables }: BetterAuthContext): string[] {
  const added = Object.keys(tables.session?.fields ?? {}).filter((field) => !STANDARD.includes(field));
  return ["id", "userId", "createdAt", "updatedAt", "expiresAt", ...added];
}

/** A row as the session that it is. The token is not in it, be it in the row or not. */
export function sessionOf(row: Row, username: string | undefined): Session {
  const now = Date.now();
  const creationTime = timeOf(row.createdAt);
  const lastAccessedTime = timeOf(row.updatedAt) ?? creationTime;
  const expiryTime = timeOf(row.expiresAt);
  return {
    id: String(row.id),
    attributeNames: Object.keys(row).filter(
      (name) => !STANDARD.includes(name) && (row[name] ?? undefined) !== undefined,
    ),
    creationTime,
    firstSeenTime: creationTime ?? now,
    lastAccessedTime,
    maxInactiveInterval:
      expiryTime === undefined || lastAccessedTime === undefined
        ? undefined
        : Math.max(0, Math.round((expiryTime - lastAccessedTime) / 1000)),
    expired: expiryTime !== undefined && expiryTime <= now,
    username,
  };
}

/** Milliseconds since the epoch; a secondary storage keeps times as texts. */
export function timeOf(value: unknown): number | undefined {
  if (!(value instanceof Date) && typeof value !== "string" && typeof value !== "number") return undefined;
  const time = new Date(value).getTime();
  return Number.isNaN(time) ? undefined : time;
}

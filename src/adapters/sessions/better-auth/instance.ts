import type { Session } from "../../../sessions/session.ts";
import type { ScanBounds } from "../../kit/connect-session/scan.ts";

/**
 * What this adapter needs of the object that `betterAuth(…)` returns. It is a type of its own because the library's type
 * changes with each plugin of an application.
 */
export interface BetterAuthInstance {
  readonly options: BetterAuthInstanceOptions;
  readonly $context: Promise<BetterAuthContext>;
}

/** The options that determine where sessions are. */
export interface BetterAuthInstanceOptions {
  readonly database?: unknown;
  readonly secondaryStorage?: unknown;
  /**
   * {@link BetterAuthSessionOptions}, loosely typed: TypeScript refuses an object that shares no property with a type whose
   * properties are all optional.
   */
  readonly session?: object | undefined;
}

/** What an application may have configured for its sessions. */
export interface BetterAuthSessionOptions {
  readonly storeSessionInDatabase?: boolean;
  readonly preserveSessionInDatabase?: boolean;
}

/** The part of `auth.$context` that is used: its database, and its operations on sessions. */
export interface BetterAuthContext {
  /** Takes better-auth's own names of tables and columns, and translates them to the application's. */
  readonly adapter: BetterAuthDatabase;
  readonly internalAdapter: {
    listSessions(userId: string): Promise<readonly Row[]>;
    /** Ends a session in the database and in the secondary storage, and runs the application's hooks. */
    deleteSession(token: string): Promise<unknown>;
  };
  readonly tables: Readonly<Record<string, { readonly fields: Readonly<Record<string, unknown>> }>>;
  /** With an `advanced` of {@link BetterAuthAdvancedOptions}, if there is one. */
  readonly options: object;
}

/** What an application may have configured for its ids. */
export interface BetterAuthAdvancedOptions {
  readonly advanced?: { readonly database?: { readonly generateId?: unknown } };
}

/** The database of an application, through better-auth. */
export interface BetterAuthDatabase {
  /** The kind of database, such as "kysely". */
  readonly id: string;
  findOne(query: { model: string; where: Condition[]; select?: string[] }): Promise<Row | null>;
  findMany(query: {
    model: string;
    where?: Condition[];
    limit?: number;
    select?: string[];
    sortBy?: { field: string; direction: "asc" | "desc" };
  }): Promise<readonly Row[]>;
  count(query: { model: string; where?: Condition[] }): Promise<number>;
}

/** One comparison; several are combined with AND. */
export interface Condition {
  field: string;
  value: string | string[] | Date;
  operator?: "eq" | "in" | "gt" | "gte" | "lt" | "lte";
}

/** A row of a table, with better-auth's own names of columns. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * A user's name: a column of better-auth's table `user`, such as "email", "name", "id" or "username", or a function of the
 * user's row, by which the database cannot search.
 */
export type BetterAuthUsername = string | ((user: Row) => string | undefined);

/** How sessions are read, with defaults. */
export interface BetterAuthSettings {
  readonly username: BetterAuthUsername;
  readonly timeoutMs: number;
  readonly scan?: ScanBounds | undefined;
}

/** The columns that every application has; plugins and the application add others. */
const STANDARD = ["id", "userId", "createdAt", "updatedAt", "expiresAt", "ipAddress", "userAgent", "token"];

/** Returns the columns to read of a session: never the token. */
export function sessionColumns({ tables }: BetterAuthContext): string[] {
  const added = Object.keys(tables.session?.fields ?? {}).filter((field) => !STANDARD.includes(field));
  return ["id", "userId", "createdAt", "updatedAt", "expiresAt", ...added];
}

/** Returns the session of a row, without the token even if the row has it. */
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

/** Returns a time in milliseconds since the epoch; a secondary storage keeps times as strings. */
export function timeOf(value: unknown): number | undefined {
  if (!(value instanceof Date) && typeof value !== "string" && typeof value !== "number") return undefined;
  const time = new Date(value).getTime();
  return Number.isNaN(time) ? undefined : time;
}

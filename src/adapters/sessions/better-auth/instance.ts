/**
 * What this adapter needs of the object that `betterAuth(…)` returns. Said here in few words because the library's own
 * type changes with each plugin of an application.
 */
export interface BetterAuthInstance {
  readonly options: BetterAuthInstanceOptions;
  readonly $context: Promise<BetterAuthContext>;
}

/** The options that say where sessions are. */
export interface BetterAuthInstanceOptions {
  readonly database?: unknown;
  readonly secondaryStorage?: unknown;
  /**
   * {@link BetterAuthSessionOptions}, in a loose type: TypeScript refuses an object that shares no property with a type
   * whose properties are all optional.
   */
  readonly session?: object | undefined;
}

/** What an application may have said of its sessions. */
export interface BetterAuthSessionOptions {
  readonly storeSessionInDatabase?: boolean;
  readonly preserveSessionInDatabase?: boolean;
}

/** The part of `auth.$context` that is used: its database, and what it does with sessions. */
export interface BetterAuthContext {
  /** Names of tables and columns here are better-auth's own; it makes them those of the application. */
  readonly adapter: BetterAuthDatabase;
  readonly internalAdapter: {
    listSessions(userId: string): Promise<readonly Row[]>;
    /** Ends a session in the database and in the secondary storage, with the hooks of the application. */
    deleteSession(token: string): Promise<unknown>;
  };
  readonly tables: Readonly<Record<string, { readonly fields: Readonly<Record<string, unknown>> }>>;
  /** With an `advanced` of {@link BetterAuthAdvancedOptions}, where there is one. */
  readonly options: object;
}

/** What an application may have said of its ids. */
export interface BetterAuthAdvancedOptions {
  readonly advanced?: { readonly database?: { readonly generateId?: unknown } };
}

/** The database of an application, as better-auth reaches it. */
export interface BetterAuthDatabase {
  /** What kind of database it is, such as "kysely". */
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

/** One comparison; several of them all hold. */
export interface Condition {
  field: string;
  value: string | string[] | Date;
  operator?: "eq" | "in" | "gt" | "gte" | "lt" | "lte";
}

/** A row of a table, under better-auth's own names of columns. */
export type Row = Readonly<Record<string, unknown>>;

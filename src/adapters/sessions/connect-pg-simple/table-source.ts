import { ActuatorError } from "../../../common/error.ts";
import { anything, type Checks, text } from "../../../common/options.ts";
import { type Principal, principalFault } from "../../../sessions/principal.ts";
import type { ConnectStore } from "../../kit/connect-session/store.ts";
import type { PostgresSource } from "../../kit/postgres/queries.ts";
import { identifier } from "./sql.ts";
import { quotedTableOf, storeConnection } from "./store.ts";

/** Where the table of a store is, and how it is reached. */
export interface PgSimpleTableOptions {
  /** The application's pool. Default: the connection of the store itself. */
  readonly pool?: Exclude<PostgresSource, string> | undefined;
  /** In the place of a pool: connections of our own, for which the application installs `pg`. */
  readonly url?: string | undefined;
  /** The name of the table. Default: the store's, or "session". */
  readonly table?: string | undefined;
  /** The schema of the table. Default: the store's, or where the connection looks by itself. */
  readonly schema?: string | undefined;
  /** Whose session it is. Default: `DEFAULT_PRINCIPAL`. A function cannot be searched by an index. */
  readonly principal?: Principal | undefined;
}

/** What the options must be. */
export const TABLE_OPTIONS: Checks<PgSimpleTableOptions> = {
  pool: anything,
  url: text,
  table: text,
  schema: text,
  principal: principalFault,
};

/** @throws ActuatorError INVALID_ARGUMENT where there is no connection at all. */
export function connectionOf(
  store: ConnectStore | undefined,
  { pool, url }: Pick<PgSimpleTableOptions, "pool" | "url">,
): PostgresSource {
  if (pool !== undefined) return pool;
  if (url !== undefined) return url;
  if (store !== undefined) return storeConnection(store);
  const message = "connect-pg-simple's table is reached by its store, by a `pool` or by a `url`.";
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "url" });
}

/** The quoted name of the table. */
export function tableNameOf(
  store: ConnectStore | undefined,
  { table, schema }: Pick<PgSimpleTableOptions, "table" | "schema">,
): string {
  if (store !== undefined && table === undefined && schema === undefined) return quotedTableOf(store);
  return [schema, table ?? "session"]
    .filter((name) => name !== undefined)
    .map(identifier)
    .join(".");
}

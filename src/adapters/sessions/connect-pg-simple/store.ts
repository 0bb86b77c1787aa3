import { ActuatorError } from "../../../common/error.ts";
import { type Checks, text, unknown } from "../../../common/options.ts";
import { type Principal, principalFault } from "../../../sessions/principal.ts";
import { type ConnectStore, wrongStore } from "../../kit/connect-session/store.ts";
import { watchStore } from "../../kit/connect-session/watch.ts";
import { replaceMethod } from "../../kit/interception/replaced-method.ts";
import type { PostgresSource } from "../../kit/postgres/index.ts";
import { type PgQueryable, prepared } from "../../kit/postgres/source.ts";
import { identifier } from "./sql.ts";

/** Where the table of a store is, and how it is reached. */
export interface PgSimpleTableOptions {
  /** The application's pool. Default: the connection of the store itself. */
  readonly pool?: Exclude<PostgresSource, string> | undefined;
  /** Instead of a pool: a URL for connections of our own, which need the package `pg`. */
  readonly url?: string | undefined;
  /** The name of the table. Default: the store's, or "session". */
  readonly table?: string | undefined;
  /** The schema of the table. Default: the store's, or the connection's search path. */
  readonly schema?: string | undefined;
  /** How to find a session's user. Default: `DEFAULT_PRINCIPAL`. An index cannot serve a function. */
  readonly principal?: Principal | undefined;
}

/** The checks of {@link PgSimpleTableOptions}. */
export const TABLE_OPTIONS: Checks<PgSimpleTableOptions> = {
  pool: unknown,
  url: text,
  table: text,
  schema: text,
  principal: principalFault,
};

/** @throws ActuatorError INVALID_ARGUMENT if there is no connection at all. */
export function connectionOf(
  store: ConnectStore | undefined,
  { pool, url }: Pick<PgSimpleTableOptions, "pool" | "url">,
): PostgresSource {
  if (pool !== undefined) return pool;
  if (url !== undefined) return url;
  if (store !== undefined) return storeConnection(store);
  const message = "Without a store of connect-pg-simple, `pool` or `url` must be given.";
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "url" });
}

/** Returns the quoted name of the table. */
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

/** What a store of connect-pg-simple 10 has besides the methods of any store; its pool and names are private. */
interface PgSimpleStore extends ConnectStore {
  /** Seconds that a session lives whose cookie has no expiry. */
  readonly ttl?: number | undefined;
  quotedTable(): string;
  query(
    text: unknown,
    values: readonly unknown[],
    callback: (error: unknown, firstRow?: unknown) => void,
    noTableCreation: boolean,
  ): void;
}

const ONE_DAY_MS = 86_400_000;

/** Returns the quoted name of the store's table, with its schema if the store has one. */
export function quotedTableOf(store: ConnectStore): string {
  return pgSimpleStore(store).quotedTable();
}

/** Returns how many milliseconds a session lives whose cookie has no expiry. */
export function ttlMsOf(store: ConnectStore | undefined): number {
  const ttl: unknown = (store as Partial<PgSimpleStore> | undefined)?.ttl;
  return typeof ttl === "number" && ttl > 0 ? ttl * 1000 : ONE_DAY_MS;
}

/** Returns the store's own connection, which passes on the first row of an answer. */
export function storeConnection(store: ConnectStore): PgQueryable {
  const pgSimple = pgSimpleStore(store);
  const send = prepared(
    (name, text, values) =>
      new Promise((resolve, reject) => {
        // Without creating the table: a missing one is an error here.
        const statement = name === undefined ? text : { name, text };
        pgSimple.query(statement, values ?? [], (error, row) => (error ? reject(error) : resolve([row])), true);
      }),
  );
  return { query: async (text, values) => ({ rows: await send(text, values) }) };
}

function pgSimpleStore(store: ConnectStore): PgSimpleStore {
  const { quotedTable, query } = (store ?? {}) as Partial<PgSimpleStore>;
  if (typeof quotedTable === "function" && typeof query === "function") return store as PgSimpleStore;
  throw wrongStore("the store that connect-pg-simple made, or undefined if there is a `pool` or `url`");
}

/**
 * Makes the store save a session that it has had before only if its row still exists. Otherwise the store would insert the
 * row again, and so restore a session that any process or statement ended while a request was under way. A single statement
 * decides, so that no save can slip through in between.
 *
 * Everything else is sent as the store wrote it, including saves of a connect-pg-simple whose statement differs. Returns
 * what restores the store.
 *
 * @throws ActuatorError INVALID_ARGUMENT if connect-pg-simple did not make the store.
 */
export function keepToExistingRows(store: ConnectStore): () => void {
  const [upsert, update] = statements(quotedTableOf(store));
  const stored = new WeakSet<object>();
  const watch = watchStore(store, {
    saved(_, record, __, isStored) {
      if (isStored) stored.add(record);
      // The same object may next be saved under another id, which has no row yet.
      else stored.delete(record);
    },
  });
  const restore = replaceMethod(store, "query", (query) => {
    return function (this: unknown, ...args: unknown[]) {
      const [text, values] = args;
      const writes = text === upsert && Array.isArray(values) && stored.has(values[0]);
      return Reflect.apply(query, this, writes ? args.with(0, update) : args);
    };
  });
  return () => {
    restore();
    watch.detach();
  };
}

/** Returns what connect-pg-simple 10 sends, and what is sent instead. */
function statements(table: string): readonly [upsert: string, update: string] {
  return [
    `INSERT INTO ${table} (sess, expire, sid) SELECT $1, to_timestamp($2), $3 ON CONFLICT (sid) DO UPDATE SET sess=$1, expire=to_timestamp($2) RETURNING sid`,
    `UPDATE ${table} SET sess=$1, expire=to_timestamp($2) WHERE sid = $3 RETURNING sid`,
  ];
}

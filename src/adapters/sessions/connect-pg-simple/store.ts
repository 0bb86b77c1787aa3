import { ActuatorError } from "../../../common/error.ts";
import type { ConnectStore } from "../../kit/connect-session/store.ts";
import { prepared } from "../../kit/postgres/prepared.ts";
import type { PgQueryable } from "../../kit/postgres/source.ts";

/** What a store of connect-pg-simple 10 has besides the methods of any store; its pool and names are private to it. */
interface PgSimpleStore extends ConnectStore {
  /** Seconds that a session lives whose cookie does not say. */
  readonly ttl?: number | undefined;
  quotedTable(): string;
  query(
    text: unknown,
    values: readonly unknown[],
    callback: (error: unknown, firstRow?: unknown) => void,
    noTableCreation: boolean,
  ): void;
}

const ONE_DAY = 86_400;

/** The name of the store's table, quoted, with its schema where the store has one. */
export function quotedTableOf(store: ConnectStore): string {
  return pgSimpleStore(store).quotedTable();
}

/** Seconds that a session lives whose cookie does not say. */
export function ttlOf(store: ConnectStore | undefined): number {
  const ttl: unknown = (store as Partial<PgSimpleStore> | undefined)?.ttl;
  return typeof ttl === "number" && ttl > 0 ? ttl : ONE_DAY;
}

/** Statements by the store's own connection, whatever it is. It passes on the first row of an answer. */
export function storeConnection(store: ConnectStore): PgQueryable {
  const pgSimple = pgSimpleStore(store);
  const send = prepared(
    (name, text, values) =>
      new Promise((resolve, reject) => {
        // Nobody asked for a table to be made: a missing one is said.
        const statement = name === undefined ? text : { name, text };
        pgSimple.query(statement, values ?? [], (error, row) => (error ? reject(error) : resolve([row])), true);
      }),
  );
  return { query: async (text, values) => ({ rows: await send(text, values) }) };
}

function pgSimpleStore(store: ConnectStore): PgSimpleStore {
  const { quotedTable, query } = (store ?? {}) as Partial<PgSimpleStore>;
  if (typeof quotedTable === "function" && typeof query === "function") return store as PgSimpleStore;
  const message =
    "connectPgSimpleSessions takes the store that connect-pg-simple made, or undefined and a `pool` or `url`.";
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "store" });
}

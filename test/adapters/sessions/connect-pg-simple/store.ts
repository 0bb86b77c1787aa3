import connectPgSimple from "connect-pg-simple";
import session, { type SessionData, type Store } from "express-session";
import pg from "pg";
import { afterAll, expect, onTestFinished } from "vitest";
import {
  type ConnectPgSimpleOptions,
  type ConnectPgSimpleSessions,
  connectPgSimpleSessions,
  type PrepareConnectPgSimpleOptions,
  prepareConnectPgSimpleSessions,
} from "../../../../src/adapters/sessions/connect-pg-simple/index.ts";
import type { PostgresServer } from "../../../support/postgres-server.ts";

const PGStore = connectPgSimple(session);

/** Fails a test that leaves an unhandled rejection. */
export function expectNoUnhandledRejections(): void {
  const unhandled: unknown[] = [];
  process.on("unhandledRejection", (reason) => unhandled.push(reason));
  afterAll(() => expect(unhandled).toEqual([]));
}

/** A store of connect-pg-simple on a table of its own, and the sessions in it. */
export interface TestStore {
  readonly store: Store;
  readonly pool: pg.Pool;
  readonly schema: string;
  readonly sessions: ConnectPgSimpleSessions;
  /** The table's name in statements. */
  readonly table: string;
  prepare(options?: Partial<PrepareConnectPgSimpleOptions>): ReturnType<typeof prepareConnectPgSimpleSessions>;
  /** As the store's callbacks say. */
  set(id: string, record: object): Promise<void>;
  touch(id: string, record: object): Promise<void>;
}

let schemas = 0;

/** Made as an application makes it, in a schema of its own; ends with the test. */
export async function testStore(
  server: PostgresServer,
  options: ConnectPgSimpleOptions = {},
  config: pg.PoolConfig = {},
  storeOptions: connectPgSimple.PGStoreOptions = {},
): Promise<TestStore> {
  const schema = `schema "${++schemas}"`;
  await server.query(`CREATE SCHEMA "schema ""${schemas}"""`);
  const pool = new pg.Pool({ connectionString: server.url, max: 5, ...config });
  pool.on("error", () => {});
  const store = new PGStore({
    pool,
    schemaName: schema,
    createTableIfMissing: true,
    pruneSessionInterval: false,
    errorLog: () => {},
    ...storeOptions,
  });
  // The store makes its table with its first statement.
  await new Promise<void>((resolve, reject) => store.get("none", (error) => (error ? reject(error) : resolve())));
  const sessions = connectPgSimpleSessions(store, options);
  onTestFinished(async () => {
    await sessions.detach();
    await store.close();
    await pool.end();
  });
  const call = (method: "set" | "touch") => (id: string, record: object) =>
    new Promise<void>((resolve, reject) => {
      store[method]!(id, record as SessionData, (error?: unknown) => (error ? reject(error) : resolve()));
    });
  return {
    store,
    pool,
    schema,
    sessions,
    table: `"schema ""${schemas}""".session`,
    prepare: (options) => prepareConnectPgSimpleSessions({ pool, schema, ...options }),
    set: call("set"),
    touch: call("touch"),
  };
}

/** A record as express-session leaves it. */
export function record(data: object = {}, maxAge: number | null = 60_000): object {
  const expires = maxAge === null ? null : new Date(Date.now() + maxAge);
  return { cookie: { originalMaxAge: maxAge, expires, httpOnly: true, path: "/" }, ...data };
}

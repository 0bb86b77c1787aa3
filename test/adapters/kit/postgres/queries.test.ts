// @module-tag slow
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import {
  type PostgresQueries,
  type PostgresSource,
  postgresQueries,
} from "../../../../src/adapters/kit/postgres/index.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { requirement } from "../../../support/requirement.ts";

const TIMEOUT = 1_000;
const unavailable = { code: "UNAVAILABLE", reason: "SESSION_STORE_UNAVAILABLE" };

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
afterAll(() => expect(unhandled).toEqual([]));

/** Where much else is going on, a connection may take longer than a query is given here. */
const answered = (query: PostgresQueries["query"]) =>
  expect.poll(() => query("SELECT 1 AS one").catch(() => undefined)).toEqual([{ one: 1 }]);

type Source = { readonly source: PostgresSource; end(): Promise<unknown> };

const SOURCES: Readonly<Record<string, (url: string) => Promise<Source>>> = {
  "a URL": async (url) => ({ source: url, end: async () => {} }),
  "a pool of pg": async (url) => {
    const pool = new pg.Pool({ connectionString: url, max: 10 });
    pool.on("error", () => {});
    return { source: pool, end: () => pool.end() };
  },
  "anything with a query": async (url) => {
    const pool = new pg.Pool({ connectionString: url, max: 10 });
    pool.on("error", () => {});
    return { source: { query: (text, values) => pool.query(text, values) }, end: () => pool.end() };
  },
};

describe.runIf(requirement("postgresql", postgresFound))("queries to PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());
  beforeEach(() => server.thaw());

  describe.each(Object.entries(SOURCES))("by %s", (_, make) => {
    async function connect(timeout = TIMEOUT) {
      const { source, end } = await make(server.url);
      const queries = postgresQueries(source, { timeoutMs: timeout });
      onTestFinished(async () => {
        await queries.close();
        await end();
      });
      return queries;
    }

    it("answer with rows", async () => {
      const { query } = await connect(30_000);
      expect(await query("SELECT $1::int + 1 AS sum, $2::text AS text", [41, "é"])).toEqual([{ sum: 42, text: "é" }]);
      expect(await query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
      expect(await query("SELECT 1 WHERE false")).toEqual([]);
    });

    it("throw as it came what the server refuses", async () => {
      const { query } = await connect(30_000);
      await expect(query("SELECT 1 / $1::int", [0])).rejects.toMatchObject({ code: "22012" });
    });

    it("give up in time, and have not more than four under way", async () => {
      // So long that four are under way at some time also where connections are slow.
      const { query } = await connect(4 * TIMEOUT);
      await answered(query);
      const sleeps = () =>
        server.query("SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'");
      const slow = Promise.allSettled(Array.from({ length: 12 }, () => query("SELECT pg_sleep($1::float8)", [8])));
      await expect.poll(async () => (await sleeps()).length).toBe(4);
      for (const result of await slow) expect(result).toMatchObject({ status: "rejected", reason: unavailable });
      expect((await sleeps()).length).toBeLessThanOrEqual(4);
      await answered(query);
    });

    it.each<[string, () => unknown, () => unknown]>([
      ["killed", () => server.kill(), () => server.restart()],
      ["mute", () => server.freeze(), () => server.thaw()],
    ])("report that the server is %s, and recover by themselves", async (_, takeAway, giveBack) => {
      const { query } = await connect();
      await answered(query);
      await takeAway();
      for (let times = 0; times < 6; times++) await expect(query("SELECT 1")).rejects.toMatchObject(unavailable);
      await giveBack();
      await answered(query);
    });
  });

  it("continue if a pooler forgets what was prepared", async () => {
    const pool = new pg.Pool({ connectionString: server.url, max: 1 });
    onTestFinished(() => pool.end());
    const { query } = postgresQueries(pool);
    const prepared = async () => (await pool.query("SELECT FROM pg_prepared_statements")).rowCount;
    for (const number of [1, 2]) expect(await query("SELECT $1::int AS number", [number])).toEqual([{ number }]);
    expect(await prepared()).toBe(1);
    await pool.query("DEALLOCATE ALL");
    for (const number of [3, 4]) expect(await query("SELECT $1::int AS number", [number])).toEqual([{ number }]);
    expect(await prepared()).toBe(0);
  });

  it("rid the application's pool of a connection that has become mute", async () => {
    const pool = new pg.Pool({ connectionString: server.url });
    pool.on("error", () => {});
    onTestFinished(() => pool.end());
    const { query } = postgresQueries(pool, { timeoutMs: TIMEOUT });
    await answered(query);
    expect(pool.totalCount).toBe(1);
    server.freeze();
    await expect(query("SELECT 1")).rejects.toMatchObject(unavailable);
    await expect.poll(() => pool.totalCount).toBe(0);
    server.thaw();
  });

  it("leave the application's connections open, and end their own", async () => {
    const pool = new pg.Pool({ connectionString: server.url });
    onTestFinished(() => pool.end());
    const [theirs, own] = [postgresQueries(pool), postgresQueries(server.url)];
    await Promise.all([theirs.query("SELECT 1"), own.query("SELECT 1")]);
    const ours = () => server.query("SELECT FROM pg_stat_activity WHERE application_name = 'connect-actuator'");
    expect(await ours()).toHaveLength(1);
    await Promise.all([theirs.close(), own.close()]);
    await expect.poll(ours).toEqual([]);
    expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    await expect(own.query("SELECT 1")).rejects.toMatchObject(unavailable);
  });

  it.each([["redis://127.0.0.1"], ["secret@host"], [{} as never], [undefined as never]])("refuse %j", (source) => {
    expect(() => postgresQueries(source)).toThrow(/^(The URL of PostgreSQL must|postgres must be)/);
  });
});

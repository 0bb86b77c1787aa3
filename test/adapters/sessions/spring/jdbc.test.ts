// @module-tag slow
import { Client, Pool, types } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type SpringJdbcOptions,
  type SpringJdbcSessions,
  springSessions,
} from "../../../../src/adapters/sessions/spring/index.ts";
import type { Session } from "../../../../src/sessions/session.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { expected, longName, postgresText, recordedClock, seen, zoe } from "./recorded.ts";

const NEVER = "9223372036854775807";

async function all(store: SpringJdbcSessions, limit = 100, active?: boolean): Promise<Session[]> {
  const sessions: Session[] = [];
  let after: string | undefined;
  do {
    const page = await store.list({ limit, after, active });
    expect(page.sessions.length).toBeLessThanOrEqual(limit);
    sessions.push(...page.sessions);
    after = page.next;
  } while (after !== undefined);
  return sessions;
}

describe.runIf(requirement("postgresql", postgresFound))("Spring Session's sessions in PostgreSQL", () => {
  let server: PostgresServer;
  let pool: Pool;

  beforeAll(async () => {
    server = await startPostgres();
    pool = new Pool({ connectionString: server.url });
    pool.on("error", () => {});
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });
  beforeEach(async () => {
    await server.query(`DROP SCHEMA IF EXISTS public, jvm CASCADE; CREATE SCHEMA public; ${postgresText}`);
  });

  function storeOf(options: Omit<SpringJdbcOptions, "postgres"> = {}): SpringJdbcSessions {
    return springSessions({ postgres: pool, clock: recordedClock, ...options });
  }

  const insert = (id: string, values: { max?: number; expiry?: string | number; user?: string } = {}) =>
    server.query("INSERT INTO SPRING_SESSION VALUES ($1, $2, 1000, 2000, $3, $4, $5)", [
      `row-${id}`,
      id,
      values.max ?? 1800,
      values.expiry ?? 1_802_000,
      values.user ?? null,
    ]);

  describe("as Spring wrote them", () => {
    test("all are listed with what is known of them", async () => {
      expect(seen(await all(storeOf()))).toEqual(expected({ kind: "jdbc", serializer: "jdk" }));
    });

    test("each is found by its id, with the times of its row", async () => {
      const rows = await server.query("SELECT session_id, creation_time, last_access_time FROM spring_session");
      expect(rows).toHaveLength(9);
      for (const { session_id, creation_time, last_access_time } of rows) {
        const session = await storeOf().findById(session_id);
        expect(session).toMatchObject({
          id: session_id,
          creationTime: Number(creation_time),
          firstSeenTime: Number(creation_time),
          lastAccessedTime: Number(last_access_time),
        });
        expect(await all(storeOf())).toContainEqual(session);
      }
    });

    test.each(["", "nobody", "c74d6a85", "\0", "\ud800", "x".repeat(500), "' OR true --"])(
      "%j is no session",
      async (id) => {
        expect(await storeOf().findById(id)).toBeUndefined();
        expect(await storeOf().delete(id)).toBe(false);
        expect(await storeOf().count({})).toBe(9);
      },
    );

    test("they are found by their user", async () => {
      const counts = {
        alice: 2,
        [zoe]: 1,
        [longName]: 1,
        never: 1,
        expired: 1,
        secured: 1,
        deleted: 0,
        Alice: 0,
        "": 0,
        "\0": 0,
        "\ud800": 0,
      };
      for (const [username, count] of Object.entries(counts)) {
        const { sessions, partial } = await storeOf().findByUsername(username);
        expect(sessions.map((session) => session.username)).toEqual(Array(count).fill(username));
        expect(partial).toBe(false);
      }
    });

    test("those that have expired are listed and counted apart", async () => {
      const sessions = expected({ kind: "jdbc", serializer: "jdk" });
      for (const active of [true, false]) {
        const some = sessions.filter(({ expired }) => expired !== active);
        expect(seen(await all(storeOf(), 2, active))).toEqual(some);
        expect(await storeOf().count({ active })).toBe(some.length);
      }
      expect(await storeOf().count({})).toBe(sessions.length);
    });

    test("reading works on a read-only connection", async () => {
      const connection = `${server.url}?options=-c%20default_transaction_read_only%3Don`;
      const store = springSessions({ postgres: connection, clock: recordedClock });
      const [session] = await all(store);
      expect(await store.findById(session!.id)).toEqual(session);
      expect((await store.findByUsername("alice")).sessions).toHaveLength(2);
      await expect(store.delete(session!.id)).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
      await store.detach();
    });

    test("SELECT and DELETE are the permissions that it takes", async () => {
      await server.query(`DROP ROLE IF EXISTS operator; CREATE ROLE operator LOGIN; GRANT USAGE ON SCHEMA public TO operator;
        GRANT SELECT, DELETE ON SPRING_SESSION, SPRING_SESSION_ATTRIBUTES TO operator`);
      const store = springSessions({ postgres: server.url.replace("postgres@", "operator@"), clock: recordedClock });
      const [session] = (await store.findByUsername("alice")).sessions;
      expect(await store.delete(session!.id)).toBe(true);
      await store.detach();
      await server.query("DROP OWNED BY operator; DROP ROLE operator");
    });

    test("whatever the application makes of bigint", async () => {
      const getTypeParser = ((oid: number) =>
        oid === types.builtins.INT8 ? Number : types.getTypeParser(oid)) as typeof types.getTypeParser;
      const own = new Pool({ connectionString: server.url, types: { getTypeParser } });
      await insert("never", { expiry: NEVER, max: -1 });
      expect(await all(springSessions({ postgres: own, clock: recordedClock }), 1)).toEqual(await all(storeOf()));
      await own.end();
    });
  });

  describe("lists", () => {
    test("by expiry, the latest first, and each once, whatever the size of the pages", async () => {
      for (let i = 0; i < 40; i++) await insert(`tie-${i}`, { expiry: i % 2 ? NEVER : 5_000, max: i % 2 ? -1 : 3 });
      const rows = await server.query(
        "SELECT trim(session_id) AS id FROM spring_session ORDER BY expiry_time DESC, primary_id DESC",
      );
      const ids = rows.map(({ id }) => id);
      expect(ids).toHaveLength(49);
      for (const limit of [1, 2, 7, 48, 49, 50]) {
        expect((await all(storeOf(), limit)).map(({ id }) => id)).toEqual(ids);
      }
      expect(await storeOf().list({ limit: 49 })).toMatchObject({ next: undefined, partial: false });
    });

    test("10,000 through the index of expiry", async () => {
      await server.query(`INSERT INTO SPRING_SESSION
        SELECT 'row-' || n, 'id-' || n, n, n, 1800, n + 1800000, 'user-' || n % 100 FROM generate_series(1, 10000) n`);
      await server.query("ANALYZE SPRING_SESSION");
      const sessions = await all(storeOf(), 1000);
      expect(new Set(sessions.map(({ id }) => id)).size).toBe(10_009);
      expect(await storeOf().count({})).toBe(10_009);
      expect((await storeOf().findByUsername("user-7")).sessions).toHaveLength(100);
    });

    test("a user with too many sessions is found in part, and the result says so", async () => {
      await server.query(`INSERT INTO SPRING_SESSION
        SELECT 'row-' || n, 'id-' || n, n, n, 1800, n + 1800000, 'robot' FROM generate_series(1, 50001) n`);
      const { sessions, partial } = await storeOf().findByUsername("robot");
      expect({ partial, found: sessions.length }).toEqual({ partial: true, found: 50_000 });
      await server.query("DELETE FROM SPRING_SESSION WHERE SESSION_ID = 'id-1'");
      expect(await storeOf().findByUsername("robot")).toMatchObject({ partial: false, sessions: { length: 50_000 } });
    });

    test.each([
      ["a page", "spring_session_ix2", (store: SpringJdbcSessions) => store.list({ limit: 50 })],
      [
        "a later page",
        "spring_session_ix2",
        (store: SpringJdbcSessions) => store.list({ limit: 50, after: "900000 row-1" }),
      ],
      [
        "a page of the living",
        "spring_session_ix2",
        (store: SpringJdbcSessions) => store.list({ limit: 50, active: true }),
      ],
      ["one session", "spring_session_ix1", (store: SpringJdbcSessions) => store.findById("id-7")],
      ["a user's sessions", "spring_session_ix3", (store: SpringJdbcSessions) => store.findByUsername("user-7")],
      ["the end of one", "spring_session_ix1", (store: SpringJdbcSessions) => store.delete("id-7")],
    ])("%s goes through Spring's index", async (_, index, use) => {
      await server.query(`INSERT INTO SPRING_SESSION
        SELECT 'row-' || n, 'id-' || n, n, n, 1800, n + 1800000, 'user-' || n FROM generate_series(1, 10000) n`);
      await server.query(
        "INSERT INTO SPRING_SESSION_ATTRIBUTES SELECT 'row-' || n, 'a', '' FROM generate_series(1, 10000) n",
      );
      await server.query("ANALYZE SPRING_SESSION; ANALYZE SPRING_SESSION_ATTRIBUTES");
      const plans: string[] = [];
      const explaining = {
        async query(text: string, values?: unknown[]) {
          const { rows } = await pool.query(`EXPLAIN ${text}`, values);
          plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
          return { rows: [] };
        },
      };
      await use(springSessions({ postgres: explaining, clock: () => 5_000_000 }));
      expect(plans).toHaveLength(1);
      expect(plans[0]).toContain(index);
      expect(plans[0]).not.toMatch(/Seq Scan on spring_session(_attributes)? /);
    });
  });

  describe("deleting", () => {
    const rowsOf = async (table: string) => Number((await server.query(`SELECT count(*) FROM ${table}`))[0].count);

    test.each([
      ["as Spring's schema has it", ""],
      [
        "without ON DELETE CASCADE",
        "ADD CONSTRAINT own FOREIGN KEY (session_primary_id) REFERENCES spring_session (primary_id)",
      ],
      [
        "with ON DELETE RESTRICT",
        "ADD CONSTRAINT own FOREIGN KEY (session_primary_id) REFERENCES spring_session (primary_id) ON DELETE RESTRICT",
      ],
      ["without a foreign key", "ALTER session_primary_id SET NOT NULL"],
    ])("removes the session with its attributes: %s", async (_, change) => {
      if (change !== "") {
        await server.query(
          `ALTER TABLE spring_session_attributes DROP CONSTRAINT spring_session_attributes_fk, ${change}`,
        );
      }
      const attributes = await rowsOf("spring_session_attributes");
      const [{ id }] = await server.query(
        "SELECT session_id AS id FROM spring_session WHERE max_inactive_interval = 60",
      );
      expect(await storeOf().delete(id)).toBe(true);
      expect(await storeOf().findById(id)).toBeUndefined();
      expect(await rowsOf("spring_session")).toBe(8);
      expect(await rowsOf("spring_session_attributes")).toBe(attributes - 3);
      expect(await storeOf().delete(id)).toBe(false);
    });

    test.each(["never", "expired"])("removes also the one of %s", async (user) => {
      const { sessions } = await storeOf().findByUsername(user);
      expect(await storeOf().delete(sessions[0]!.id)).toBe(true);
      expect((await storeOf().findByUsername(user)).sessions).toEqual([]);
    });

    test("even if a request stores an attribute meanwhile and nothing cascades", async () => {
      await server.query(`ALTER TABLE spring_session_attributes DROP CONSTRAINT spring_session_attributes_fk,
        ADD CONSTRAINT own FOREIGN KEY (session_primary_id) REFERENCES spring_session (primary_id)`);
      await insert("busy");
      const request = new Client({ connectionString: server.url });
      await request.connect();
      await request.query("BEGIN");
      await request.query("INSERT INTO SPRING_SESSION_ATTRIBUTES VALUES ('row-busy', 'late', '\\x00')");
      const ended = storeOf().delete("busy");
      await expect
        .poll(async () => (await server.query("SELECT 1 FROM pg_locks WHERE NOT granted")).length)
        .toBeGreaterThan(0);
      await request.query("COMMIT");
      expect(await ended).toBe(true);
      expect(
        await server.query("SELECT 1 FROM spring_session_attributes WHERE session_primary_id = 'row-busy'"),
      ).toEqual([]);
      await request.end();
    });
  });

  describe("other tables", () => {
    test("of another name, in another schema, in whatever case", async () => {
      await server.query(`CREATE SCHEMA jvm; ALTER TABLE spring_session SET SCHEMA jvm; ALTER TABLE spring_session_attributes SET SCHEMA jvm;
        ALTER TABLE jvm.spring_session RENAME TO käse_session; ALTER TABLE jvm.spring_session_attributes RENAME TO käse_session_attributes`);
      for (const tableName of ["käse_session", "KäSE_Session"]) {
        const store = storeOf({ tableName, schema: "JVM" });
        expect(seen(await all(store))).toEqual(expected({ kind: "jdbc", serializer: "jdk" }));
      }
      const { sessions } = await storeOf({ tableName: "käse_session", schema: "jvm" }).findByUsername("alice");
      expect(await storeOf({ tableName: "käse_session", schema: "jvm" }).delete(sessions[0]!.id)).toBe(true);
    });

    test.each([
      { tableName: "" },
      { tableName: "a b" },
      { tableName: 'a"b' },
      { tableName: "a;DROP TABLE spring_session" },
      { tableName: "1a" },
      { schema: "a.b" },
      { schema: "" },
      { tableName: "a--" },
    ])("are not named like %j", (options) => {
      const [field] = Object.keys(options);
      expect(() => storeOf(options)).toThrow(
        expect.objectContaining({ code: "INVALID_ARGUMENT", metadata: { field } }),
      );
    });

    test("that do not exist are said to be missing", async () => {
      await expect(storeOf({ tableName: "nowhere" }).list({ limit: 1 })).rejects.toMatchObject({
        code: "FAILED_PRECONDITION",
      });
    });

    test("ids of another length come without their padding", async () => {
      await insert("short");
      expect(await storeOf().findById("short")).toMatchObject({ id: "short", creationTime: 1_000, expired: true });
      expect((await all(storeOf())).map(({ id }) => id)).toContain("short");
      expect(await storeOf().delete("short")).toBe(true);
    });

    test("times beyond all dates are not known", async () => {
      await server.query(
        `UPDATE SPRING_SESSION SET CREATION_TIME = ${NEVER}, LAST_ACCESS_TIME = -${NEVER} WHERE PRINCIPAL_NAME = 'never'`,
      );
      const [session] = (await storeOf().findByUsername("never")).sessions;
      expect(session).toMatchObject({
        creationTime: undefined,
        lastAccessedTime: undefined,
        firstSeenTime: recordedClock(),
      });
    });

    test("values of attributes stay where they are", async () => {
      await insert("big");
      await server.query(`INSERT INTO SPRING_SESSION_ATTRIBUTES
        SELECT 'row-big', 'huge-' || n, convert_to(repeat('x', 10000000), 'UTF8') FROM generate_series(1, 5) n`);
      const texts: string[] = [];
      const counting = {
        async query(text: string, values?: unknown[]) {
          const result = await pool.query(text, values);
          texts.push(JSON.stringify(result.rows));
          return result;
        },
      };
      const session = await springSessions({ postgres: counting }).findById("big");
      expect(session?.attributeNames).toEqual([1, 2, 3, 4, 5].map((n) => `huge-${n}`));
      expect(texts.join("").length).toBeLessThan(1_000);
    });
  });

  test("out of reach, every method says UNAVAILABLE, and works again when the server is back", async () => {
    const store = springSessions({ postgres: server.url, clock: recordedClock });
    const [session] = await all(store);
    await server.kill();
    const error = { code: "UNAVAILABLE", reason: "SESSION_STORE_UNAVAILABLE" };
    await expect(store.findById(session!.id)).rejects.toMatchObject(error);
    await expect(store.findByUsername("alice")).rejects.toMatchObject(error);
    await expect(store.list({ limit: 10 })).rejects.toMatchObject(error);
    await expect(store.count({})).rejects.toMatchObject(error);
    await expect(store.delete(session!.id)).rejects.toMatchObject(error);
    await server.restart();
    expect(await store.findById(session!.id)).toEqual(session);
    await store.detach();
  });
});

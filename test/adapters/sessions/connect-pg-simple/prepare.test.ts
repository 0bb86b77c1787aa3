// @module-tag slow
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  type PrepareStep,
  prepareConnectPgSimpleSessions,
} from "../../../../src/adapters/sessions/connect-pg-simple/index.ts";
import { principalResolver } from "../../../../src/sessions/principal.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { expectNoUnhandledRejections, record, type TestStore, testStore } from "./store.ts";

expectNoUnhandledRejections();

describe.runIf(requirement("postgresql", postgresFound))("preparing the table of connect-pg-simple", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  async function indexes({ pool, table }: TestStore): Promise<{ name: string; valid: boolean }[]> {
    const sql = `SELECT indexrelid::regclass::text AS name, indisvalid AS valid FROM pg_index WHERE indrelid = '${table}'::regclass ORDER BY 1`;
    return (await pool.query(sql)).rows;
  }

  const states = (steps: readonly PrepareStep[]) => steps.map(({ state }) => state);

  it("adds what is missing, and nothing the second time", async () => {
    const made = await testStore(server);
    await made.set("old", record());
    const told: PrepareStep[] = [];
    const first = await made.prepare({ onStep: (step) => told.push(step) });
    expect(first.changed).toBe(true);
    expect(states(first.steps)).toEqual(["done", "done", "unneeded", "done", "done"]);
    expect(states(told)).toEqual(["begun", "done", "begun", "done", "unneeded", "begun", "done", "begun", "done"]);
    const after = await indexes(made);
    expect(after).toHaveLength(4);
    const second = await made.prepare();
    expect(second).toMatchObject({ changed: false });
    expect(await indexes(made)).toEqual(after);
    await made.set("new", record());
    const [old, fresh] = await Promise.all([made.sessions.findById("old"), made.sessions.findById("new")]);
    expect(old!.creationTime).toBeUndefined();
    expect(fresh!.creationTime).toBeTypeOf("number");
    const seen = old!.firstSeenTime;
    await made.set("old", record({ more: 1 }));
    expect(await made.sessions.findById("old")).toMatchObject({ creationTime: undefined, firstSeenTime: seen });
  });

  it("shows no session as used before it was made, though its expiry is rounded", async () => {
    const made = await testStore(server);
    await made.prepare();
    const end = Math.ceil(Date.now() / 1000) + 60;
    const madeAt = end - 60 - 0.25;
    const session = JSON.stringify({ cookie: { originalMaxAge: 60_000, expires: "2030-01-01T00:00:00.000Z" } });
    const columns = "(sid, sess, expire, created_at) VALUES ('a', $1, to_timestamp($2), to_timestamp($3))";
    await made.pool.query(`INSERT INTO ${made.table} ${columns}`, [session, end, madeAt]);
    const found = await made.sessions.findById("a");
    expect(found).toMatchObject({ creationTime: madeAt * 1000, lastAccessedTime: madeAt * 1000 });
  });

  it("changes nothing in a dry run, whose statements do by hand what it would have done", async () => {
    const made = await testStore(server);
    const before = await indexes(made);
    const { steps, changed } = await made.prepare({ dryRun: true });
    expect(changed).toBe(true);
    expect(states(steps)).toEqual(["planned", "planned", "unneeded", "planned", "planned"]);
    expect(await indexes(made)).toEqual(before);
    for (const { sql } of steps) if (sql !== undefined) await made.pool.query(sql);
    expect((await made.prepare()).changed).toBe(false);
  });

  it("takes out again what it added, and nothing else", async () => {
    const made = await testStore(server);
    await made.pool.query(`ALTER TABLE ${made.table} ADD COLUMN created_at timestamptz`);
    const before = await indexes(made);
    const { steps } = await made.prepare();
    expect(steps.map(({ description }) => description)).toContainEqual(
      expect.stringMatching(/created_at .* application's own/),
    );
    await made.prepare({ remove: true });
    expect(await indexes(made)).toEqual(before);
    const { fields } = await made.pool.query(`SELECT * FROM ${made.table}`);
    expect(fields.map(({ name }) => name)).toEqual(["sid", "sess", "expire", "created_at"]);
    expect((await made.prepare({ remove: true })).steps).toEqual([]);
  });

  it("recreates an index whose creation was interrupted, and does not search it meanwhile", async () => {
    const made = await testStore(server);
    for (let number = 0; number < 20; number++) await made.set(`${number}`, record({ username: "ann" }));
    const blocker = new pg.Client({ connectionString: server.url });
    await blocker.connect();
    // Creating an index concurrently waits for older transactions.
    await blocker.query(`BEGIN; SELECT count(*) FROM ${made.table}; LOCK TABLE ${made.table} IN ROW EXCLUSIVE MODE`);
    const making = made.prepare().catch((error) => error);
    const building = async () =>
      (await server.query("SELECT pid FROM pg_stat_progress_create_index WHERE phase LIKE 'waiting%'"))[0]?.pid;
    while ((await building()) === undefined) await delay(5);
    expect((await made.prepare({ dryRun: true })).steps[0]).toMatchObject({
      state: "unneeded",
      description: /being made/,
    });
    await server.query("SELECT pg_terminate_backend($1)", [await building()]);
    expect(await making).toMatchObject({ code: "UNAVAILABLE" });
    await blocker.query("COMMIT");
    await blocker.end();
    expect((await indexes(made)).filter(({ valid }) => !valid)).toHaveLength(1);
    expect((await made.sessions.findByUsername("ann")).sessions).toHaveLength(20);
    const { steps } = await made.prepare();
    expect(steps[0]!.sql).toMatch(/^DROP INDEX CONCURRENTLY/);
    expect((await indexes(made)).every(({ valid }) => valid)).toBe(true);
    expect((await made.sessions.findByUsername("ann")).sessions).toHaveLength(20);
  });

  it("makes another index for another place of the principal, and says so of the old one", async () => {
    const made = await testStore(server, { principal: [["account", "id"]] });
    await made.prepare();
    const { steps } = await made.prepare({ principal: [["account", "id"]] });
    expect(steps.at(-1)).toMatchObject({ state: "unneeded", description: /other places.*DROP INDEX/ });
    await made.set("it", record({ account: { id: 7 }, username: "ann" }));
    expect(await made.sessions.findByUsername("7")).toMatchObject({ sessions: [{ id: "it", username: "7" }] });
    expect((await made.sessions.findByUsername("ann")).sessions).toEqual([]);
  });

  it("tries again if the table is locked, without blocking others meanwhile", async () => {
    const made = await testStore(server);
    await made.prepare();
    await made.pool.query(`ALTER TABLE ${made.table} DROP COLUMN created_at, DROP COLUMN first_seen_at`);
    const blocker = await made.pool.connect();
    await blocker.query(`BEGIN; LOCK TABLE ${made.table} IN SHARE MODE`);
    const making = made.prepare();
    const waiting = async () => (await server.query("SELECT FROM pg_locks WHERE NOT granted")).length > 0;
    while (!(await waiting())) await delay(5);
    while (await waiting()) await delay(5);
    await blocker.query("COMMIT");
    blocker.release();
    expect((await making).changed).toBe(true);
  });

  it("is seen by an application that runs, and so is the loss of an index", async () => {
    const made = await testStore(server, { scan: { maxSessions: 2 } });
    for (let number = 0; number < 5; number++) await made.set(`${number}`, record({ username: "ann" }));
    await made.prepare();
    expect(await made.sessions.findByUsername("ann")).toMatchObject({ sessions: { length: 5 }, partial: false });
    const lost = (await indexes(made)).map(({ name }) => name).filter((name) => name.includes("_actuator_"));
    await made.pool.query(`DROP INDEX ${lost.join(", ")}`);
    expect(await made.sessions.findByUsername("ann")).toMatchObject({ sessions: { length: 2 }, partial: true });
    expect(await made.sessions.findIdByDigest("0".repeat(32))).toBeUndefined();
  });

  it.each([
    ["a table that is not there", { table: "none" }, /no table of this name/],
    ["a table of something else", { schema: "pg_catalog", table: "pg_class" }, /none of connect-pg-simple/],
    ["a user who does not own it", { role: "reader" }, /no permission/],
  ])(
    "says what is wrong with %s",
    async (_, { role, ...options }: { role?: string; table?: string; schema?: string }, message) => {
      const made = await testStore(server);
      await server.query("DROP ROLE IF EXISTS reader");
      await server.query("CREATE ROLE reader LOGIN");
      const url = role === undefined ? server.url : server.url.replace("postgres@", `${role}@`);
      const prepared = prepareConnectPgSimpleSessions({ url, schema: made.schema, ...options });
      await expect(prepared).rejects.toMatchObject({ code: "FAILED_PRECONDITION", message });
    },
  );

  describe("leaves every session as it could be stored without", () => {
    /** Stores a record as text, which pg sends as it is. */
    const setText = ({ store }: TestStore, id: string, text: string) =>
      new Promise<void>((resolve, reject) => {
        store.set(id, text as never, (error) => (error ? reject(error) : resolve()));
      });

    /** How deeply a record may be nested. */
    async function deepest(made: TestStore): Promise<number> {
      let [stored, refused] = [1, 40_000];
      while (refused - stored > 1) {
        const depth = (stored + refused) >> 1;
        const fits = await setText(made, "deep", `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`).then(
          () => true,
          () => false,
        );
        if (fits) stored = depth;
        else refused = depth;
      }
      return stored;
    }

    it("however deeply it is nested", async () => {
      const made = await testStore(server);
      const before = await deepest(made);
      await made.prepare();
      expect(await deepest(made)).toBe(before);
      expect(await made.sessions.findById("deep")).toBeDefined();
    });

    const hostile: readonly (readonly [string, unknown])[] = [
      ["U+0000", "\0"],
      ["halves of surrogate pairs", "\ud800\udfff\udfff"],
      ["a megabyte", "x".repeat(1_000_000)],
      [
        "a megabyte that does not compress",
        Array.from({ length: 300_000 }, () => String.fromCodePoint(0x20000 + ((Math.random() * 0xa000) | 0))).join(""),
      ],
      ["a number beyond all", 1.7976931348623157e308],
      ["a list", [["ann"], { name: "ann" }]],
      ["an object in the place of a name", { toString: "ann", username: { email: "x" } }],
    ];
    it.each(hostile)("with %s for a name, and in a value", async (_, name) => {
      const made = await testStore(server);
      await made.prepare();
      for (const data of [
        { username: name },
        { passport: { user: name } },
        { user: { email: name } },
        { cart: name },
      ]) {
        await made.set("it", record(data));
        await made.touch("it", record(data));
        const session = (await made.sessions.findById("it"))!;
        const username = principalResolver()(JSON.parse(JSON.stringify(data)));
        if (session.attributeNames.length > 0) expect(session.username).toBe(username);
        if (username === undefined) continue;
        const found = await made.sessions.findByUsername(username);
        expect(found.partial || found.sessions.length === 1).toBe(true);
      }
    });

    it.each(["\\", "\\x", "é😀\\\\0", "a".repeat(2600), "\u0001"])("under the id %j", async (id) => {
      const made = await testStore(server);
      await made.prepare();
      await made.set(id, record());
      expect(await made.sessions.findById(id)).toMatchObject({ id });
    });

    it("whatever is in it", async () => {
      const made = await testStore(server);
      await made.prepare();
      let count = 0;
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: "binary", maxLength: 50 }), fc.jsonValue(), async (text, data) => {
          // Never the same again: a session that was ended here stays ended.
          const id = `${++count}${text.toWellFormed().replaceAll("\0", "")}`;
          await made.set(id, record({ user: data, username: data }));
          const username = principalResolver()({ user: data, username: data });
          expect(await made.sessions.findById(id)).toMatchObject({ id, username });
          expect(await made.sessions.delete(id)).toBe(true);
        }),
        { numRuns: 200 },
      );
    });
  });

  it("makes indexes that PostgreSQL uses, also before it knows how the values are spread", async () => {
    const made = await testStore(server);
    await made.pool.query(
      `INSERT INTO ${made.table} SELECT 's' || i, json_build_object('cookie', json_build_object(), 'username', 'u' || i / 4), now() + i * interval '1 second' FROM generate_series(1, 20000) AS i`,
    );
    await made.prepare();
    const plans: string[] = [];
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(
      "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on; SET client_min_messages = log",
    );
    client.on("notice", ({ message }) => plans.push(message ?? ""));
    const { connectPgSimpleSessions } = await import("../../../../src/adapters/sessions/connect-pg-simple/index.ts");
    const sessions = connectPgSimpleSessions(undefined, { pool: client, schema: made.schema });
    const cases: readonly (readonly [RegExp, () => Promise<unknown>])[] = [
      [
        /Index Scan using session_actuator_user_|Bitmap Index Scan on session_actuator_user_/,
        () => sessions.findByUsername("u77"),
      ],
      [/session_actuator_digest_/, () => sessions.findIdByDigest("0".repeat(32))],
      [/Index Scan using session_pkey/, () => sessions.findById("s7")],
      [/Index Scan Backward using "IDX_session_expire"/, () => sessions.list({ limit: 10 })],
      [
        /Index Scan Backward using "IDX_session_expire"/,
        async () =>
          sessions.list({ limit: 10, active: true, after: (await sessions.list({ limit: 10, active: true })).next }),
      ],
      [/Index Scan using session_pkey/, () => sessions.delete("s8")],
    ];
    for (const [index, act] of cases) {
      // The first call may look the table up; from the sixth on a plan for all values may be taken.
      for (let times = 0; times < 7; times++) {
        plans.length = 0;
        await act();
        expect(plans.at(-1)).toMatch(index);
        expect(plans.at(-1)).not.toMatch(/Seq Scan on session/);
      }
    }
  });
});

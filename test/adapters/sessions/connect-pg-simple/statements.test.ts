import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { connectPgSimpleSessions } from "../../../../src/adapters/sessions/connect-pg-simple/index.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { record, testStore } from "./store.ts";

describe.runIf(requirement("postgresql", postgresFound))("statements of connect-pg-simple's sessions", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  async function connected(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  }

  const SECRET = "hunter2";

  it.each([
    ["a name", { user: "ann" }],
    ["a name and more", { user: "ann", secret: SECRET }],
    ["more and a name", { secret: SECRET, user: "ann" }],
    ["a name with quotes", { user: 'a"nn', secret: SECRET }],
    ["an object", { user: { username: "ann", secret: SECRET } }],
    ["a list", { user: ["ann", SECRET] }],
    ["a name at a key that is only similar", { uSer: SECRET, user: "ann" }],
    ["a name at another key", { us_r: SECRET }],
    ["a string", "ann"],
    ["a list of objects", [{ user: SECRET }]],
  ])(
    "take only names, the cookie and what may be the user from the database, if passport is %s",
    async (_, passport) => {
      const { set, schema, prepare } = await testStore(server);
      const secrets = { csrfSecret: SECRET, basket: [SECRET], flash: { error: SECRET }, userId: { id: SECRET } };
      await set("it", record({ passport, user: { username: "ann", password: SECRET }, ...secrets }));
      const client = await connected();
      const answers: string[] = [];
      const pool = {
        async query(text: string, values?: unknown[]) {
          const result = await client.query(text, values);
          answers.push(JSON.stringify(result.rows));
          return result;
        },
      };
      for (const state of ["not prepared", "prepared"]) {
        if (state === "prepared") await prepare();
        const sessions = connectPgSimpleSessions(undefined, { pool, schema });
        const found = await sessions.findById("it");
        expect(found?.attributeNames).toEqual(["passport", "user", ...Object.keys(secrets)]);
        expect((await sessions.list({ limit: 10 })).sessions).toEqual([found]);
        expect((await sessions.findByUsername(found!.username!)).sessions).toEqual([found]);
      }
      expect(answers.filter((answer) => answer.includes("passport"))).toHaveLength(6);
      expect(answers.filter((answer) => answer.includes(SECRET))).toEqual([]);
    },
  );

  it("are planned once for all pages, not for each", async () => {
    const { schema, table, pool: filling } = await testStore(server);
    await filling.query(
      `INSERT INTO ${table} SELECT 's' || i, '{"cookie":{}}', now() + i * interval '1 second' FROM generate_series(1, 20000) AS i`,
    );
    await filling.query(`ANALYZE ${table}`);
    const pool = new pg.Pool({ connectionString: server.url, max: 1 });
    onTestFinished(() => pool.end());
    const sessions = connectPgSimpleSessions(undefined, { pool, schema });
    for (let pages = 0; pages < 10; pages++) expect((await sessions.list({ limit: 100 })).sessions).toHaveLength(100);
    const { rows } = await pool.query(
      "SELECT custom_plans::int, generic_plans::int FROM pg_prepared_statements WHERE statement LIKE '%ORDER BY expire DESC%'",
    );
    expect(rows).toEqual([{ custom_plans: 5, generic_plans: 5 }]);
  });
});

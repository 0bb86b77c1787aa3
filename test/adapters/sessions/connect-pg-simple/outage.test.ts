// @module-tag slow
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import {
  type ConnectPgSimpleOptions,
  connectPgSimpleSessions,
} from "../../../../src/adapters/sessions/connect-pg-simple/index.ts";
import { sessionDigest } from "../../../../src/sessions/session-id.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { expectNoUnhandledRejections, record, type TestStore, testStore } from "./store.ts";

expectNoUnhandledRejections();

const TIMEOUT = 900;
const unavailable = { code: "UNAVAILABLE", reason: "SESSION_STORE_UNAVAILABLE" };

describe.runIf(requirement("postgresql", postgresFound))(
  "sessions of connect-pg-simple, while PostgreSQL is out of reach",
  () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server?.stop());
    beforeEach(() => server.thaw());

    /** Every way to the sessions, each of which says the same. */
    const ways: Readonly<Record<string, (made: TestStore) => ConnectPgSimpleOptions>> = {
      "the store": () => ({}),
      "the application's pool": ({ pool }) => ({ pool }),
      "a URL": () => ({ url: server.url }),
    };

    describe.each(Object.entries(ways))("by %s", (_, way) => {
      async function prepared() {
        const made = await testStore(server);
        await made.prepare();
        await made.set("it", record({ username: "ann" }));
        const sessions = connectPgSimpleSessions(made.store, { ...way(made), timeoutMs: TIMEOUT });
        const calls = [
          () => sessions.findById("it"),
          () => sessions.findByUsername("ann"),
          () => sessions.list({ limit: 9 }),
          () => sessions.count({}),
          () => sessions.findIdByDigest(sessionDigest("it")),
          () => sessions.delete("none"),
        ];
        const answers = () => Promise.all(calls.map((call) => call()));
        return { made, sessions, calls, answers };
      }

      it.each<[string, (server: PostgresServer) => unknown, (server: PostgresServer) => unknown]>([
        ["was killed", (server) => server.kill(), (server) => server.restart()],
        ["is mute", (server) => server.freeze(), (server) => server.thaw()],
      ])("report it in time if it %s, and recover by themselves", async (_, takeAway, giveBack) => {
        const { sessions, calls, answers } = await prepared();
        // Where much else is going on, the first connections may take longer than an answer is given here.
        await expect.poll(() => answers().catch(() => undefined)).toBeDefined();
        const before = await answers();
        await takeAway(server);
        try {
          for (let round = 0; round < 3; round++) {
            const began = performance.now();
            for (const result of await Promise.allSettled(calls.map((call) => call()))) {
              expect(result).toMatchObject({ status: "rejected", reason: unavailable });
              expect(`${(result as PromiseRejectedResult).reason.message}`).not.toMatch(
                /127\.0\.0\.1|\d{4,}|postgres@|ann|SELECT/,
              );
            }
            // Six calls at once, of which four may run; and a machine that is busy with other things.
            expect(performance.now() - began).toBeLessThan(10 * TIMEOUT);
          }
        } finally {
          await giveBack(server);
        }
        // What the connections were when it went, they find out by themselves.
        await expect.poll(() => answers().catch(() => undefined)).toEqual(before);
        await sessions.detach();
      });

      it("lose no session that was stored, whenever it is killed", async () => {
        const { made, sessions } = await prepared();
        const stored: string[] = [];
        let number = 0;
        for (let round = 0; round < 3; round++) {
          const writes = Promise.allSettled(
            Array.from({ length: 200 }, async () => {
              const id = `s${number++}`;
              await made.set(id, record({ username: "bob" }));
              stored.push(id);
            }),
          );
          const reads = Promise.allSettled(Array.from({ length: 20 }, () => sessions.findByUsername("bob")));
          const target = stored.length + 50;
          while (stored.length < target) await new Promise(setImmediate);
          await server.kill();
          for (const result of await reads) {
            if (result.status === "rejected") expect(result.reason).toMatchObject(unavailable);
          }
          await writes;
          await server.restart();
        }
        const found = async () => (await sessions.findByUsername("bob")).sessions.map(({ id }) => id);
        await expect.poll(() => found().catch(() => [])).toEqual(expect.arrayContaining(stored));
        await sessions.detach();
      });
    });

    it("report a missing table clearly", async () => {
      const { sessions, pool, table } = await testStore(server);
      await pool.query(`DROP TABLE ${table}`);
      const message = expect.stringContaining("has no table with this name in the search path. With createTable");
      await expect(sessions.findById("it")).rejects.toMatchObject({ code: "FAILED_PRECONDITION", message });
    });

    it.each([
      ["may not read", "GRANT USAGE ON SCHEMA % TO reader", "has no permission in PostgreSQL for this table."],
      [
        "may only read",
        "GRANT USAGE ON SCHEMA % TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA % TO reader",
        undefined,
      ],
    ])("report clearly that the user %s", async (_, grants, refusal) => {
      const made = await testStore(server);
      await made.set("it", record());
      await server.query(OWN_ROLE);
      await server.query(grants.replaceAll("%", pg.escapeIdentifier(made.schema)));
      const url = server.url.replace("postgres@", "reader@");
      const sessions = connectPgSimpleSessions(undefined, { url, schema: made.schema });
      onTestFinished(() => sessions.detach());
      const message = expect.stringContaining("has no permission in PostgreSQL for this table.");
      if (refusal === undefined) expect(await sessions.findById("it")).toBeDefined();
      else await expect(sessions.findById("it")).rejects.toMatchObject({ code: "FAILED_PRECONDITION", message });
      await expect(sessions.delete("it")).rejects.toMatchObject({ code: "FAILED_PRECONDITION", message });
    });

    it.each([
      [
        "password is wrong",
        (url: URL) => void (url.username = "secretive"),
        "refuses the connection's user name or password.",
      ],
      [
        "database is missing",
        (url: URL) => void (url.pathname = "/nowhere"),
        "has no database with the connection's name.",
      ],
    ])("report clearly that the %s, without the URL", async (_, change, sentence) => {
      await server.query(OWN_ROLE.replaceAll("reader", "secretive"));
      await server.query("ALTER ROLE secretive PASSWORD 'right'");
      const rule = "host all secretive 127.0.0.1/32 scram-sha-256";
      const [{ file }] = await server.query("SELECT current_setting('hba_file') AS file");
      await server.query(
        `COPY (SELECT unnest(ARRAY['${rule}', 'host all all 127.0.0.1/32 trust'])) TO '${file}'; SELECT pg_reload_conf()`,
      );
      const url = new URL(server.url);
      url.password = "secret-word";
      change(url);
      const sessions = connectPgSimpleSessions(undefined, { url: url.href });
      onTestFinished(() => sessions.detach());
      const refused = () =>
        sessions.findById("it").then(
          () => undefined,
          ({ code, message }) => ({ code, message }),
        );
      await expect.poll(refused).toEqual({ code: "FAILED_PRECONDITION", message: `PostgreSQL ${sentence}` });
    });
  },
);

const OWN_ROLE = "DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$";

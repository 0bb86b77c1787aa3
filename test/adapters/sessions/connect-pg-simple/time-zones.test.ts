// @module-tag slow
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { connectPgSimpleSessions } from "../../../../src/adapters/sessions/connect-pg-simple/index.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { record, testStore } from "./store.ts";

const HOUR = 3_600_000;

/** A connection whose clocks are those of `zone`. */
const inZone = (zone: string) => ({ options: `-c TimeZone=${zone}` });

describe.runIf(requirement("postgresql", postgresFound))(
  "the expiry that connect-pg-simple writes without a time zone",
  () => {
    describe.each(["America/New_York", "Asia/Kolkata", "UTC"])("on a server in %s", (serverZone) => {
      let server: PostgresServer;
      beforeAll(async () => {
        server = await startPostgres({ settings: { TimeZone: serverZone } });
      });
      afterAll(() => server?.stop());

      it.each([
        ["the server's zone", {}, undefined],
        ["a zone of its own", inZone("Pacific/Auckland"), "Pacific/Auckland"],
        ["UTC", inZone("UTC"), "UTC"],
      ])("is read as it was meant by the application in %s, and by a reader by URL", async (_, config, appZone) => {
        const { sessions, set, schema } = await testStore(server, {}, config);
        const zone = appZone ?? serverZone;
        const [plain, named, namedFromFar] = [
          { url: server.url },
          { url: server.url, timeZone: zone },
          { url: `${server.url}?options=-c%20TimeZone%3DAsia/Tokyo`, timeZone: zone },
        ].map((options) => connectPgSimpleSessions(undefined, { schema, ...options }));
        onTestFinished(async () => {
          for (const reader of [plain, named, namedFromFar]) await reader!.detach();
        });
        const used = Date.now();
        await set("live", { cookie: { originalMaxAge: 60_000, expires: new Date(used + 60_000) } });
        await set("dead", record({}, -60_000));
        const readers = [
          sessions,
          named,
          namedFromFar,
          ...(appZone === undefined || appZone === serverZone ? [plain] : []),
        ];
        for (const reader of readers) {
          expect(await reader!.findById("live")).toMatchObject({ expired: false, lastAccessedTime: used });
          expect(await reader!.findById("dead")).toMatchObject({ expired: true });
          expect((await reader!.list({ limit: 9, active: true })).sessions.map(({ id }) => id)).toEqual(["live"]);
          expect((await reader!.list({ limit: 9, active: false })).sessions.map(({ id }) => id)).toEqual(["dead"]);
          expect([await reader!.count!({ active: true }), await reader!.count!({ active: false })]).toEqual([1, 1]);
        }
      });
    });

    describe("in the hour that a clock shows twice", () => {
      // New York puts its clocks back from 2:00 to 1:00 at this moment.
      const change = Date.UTC(2040, 10, 4, 6);
      let server: PostgresServer;
      beforeAll(async () => {
        server = await startPostgres({ settings: { TimeZone: "America/New_York" } });
      });
      afterAll(() => server?.stop());

      it.each([
        ["the first time", change - HOUR / 2],
        ["the second time", change + HOUR / 2],
        ["before", change - 2 * HOUR],
        ["after", change + 2 * HOUR],
      ])("is resolved by the cookie: %s", async (_, expires) => {
        const { sessions, set } = await testStore(server);
        await set("it", { cookie: { originalMaxAge: 60_000, expires: new Date(expires + 123) } });
        expect((await sessions.findById("it"))!.lastAccessedTime).toBe(expires + 123 - 60_000);
      });

      it("is taken as the earlier one if the later would be a use in the future", async () => {
        const { sessions, set, touch } = await testStore(server);
        // A session so long that it was used just now and expires in that hour.
        const age = change - HOUR / 2 - Date.now();
        await set("it", { cookie: { originalMaxAge: age, expires: new Date(Date.now() + age - 10 * HOUR) } });
        const other = connectPgSimpleSessions(undefined, { url: server.url, schema: (await schemaOf(server))! });
        onTestFinished(() => other.detach());
        await touch("it", { cookie: { originalMaxAge: age, expires: new Date(change - HOUR / 2) } });
        const { lastAccessedTime } = (await other.findById("it"))!;
        expect(Math.abs(lastAccessedTime! - (change - HOUR / 2 - age))).toBeLessThanOrEqual(1000);
        expect((await sessions.findById("it"))!.expired).toBe(false);
      });
    });

    it.each(["Mars/Olympus", "+02:00", "02:00", ""])("is read in no zone called %j", (timeZone) => {
      expect(() => connectPgSimpleSessions(undefined, { url: "postgres://localhost/x", timeZone })).toThrow(
        /name of a time zone/,
      );
    });
  },
);

async function schemaOf(server: PostgresServer): Promise<string | undefined> {
  const [row] = await server.query(
    "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'schema%' ORDER BY oid DESC LIMIT 1",
  );
  return row?.nspname;
}

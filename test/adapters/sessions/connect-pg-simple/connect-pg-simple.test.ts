import session from "express-session";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { connectPgSimpleSessions } from "../../../../src/adapters/sessions/connect-pg-simple/index.ts";
import type { PrincipalPaths } from "../../../../src/sessions/principal.ts";
import type { Session } from "../../../../src/sessions/session.ts";
import { sessionDigest } from "../../../../src/sessions/session-id.ts";
import type { SessionStore } from "../../../../src/sessions/store.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { startApplication, type TestApplication } from "../express-session/application.ts";
import { expectNoUnhandledRejections, record, type TestStore, testStore } from "./store.ts";

expectNoUnhandledRejections();

const ids = (sessions: readonly Session[]) => sessions.map(({ id }) => id).sort();

describe.runIf(requirement("postgresql", postgresFound))("sessions of connect-pg-simple", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  async function application(store: session.Store, cookie?: session.CookieOptions): Promise<TestApplication> {
    const application = await startApplication(store, cookie);
    onTestFinished(() => application.close());
    return application;
  }

  describe.each(["not prepared", "prepared"])("%s", (state) => {
    async function aStore(
      ...args: Parameters<typeof testStore> extends [unknown, ...infer Rest] ? Rest : never
    ): Promise<TestStore> {
      const made = await testStore(server, ...args);
      if (state === "prepared") await made.prepare({ principal: args[0]?.principal });
      return made;
    }

    it("say of a login whatever the store knows", async () => {
      const { store, sessions } = await aStore();
      const browser = (await application(store)).browser();
      const began = Date.now();
      await browser.post("/login/ann");
      const ended = Date.now();
      const found = (await sessions.findById(browser.sessionId!))!;
      expect(found).toMatchObject({
        id: browser.sessionId,
        attributeNames: ["user"],
        maxInactiveInterval: 60,
        expired: false,
        username: "ann",
      });
      for (const time of [found.creationTime!, found.firstSeenTime, found.lastAccessedTime!]) {
        expect(time).toBeGreaterThanOrEqual(began - 1);
        expect(time).toBeLessThanOrEqual(ended);
      }
      expect(await sessions.findByUsername("ann")).toEqual({ sessions: [found], partial: false });
      expect((await sessions.list({ limit: 10 })).sessions).toEqual([found]);
    });

    it("follow logins, switches of the user and logouts", async () => {
      const { store, sessions } = await aStore();
      const { browser } = await application(store);
      const [one, two, anonymous] = [browser(), browser(), browser()];
      await one.post("/login/ann");
      await two.post("/login/ann");
      await anonymous.post("/basket");
      expect(ids((await sessions.findByUsername("ann")).sessions)).toEqual([one.sessionId!, two.sessionId!].sort());
      const before = one.sessionId!;
      await one.post("/login/bob");
      expect(one.sessionId).not.toBe(before);
      expect(await sessions.findById(before)).toBeUndefined();
      expect(ids((await sessions.findByUsername("ann")).sessions)).toEqual([two.sessionId]);
      expect(ids((await sessions.findByUsername("bob")).sessions)).toEqual([one.sessionId]);
      await two.post("/logout");
      expect(await sessions.findByUsername("ann")).toEqual({ sessions: [], partial: false });
      expect(await sessions.count({})).toBe(2);
    });

    it("find the id of a digest by the index alone", async () => {
      const { sessions, set } = await aStore();
      for (const id of ["plain", "back\\slash\\0", "é😀", "%'\""]) {
        await set(id, record());
        expect(await sessions.findIdByDigest(sessionDigest(id))).toBe(state === "prepared" ? id : undefined);
      }
      expect(await sessions.findIdByDigest(sessionDigest("none"))).toBe(state === "prepared" ? null : undefined);
    });

    it.each([
      ["text with quotes", 'o\'hara \\ "x"', 'o\'hara \\ "x"'],
      ["number", 42, "42"],
      ["fraction", 1.5, "1.5"],
      ["half of a surrogate pair", "ann\ud83d", "ann\ud83d"],
      ["U+0000", "ann\0", "ann\0"],
      ["longer than the index holds", "é".repeat(5000), "é".repeat(5000)],
    ])("find a user whose name is a %s", async (_, stored, username) => {
      const { sessions, set } = await aStore();
      await set("it", record({ passport: { user: stored } }));
      await set("other", record({ passport: { user: "é".repeat(4999) } }));
      await set("third", record({ cart: "\0" }));
      const { sessions: found, partial } = await sessions.findByUsername(username);
      expect({ ids: ids(found), partial }).toEqual({ ids: ["it"], partial: false });
      expect(found[0]!.username).toBe(username);
    });

    it.each<[string, PrincipalPaths, object, string]>([
      ["a place in an array", [["roles", "1"]], { roles: ["x", "ann"] }, "ann"],
      ["a property that looks like one", [["roles", "1"]], { roles: { 1: "ann" } }, "ann"],
      ["the length of an array", [["roles", "length"]], { roles: ["x", "y"] }, "2"],
      ["the cookie", [["cookie", "domain"]], {}, "example.com"],
      ["a name with quotes", [["o'hara\\", 'x"']], { "o'hara\\": { 'x"': "ann" } }, "ann"],
      ["the second of two", [["none"], ["who"]], { who: "ann", none: "" }, "ann"],
    ])("find a user by %s", async (_, principal, data, username) => {
      const { sessions, set } = await aStore({ principal });
      const { cookie, ...rest } = record(data) as { cookie: object };
      await set("it", { cookie: { ...cookie, domain: "example.com" }, ...rest });
      const { sessions: found, partial } = await sessions.findByUsername(username);
      expect({ found: found.map(({ id, username }) => ({ id, username })), partial }).toEqual({
        found: [{ id: "it", username }],
        partial: false,
      });
      expect(found[0]).toMatchObject({ maxInactiveInterval: 60, attributeNames: Object.keys(data) });
    });

    it("show what a record says that PostgreSQL cannot take apart", async () => {
      const { sessions, set } = await aStore();
      await set("it", record({ username: "ann", "a\0b": "\ud800" }));
      expect(await sessions.findById("it")).toMatchObject({
        attributeNames: ["username", "a\0b"],
        username: "ann",
        maxInactiveInterval: 60,
      });
    });

    it("mark a search as partial if a record is too large to find its user", async () => {
      const { sessions, set } = await aStore();
      await set("it", record({ username: "ann", text: `\0${"x".repeat(100_000)}` }));
      expect(await sessions.findByUsername("ann")).toEqual({ sessions: [], partial: true });
      expect(await sessions.findById("it")).toMatchObject({ attributeNames: [], username: undefined });
    });

    it("show what has expired until the store removes it, and never wake it", async () => {
      const { store, sessions, set } = await aStore();
      await set("old", record({ username: "ann" }, -5_000));
      await set("new", record({ username: "ann" }));
      expect(await sessions.findById("old")).toMatchObject({ expired: true });
      expect(ids((await sessions.findByUsername("ann")).sessions)).toEqual(["new", "old"]);
      expect(await sessions.count({ active: true })).toBe(1);
      expect(await sessions.count({ active: false })).toBe(1);
      expect(ids((await sessions.list({ limit: 9, active: true })).sessions)).toEqual(["new"]);
      expect(ids((await sessions.list({ limit: 9, active: false })).sessions)).toEqual(["old"]);
      await new Promise((resolve) => store.get("old", resolve));
      expect(await sessions.delete("old")).toBe(true);
      expect(await sessions.delete("old")).toBe(false);
      expect(ids((await sessions.list({ limit: 9 })).sessions)).toEqual(["new"]);
    });

    it("list page by page, latest expiry first", async () => {
      const { sessions, set, pool, table } = await aStore();
      for (let number = 0; number < 25; number++) await set(`s${number}`, record({}, 60_000 + 1000 * (number >> 2)));
      const { rows } = await pool.query(`SELECT sid FROM ${table} ORDER BY expire DESC, sid DESC`);
      const listed: string[] = [];
      let after: string | undefined;
      let pages = 0;
      do {
        const page = await sessions.list({ limit: 4, after });
        listed.push(...page.sessions.map(({ id }) => id));
        after = page.next;
        pages++;
      } while (after !== undefined);
      expect(listed).toEqual(rows.map(({ sid }) => sid));
      expect(pages).toBe(7);
      expect((await sessions.list({ limit: 25 })).next).toBeUndefined();
    });

    it("know no id that PostgreSQL cannot hold", async () => {
      const { sessions, set } = await aStore();
      await set("\ufffd", record());
      for (const id of ["\ud800", "a\0"]) {
        expect(await sessions.findById(id)).toBeUndefined();
        expect(await sessions.delete(id)).toBe(false);
      }
      expect(await sessions.count({})).toBe(1);
    });

    it("take a function for the principal, and search without an index then", async () => {
      const principal = (data: Readonly<Record<string, unknown>>) => (data.who as string[] | undefined)?.join("+");
      const { sessions, set } = await aStore({ principal });
      await set("it", record({ who: ["ann", "bob"] }));
      for (let number = 0; number < 250; number++) await set(`other ${number}`, record({ who: [`${number}`] }));
      expect(await sessions.findByUsername("ann+bob")).toMatchObject({ sessions: [{ id: "it" }], partial: false });
    });

    it("keep the last access unchanged by reading", async () => {
      const { sessions, set, pool, table } = await aStore();
      await set("it", record({ username: "ann" }));
      const all = async () => (await pool.query(`SELECT sid, sess::text, expire::text, xmin FROM ${table}`)).rows;
      const before = await all();
      await sessions.findById("it");
      await sessions.findByUsername("ann");
      await sessions.list({ limit: 1 });
      expect(await all()).toEqual(before);
    });
  });

  it("know when a session was last saved, and to a second when it was touched, even by another process", async () => {
    const { set, touch, sessions, pool, schema } = await testStore(server);
    const other = connectPgSimpleSessions(undefined, { pool, schema });
    const lastAccess = async ({ findById }: SessionStore) => (await findById("it"))!.lastAccessedTime!;
    const saved = Date.now() - 10_000;
    await set("it", { cookie: { originalMaxAge: 60_000, expires: new Date(saved + 60_000) } });
    expect(await lastAccess(other)).toBe(saved);
    const before = Date.now();
    await touch("it", record());
    const after = Date.now();
    const seen = await lastAccess(other);
    expect(seen).toBeGreaterThan(before - 1000);
    expect(seen).toBeLessThanOrEqual(after);
    expect(await lastAccess(other)).toBe(seen);
    expect(await lastAccess(sessions)).toBeGreaterThanOrEqual(seen);
    expect(await lastAccess(sessions)).toBeLessThanOrEqual(after);
  });

  it("count the age of a session without a cookie's from the store's ttl", async () => {
    const { sessions, set } = await testStore(server, {}, {}, { ttl: 300 });
    const before = Date.now();
    await set("it", record({}, null));
    const { maxInactiveInterval, lastAccessedTime } = (await sessions.findById("it"))!;
    expect(maxInactiveInterval).toBe(300);
    expect(lastAccessedTime).toBeGreaterThan(before - 1000);
    expect(lastAccessedTime).toBeLessThanOrEqual(Date.now());
  });

  it("keep a session ended that a request saves which was under way", async () => {
    const { store, sessions } = await testStore(server);
    let goOn = () => {};
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const waiting = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const application = await startApplication(store, undefined, async () => {
      arrive();
      await waiting;
    });
    onTestFinished(() => application.close());
    const browser = application.browser();
    await browser.post("/login/ann");
    const id = browser.sessionId!;
    const response = browser.post("/basket");
    await arrived;
    expect(await sessions.delete(id)).toBe(true);
    goOn();
    expect((await response).status).toBe(200);
    expect(await sessions.findById(id)).toBeUndefined();
  });

  it("are the same for two instances of the application", async () => {
    const one = await testStore(server);
    await one.prepare();
    const pool = new pg.Pool({ connectionString: server.url });
    const { default: connectPgSimple } = await import("connect-pg-simple");
    const store = new (connectPgSimple(session))({ pool, schemaName: one.schema, pruneSessionInterval: false });
    const two = connectPgSimpleSessions(store);
    onTestFinished(async () => {
      await two.detach();
      await pool.end();
    });
    const browser = (await application(one.store)).browser();
    await browser.post("/login/ann");
    const [here, there] = await Promise.all(
      [one, { sessions: two }].map(({ sessions }) => sessions.findByUsername("ann")),
    );
    expect(there).toEqual(here);
    expect(here!.sessions).toHaveLength(1);
    expect(await two.delete(browser.sessionId!)).toBe(true);
    expect(await one.sessions.findById(browser.sessionId!)).toBeUndefined();
    expect(await (await browser.get("/")).json()).toEqual({ user: null });
  });

  it("say that a search is cut off, and by which bound", async () => {
    const { sessions, set } = await testStore(server, { scan: { maxSessions: 3 } });
    for (let number = 0; number < 5; number++)
      await set(`${number}`, record({ username: "ann" }, 60_000 + 1000 * number));
    const { sessions: found, partial } = await sessions.findByUsername("ann");
    // Those that expire last come first.
    expect({ ids: ids(found), partial }).toEqual({ ids: ["2", "3", "4"], partial: true });
  });

  it("say that a search is cut off by its time", async () => {
    const { sessions, pool, table } = await testStore(server, { scan: { maxMs: 0.001 } });
    await pool.query(
      `INSERT INTO ${table} SELECT 's' || i, '{"username":"ann"}', now() + i * interval '1 second' FROM generate_series(1, 1500) AS i`,
    );
    const { sessions: found, partial } = await sessions.findByUsername("ann");
    expect({ found: found.length, partial }).toEqual({ found: 1000, partial: true });
  });

  it("work by a store that has its own pool, by jsonb and by a column with a time zone", async () => {
    const { sessions, set, pool, table, prepare } = await testStore(server, {}, {}, {
      conString: server.url,
    } as object);
    await pool.query(`ALTER TABLE ${table} ALTER sess TYPE jsonb, ALTER expire TYPE timestamptz`);
    await prepare();
    await set("it", record({ username: "ann" }));
    expect(await sessions.findByUsername("ann")).toMatchObject({
      sessions: [{ id: "it", attributeNames: ["username"], expired: false, maxInactiveInterval: 60 }],
      partial: false,
    });
    expect(await sessions.count({ active: true })).toBe(1);
    expect((await sessions.list({ limit: 1, active: true })).sessions).toHaveLength(1);
  });

  it("list and search without an index on expire too", async () => {
    const { sessions, set, pool, schema } = await testStore(server);
    await pool.query(`DROP INDEX ${pg.escapeIdentifier(schema)}."IDX_session_expire"`);
    for (let number = 0; number < 5; number++) await set(`${number}`, record({ username: "ann" }));
    await set("old", record({ username: "ann" }, -5000));
    expect((await sessions.findByUsername("ann")).sessions).toHaveLength(6);
    const first = await sessions.list({ limit: 3, active: true });
    const second = await sessions.list({ limit: 3, active: true, after: first.next });
    expect(ids([...first.sessions, ...second.sessions])).toEqual(["0", "1", "2", "3", "4"]);
  });

  it("refuse other stores than connect-pg-simple's", () => {
    const store = new session.MemoryStore();
    expect(() => connectPgSimpleSessions(store)).toThrow(/connect-pg-simple made/);
    const pool = { query: async () => ({ rows: [] }) };
    expect(() => connectPgSimpleSessions(store, { pool, table: "session" })).toThrow(/connect-pg-simple made/);
    expect(Object.getOwnPropertyNames(store)).toEqual(Object.getOwnPropertyNames(new session.MemoryStore()));
    expect(() => connectPgSimpleSessions(undefined)).toThrow(/`pool` or `url` must be given/);
  });

  it("restore the store", async () => {
    const { store, sessions } = await testStore(server);
    const own = Object.keys(Object.getOwnPropertyDescriptors(store)).sort();
    expect(own).toContain("set");
    await sessions.detach();
    expect(Object.keys(Object.getOwnPropertyDescriptors(store))).not.toContain("set");
  });
});

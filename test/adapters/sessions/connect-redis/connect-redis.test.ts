import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Session } from "../../../../src/sessions/session.ts";
import { sessionDigest } from "../../../../src/sessions/session-id.ts";
import { expectFreshSession } from "../../../support/fresh-session.ts";
import { indexedIds } from "../../../support/redis-index.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { type ApplicationOptions, startForTest, VERSIONS } from "./application.ts";

const INDEX = "actuator:sessions:sess:";
const SETS = ["accessed", "expires", "users"];

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
afterAll(() => expect(unhandled).toEqual([]));

describe.runIf(requirement("redis-server", redisFound))("sessions of connect-redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());
  beforeEach(() => server.command("FLUSHALL"));

  const start = (options?: ApplicationOptions) => startForTest(server.url, options);

  const ids = (sessions: readonly Session[]) => sessions.map(({ id }) => id).sort();
  const keys = async (pattern: string) => ((await server.command("KEYS", pattern)) as string[]).sort();

  describe.each(Object.keys(VERSIONS) as (keyof typeof VERSIONS)[])("%s", (version) => {
    it("shows a visitor's session from the login to the logout", async () => {
      const { sessions, browser } = await start({ version });
      const visitor = browser();
      const before = Date.now();
      await visitor.post("/login/alice");
      const found = await sessions.findById(visitor.id);
      expectFreshSession(found, visitor.id, before);
      expect(await sessions.findByUsername!("alice")).toEqual({ sessions: [found], partial: false });
      expect(await sessions.findByUsername!("alic")).toEqual({ sessions: [], partial: false });
      expect((await sessions.list!({ limit: 10 })).sessions).toEqual([found]);
      expect(await sessions.findIdByDigest!(sessionDigest(visitor.id))).toBe(visitor.id);
      await visitor.post("/logout");
      expect(await sessions.findById(visitor.id)).toBeUndefined();
      expect((await sessions.findByUsername!("alice")).sessions).toEqual([]);
      for (const set of SETS) expect(await indexedIds(server, INDEX + set)).toEqual([]);
    });

    it("is moved from user to user, and to another id", async () => {
      const { sessions, browser } = await start({ version });
      const visitor = browser();
      await visitor.post("/login/alice");
      const first = visitor.id;
      await visitor.post("/become/bob");
      expect(visitor.id).toBe(first);
      expect(await indexedIds(server, `${INDEX}users`)).toEqual([first]);
      expect(await sessions.findByUsername!("alice")).toEqual({ sessions: [], partial: false });
      expect(ids((await sessions.findByUsername!("bob")).sessions)).toEqual([first]);
      await visitor.post("/login/bob");
      expect(visitor.id).not.toBe(first);
      expect(ids((await sessions.findByUsername!("bob")).sessions)).toEqual([visitor.id]);
      // A search that filled the index meanwhile may have put the old one back: then it goes again.
      await expect.poll(() => indexedIds(server, `${INDEX}users`)).toEqual([visitor.id]);
    });

    it("is ended for good, and once", async () => {
      const { sessions, browser } = await start({ version });
      const visitor = browser();
      await visitor.post("/login/alice");
      expect(await sessions.delete!(visitor.id)).toBe(true);
      expect(await sessions.delete!(visitor.id)).toBe(false);
      expect(await (await visitor.get("/")).status).toBe(200);
      expect(await sessions.findById(visitor.id)).toBeUndefined();
      expect(await keys("sess:*")).toEqual([]);
      expect(await indexedIds(server, `${INDEX}users`)).toEqual([]);
      expect((await sessions.list!({ limit: 10 })).sessions).toEqual([]);
    });
  });

  it("stores nothing for a visitor who only looks, and nothing beside the application's own saves", async () => {
    const { browser } = await start();
    await browser().get("/");
    expect(await keys("*")).toEqual([]);
    const visitor = browser();
    await visitor.post("/login/alice");
    const text = await server.command("GET", `sess:${visitor.id}`);
    expect(Object.keys(JSON.parse(String(text)))).toEqual(["cookie", "user"]);
  });

  it("counts no access by looking, and those of requests", async () => {
    const { sessions, browser } = await start();
    const visitor = browser();
    await visitor.post("/login/alice");
    const key = `sess:${visitor.id}`;
    const first = await sessions.findById(visitor.id);
    const lifetime = Number(await server.command("PEXPIRETIME", key));
    await delay(5);
    expect(await sessions.findById(visitor.id)).toEqual(first);
    expect((await sessions.findByUsername!("alice")).sessions).toEqual([first]);
    expect((await sessions.list!({ limit: 1 })).sessions).toEqual([first]);
    expect(await server.command("PEXPIRETIME", key)).toBe(lifetime);
    await delay(1500);
    await visitor.get("/");
    const used = await sessions.findById(visitor.id);
    expect(used!.lastAccessedTime! - first!.lastAccessedTime!).toBeGreaterThanOrEqual(1000);
    expect(used!.lastAccessedTime!).toBeLessThanOrEqual(Date.now());
    expect(used!.creationTime).toBe(first!.creationTime);
  });

  it("lists the newest access first, page by page, and each session once", async () => {
    const { sessions, browser } = await start({ sessions: { index: { intervalMs: 0 } } });
    const visitors = Array.from({ length: 7 }, browser);
    for (const visitor of visitors) await visitor.post("/login/alice");
    await visitors[2]!.get("/");
    await sessions.prepare!();
    const order = [2, 6, 5, 4, 3, 1, 0].map((number) => visitors[number]!.id);
    const listed: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await sessions.list!({ limit: 3, after });
      expect(page.partial).toBe(false);
      listed.push(...page.sessions.map(({ id }) => id));
      after = page.next;
      if (after === undefined) break;
    }
    expect(listed).toEqual(order);
    expect(await sessions.count!({})).toBe(7);
    expect(await sessions.count!({ active: false })).toBe(0);
    expect(await sessions.list!({ limit: 3, active: false })).toEqual({ sessions: [], partial: false });
  });

  it("lists sessions of one and the same moment once each", async () => {
    const { sessions } = await start();
    const many = Array.from({ length: 50 }, (_, number) => `id-${number}-é`);
    const record = JSON.stringify({ cookie: { originalMaxAge: null } });
    for (const id of many) await server.command("SET", `sess:${id}`, record);
    await sessions.prepare!();
    for (const id of many) await server.command("ZADD", `${INDEX}accessed`, "1024", id);
    const listed: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await sessions.list!({ limit: 7, after });
      listed.push(...page.sessions.map(({ id }) => id));
      after = page.next;
      if (after === undefined) break;
    }
    expect(listed.sort()).toEqual(many.sort());
  });

  it("remembers when it first saw a session that is older than the index, over a restart", async () => {
    const before = await start({ sessions: false });
    const visitor = before.browser();
    await visitor.post("/login/alice");
    const now = await start();
    const seen = await now.sessions.findById(visitor.id);
    expect(seen).toMatchObject({ creationTime: undefined, username: "alice" });
    await delay(5);
    const later = await start();
    expect((await later.sessions.findById(visitor.id))!.firstSeenTime).toBe(seen!.firstSeenTime);
    await visitor.at(later).post("/basket");
    expect((await later.sessions.findById(visitor.id))!.firstSeenTime).toBe(seen!.firstSeenTime);
  });

  it("keeps the creation time that another instance saw", async () => {
    const [one, other] = [await start(), await start()];
    const visitor = one.browser();
    await visitor.post("/login/alice");
    const created = (await one.sessions.findById(visitor.id))!.creationTime;
    expect(created).toBeDefined();
    await visitor.at(other).post("/basket");
    expect((await other.sessions.findById(visitor.id))!.creationTime).toBe(created);
    await visitor.at(other).post("/become/bob");
    expect((await one.sessions.findByUsername!("alice")).sessions).toEqual([]);
    expect(ids((await one.sessions.findByUsername!("bob")).sessions)).toEqual([visitor.id]);
  });

  it("is not saved again by a request that was under way in another instance", async () => {
    const waiting = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const beforeBasket = async () => {
      reached.resolve();
      await waiting.promise;
    };
    const [one, other] = [await start(), await start({ beforeBasket })];
    const visitor = one.browser();
    await visitor.post("/login/alice");
    const shopping = visitor.at(other).post("/basket");
    await reached.promise;
    expect(await one.sessions.delete!(visitor.id)).toBe(true);
    waiting.resolve();
    await shopping;
    await expect.poll(() => keys("sess:*")).toEqual([]);
    await expect.poll(() => indexedIds(server, `${INDEX}accessed`)).toEqual([]);
    expect((await one.sessions.findByUsername!("alice")).sessions).toEqual([]);
  });

  it("follows a session whose lifetime the application changes", async () => {
    const { sessions, browser } = await start();
    const visitor = browser();
    await visitor.post("/login/alice");
    await visitor.post("/remember");
    expect(await sessions.findById(visitor.id)).toMatchObject({ maxInactiveInterval: 3600 });
    const inAnHour = `${Date.now() + 3_500_000}`;
    expect(await server.command("ZCOUNT", `${INDEX}expires`, inAnHour, "+inf")).toBe(1);
  });

  it("believes no lifetime that the record does not allow", async () => {
    const { sessions, browser } = await start();
    const visitor = browser();
    await visitor.post("/login/alice");
    const seen = (await sessions.findById(visitor.id))!.lastAccessedTime;
    await server.command("EXPIRE", `sess:${visitor.id}`, "3600");
    await delay(5);
    expect((await sessions.findById(visitor.id))!.lastAccessedTime).toBe(seen);
  });

  it("drops what vanished behind its back, and shows it no more", async () => {
    const { sessions, browser } = await start();
    const visitor = browser();
    await visitor.post("/login/alice");
    await sessions.prepare!();
    await server.command("DEL", `sess:${visitor.id}`);
    expect(await sessions.findByUsername!("alice")).toEqual({ sessions: [], partial: false });
    expect(await sessions.list!({ limit: 5 })).toMatchObject({ sessions: [] });
    for (const set of SETS) await expect.poll(() => indexedIds(server, INDEX + set)).toEqual([]);
  });

  it("prunes what should have expired when a session is written, however much it is, and nothing that is there", async () => {
    const { sessions, browser } = await start();
    const [early, late] = [browser(), browser()];
    await early.post("/login/alice");
    const gone = Array.from({ length: 2_000 }, (_, at) => `gone${at}`);
    await server.command("ZADD", `${INDEX}expires`, ...gone.flatMap((id) => ["1", `:${id}`]));
    await server.command("ZADD", `${INDEX}accessed`, ...gone.flatMap((id) => ["4398046511104", id]));
    const [member] = (await server.command("ZRANGE", `${INDEX}users`, "0", "0")) as [string];
    await server.command("ZADD", `${INDEX}expires`, "1", member);
    // Pruning happens once a second.
    await delay(1_000);
    await late.post("/login/bob");
    const both = [early.id, late.id].sort();
    for (const set of SETS) {
      await expect.poll(async () => (await indexedIds(server, INDEX + set)).sort()).toEqual(both);
    }
    expect(await sessions.count!({})).toBe(2);
  });

  it("treats the index as a hint: a record that another client rewrote belongs to its new user", async () => {
    const { sessions, browser } = await start();
    const visitor = browser();
    await visitor.post("/login/alice");
    await sessions.prepare!();
    const record = JSON.parse(String(await server.command("GET", `sess:${visitor.id}`)));
    const stolen = JSON.stringify({ ...record, user: { username: "mallory" } });
    await server.command("SET", `sess:${visitor.id}`, stolen, "KEEPTTL");
    expect((await sessions.findByUsername!("alice")).sessions).toEqual([]);
    await expect.poll(async () => ids((await sessions.findByUsername!("mallory")).sessions)).toEqual([visitor.id]);
  });

  it("skips whatever else stands under the prefix", async () => {
    const { sessions, browser } = await start({ sessions: { scan: { maxMs: 5000 } } });
    const visitor = browser();
    await visitor.post("/login/alice");
    await server.command("HSET", "sess:hash", "a", "alice");
    await server.command("SET", "sess:text", "alice, but no JSON");
    await server.command("SET", "sess:list", '["alice"]');
    await server.command("SET", "sess:null", "null");
    await server.command("SET", "sess:bare", '{"user":"alice"}');
    const found = await sessions.findByUsername!("alice");
    expect(ids(found.sessions)).toEqual([visitor.id, "bare"].sort());
    expect(found.partial).toBe(false);
    for (const id of ["hash", "text", "list", "null"]) expect(await sessions.findById(id)).toBeUndefined();
    expect(await sessions.findById("bare")).toMatchObject({ attributeNames: ["user"], username: "alice" });
    await sessions.prepare!();
    expect((await sessions.list!({ limit: 10 })).sessions).toHaveLength(2);
  });

  it("sends nothing but the store's own commands if it is passive, until an operator asks", async () => {
    const { sessions, browser } = await start({ sessions: { passive: true, index: { prefix: "never:" } } });
    await server.command("CONFIG", "RESETSTAT");
    const visitor = browser();
    await visitor.post("/login/alice");
    await visitor.post("/basket");
    const sent = String(await server.command("INFO", "commandstats")).match(/(?<=^cmdstat_)[a-z]+(?=:)/gm);
    expect(new Set(sent)).toEqual(new Set(["get", "set", "del"]));
    const { sessions: found, partial } = await sessions.findByUsername!("alice");
    expect({ ids: ids(found), partial }).toEqual({ ids: [visitor.id], partial: false });
    expect(await sessions.delete!(visitor.id)).toBe(true);
    expect(await keys("sess:*")).toEqual([]);
  });

  describe("without an index", () => {
    it("searches and lists by walking over the keys", async () => {
      const { sessions, browser } = await start({ sessions: { index: false } });
      const visitors = Array.from({ length: 30 }, browser);
      await Promise.all(visitors.map((visitor, number) => visitor.post(`/login/user-${number % 3}`)));
      expect(await keys("actuator:*")).toEqual([]);
      const all = visitors.map(({ id }) => id).sort();
      const some = visitors.flatMap(({ id }, number) => (number % 3 === 1 ? [id] : [])).sort();
      const found = await sessions.findByUsername!("user-1");
      expect(ids(found.sessions)).toEqual(some);
      expect(found.partial).toBe(false);
      expect(found.sessions[0]).toMatchObject({ creationTime: expect.any(Number), maxInactiveInterval: 60 });
      const listed: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await sessions.list!({ limit: 4, after });
        expect(page.sessions.length).toBeLessThanOrEqual(4);
        listed.push(...page.sessions.map(({ id }) => id));
        after = page.next;
        if (after === undefined) break;
      }
      expect([...new Set(listed)].sort()).toEqual(all);
      expect(await sessions.count!({})).toBe(30);
      expect(sessions.findIdByDigest).toBeUndefined();
      expect(await sessions.delete!(all[0]!)).toBe(true);
      expect(await keys("sess:*")).toHaveLength(29);
    });

    it("takes a prefix for what it is, and no pattern", async () => {
      const { sessions, browser } = await start({ sessions: { index: false }, store: { prefix: "s*[a]?\\:" } });
      const visitor = browser();
      await visitor.post("/login/alice");
      await server.command("SET", "s-else-a-:b", '{"user":"alice"}');
      expect(ids((await sessions.findByUsername!("alice")).sessions)).toEqual([visitor.id]);
      expect(ids((await sessions.list!({ limit: 10 })).sessions)).toEqual([visitor.id]);
    });

    it("says that a search is partial which its bounds cut off", async () => {
      const { sessions, client } = await start({ sessions: { index: false, scan: { maxSessions: 100 } } });
      await Promise.all(Array.from({ length: 5000 }, (_, id) => client.set(`sess:${id}`, '{"user":"alice"}')));
      const found = await sessions.findByUsername!("alice");
      expect(found.partial).toBe(true);
      expect(found.sessions.length).toBeLessThan(5000);
      expect(await sessions.count!({})).toBeUndefined();
    });
  });

  describe("an index that does not hold every session", () => {
    it("is filled by the first search if there are few sessions", async () => {
      const before = await start({ sessions: false });
      const visitors = Array.from({ length: 20 }, before.browser);
      await Promise.all(visitors.map((visitor) => visitor.post("/login/alice")));
      const { sessions } = await start();
      const digest = sessionDigest(visitors[0]!.id);
      expect(await sessions.findIdByDigest!(digest)).toBeUndefined();
      const found = await sessions.findByUsername!("alice");
      expect(ids(found.sessions)).toEqual(visitors.map(({ id }) => id).sort());
      expect(found.partial).toBe(false);
      await expect.poll(() => sessions.findIdByDigest!(sessionDigest("none"))).toBeNull();
      expect(await sessions.findIdByDigest!(digest)).toBe(visitors[0]!.id);
      expect(await indexedIds(server, `${INDEX}users`)).toHaveLength(20);
    });

    it("returns what it has, marked as partial, if there are many sessions", async () => {
      const scan = { maxSessions: 10, maxMs: 1 };
      const { sessions, client, browser } = await start({ sessions: { scan } });
      await Promise.all(Array.from({ length: 5000 }, (_, id) => client.set(`sess:${id}`, '{"user":"bob"}')));
      const visitor = browser();
      await visitor.post("/login/alice");
      const found = await sessions.findByUsername!("alice");
      expect(ids(found.sessions)).toEqual([visitor.id]);
      expect(found.partial).toBe(true);
      expect(await sessions.count!({})).toBeUndefined();
      const { complete } = await sessions.prepare!();
      expect(complete).toBe(true);
      expect(await sessions.findByUsername!("alice")).toMatchObject({ partial: false });
      const users = await sessions.findByUsername!("bob");
      expect(users.sessions).toHaveLength(10);
      expect(users.partial).toBe(true);
      expect(await sessions.count!({})).toBe(5001);
    });

    it("is incomplete after the application clears its store, until the next search", async () => {
      const { sessions, store, browser } = await start();
      await browser().post("/login/alice");
      await sessions.prepare!();
      expect(await sessions.findIdByDigest!(sessionDigest("none"))).toBeNull();
      await store.clear();
      await expect.poll(() => server.command("HGET", `${INDEX}state`, "failures")).toBe("1");
      expect(await sessions.findByUsername!("alice")).toEqual({ sessions: [], partial: false });
    });

    it("is complete to one way of telling users apart only", async () => {
      const one = await start();
      await one.browser().post("/login/alice");
      await one.sessions.prepare!();
      const other = await start({ sessions: { principal: [["basket", "owner"]] } });
      expect(await one.sessions.findIdByDigest!(sessionDigest("none"))).toBeNull();
      expect(await other.sessions.findIdByDigest!(sessionDigest("none"))).toBeUndefined();
    });
  });

  it.each([
    ["never expires", { disableTTL: true }, { maxInactiveInterval: -1 }],
    ["is not touched", { disableTouch: true }, { maxInactiveInterval: 60 }],
    ["has a function for its lifetime", { ttl: () => 1800 }, { maxInactiveInterval: 1800 }],
    ["has a function that needs a live session", { ttl: () => Number.NaN }, { maxInactiveInterval: undefined }],
  ])("is honest about a store that %s", async (_, store, expected) => {
    const { sessions, browser } = await start({ store: { ...store, prefix: "s*:" } });
    const visitor = browser();
    const before = Date.now();
    await visitor.post("/login/alice");
    if (Number.isNaN((store as { ttl?: () => number }).ttl?.())) {
      expect(await keys("s\\*:*")).toEqual([]);
      return;
    }
    const found = (await sessions.findByUsername!("alice")).sessions;
    expect(found).toMatchObject([{ id: visitor.id, ...expected }]);
    expect(found[0]!.lastAccessedTime).toBeGreaterThanOrEqual(before);
    expect(found[0]!.lastAccessedTime).toBeLessThanOrEqual(Date.now());
    await sessions.prepare!();
    expect(await sessions.count!({})).toBe(1);
    expect((await sessions.list!({ limit: 2 })).sessions).toEqual(found);
  });

  it("knows the lifetime of a session whose cookie lives as long as the browser", async () => {
    const { sessions, browser } = await start({ store: { ttl: 600 }, cookie: {} });
    const visitor = browser();
    await visitor.post("/login/alice");
    const found = await sessions.findById(visitor.id);
    expect(found).toMatchObject({ maxInactiveInterval: 600 });
    expect(Math.abs(Date.now() - found!.lastAccessedTime!)).toBeLessThan(5000);
  });

  it("reads what a serializer of the application's own wrote", async () => {
    const serializer = {
      stringify: (data: object) => Buffer.from(JSON.stringify(data)).toString("base64"),
      parse: async (text: string) => {
        if (text === "broken") throw new Error("broken");
        return JSON.parse(Buffer.from(text, "base64").toString());
      },
    };
    const { sessions, browser } = await start({ store: { serializer } });
    const visitor = browser();
    await visitor.post("/login/alice");
    await server.command("SET", "sess:broken", "broken");
    expect(ids((await sessions.findByUsername!("alice")).sessions)).toEqual([visitor.id]);
    expect(await sessions.findById("broken")).toBeUndefined();
  });

  it("works for a store whose client adds a prefix of its own", async () => {
    const client = createClient({ url: server.url, keyPrefix: "app:" } as object);
    await client.connect();
    onTestFinished(() => client.destroy());
    const { RedisStore } = await import("connect-redis");
    const { connectRedisSessions } = await import("../../../../src/adapters/sessions/connect-redis/index.ts");
    const store = new RedisStore({ client });
    const sessions = connectRedisSessions(store);
    await store.set("a", { cookie: { originalMaxAge: null }, user: { username: "alice" } } as never);
    expect(await keys("app:*")).toEqual(["app:sess:a"]);
    expect(ids((await sessions.findByUsername!("alice")).sessions)).toEqual(["a"]);
    expect(await sessions.delete!("a")).toBe(true);
    await sessions.detach!();
  });

  it.each([
    ["ioredis", () => new Redis(server.url)],
    ["a URL", () => server.url],
  ])("reads and indexes by %s if configured", async (_, make) => {
    const redis = make();
    if (typeof redis !== "string") onTestFinished(() => redis.disconnect());
    const { sessions, browser } = await start({ sessions: { redis } });
    const visitor = browser();
    await visitor.post("/login/alice");
    await sessions.prepare!();
    expect(ids((await sessions.findByUsername!("alice")).sessions)).toEqual([visitor.id]);
    expect((await sessions.list!({ limit: 5 })).sessions).toHaveLength(1);
    expect(await sessions.delete!(visitor.id)).toBe(true);
  });

  it("reads what a user may read who may do nothing else", async () => {
    await server.command("ACL", "SETUSER", "reader", "on", ">of-a-test", "~*", "+@read", "+@connection");
    const writer = await start({ sessions: false });
    const visitor = writer.browser();
    await visitor.post("/login/alice");
    const redis = server.url.replace("//", "//reader:of-a-test@");
    const { sessions } = await start({ sessions: { redis, index: false } });
    const indexed = await start({ sessions: { redis } });
    for (const store of [sessions, indexed.sessions]) {
      const found = await store.findById(visitor.id);
      expect(found).toMatchObject({ username: "alice" });
      // Worked out from the remaining life, it may differ by a millisecond or two.
      const again = { ...found, lastAccessedTime: expect.closeTo(found!.lastAccessedTime!, -2) };
      expect(await store.findByUsername!("alice")).toEqual({ sessions: [again], partial: false });
      await expect(store.delete!(visitor.id)).rejects.toMatchObject({
        code: "FAILED_PRECONDITION",
        message: "The connection's user has no permission in Redis for the command DEL.",
      });
    }
    // The application goes on, whatever the index may do.
    const other = visitor.at(indexed);
    expect((await other.post("/basket")).status).toBe(200);
    expect(await (await fetch(indexed.base)).status).toBe(200);
  });

  it("lists for a user who may run no scripts", async () => {
    await server.command("ACL", "SETUSER", "scriptless", "on", ">of-a-test", "~*", "+@all", "-@scripting");
    const redis = server.url.replace("//", "//scriptless:of-a-test@");
    const { sessions, browser } = await start({ sessions: { redis } });
    const visitors = Array.from({ length: 12 }, browser);
    for (const visitor of visitors) await visitor.post("/login/alice");
    const found = await sessions.findByUsername!("alice");
    expect(ids(found.sessions)).toEqual(visitors.map(({ id }) => id).sort());
    expect(found.sessions[0]!.lastAccessedTime).toBeDefined();
  });

  it("leaves the store as it was", async () => {
    const { store, sessions } = await start();
    expect(Object.keys(Object.getOwnPropertyDescriptors(store))).toContain("set");
    await sessions.detach!();
    for (const name of ["set", "touch", "destroy", "clear"]) {
      expect(Object.hasOwn(store, name)).toBe(false);
    }
  });
});

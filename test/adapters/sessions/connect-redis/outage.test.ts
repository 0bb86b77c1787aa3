// @module-tag slow
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sessionDigest } from "../../../../src/sessions/session-id.ts";
import { indexedIds } from "../../../support/redis-index.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { type ApplicationOptions, type RedisApplication, startForTest } from "./application.ts";

const INDEX = "actuator:sessions:sess:";
const TIMEOUT = 2_000;

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
afterAll(() => expect(unhandled).toEqual([]));

describe.runIf(requirement("redis-server", redisFound))("sessions whose Redis fails", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());
  beforeEach(() => server.command("FLUSHALL"));

  const start = (options?: ApplicationOptions) => startForTest(server.url, options);

  const isBack = (sessions: RedisApplication["sessions"]) =>
    expect.poll(() => sessions.findById("none").catch(String)).toBeUndefined();

  /** Everything that a caller can ask for. */
  const calls = (sessions: RedisApplication["sessions"]) => ({
    findById: sessions.findById("a"),
    findByUsername: sessions.findByUsername!("alice"),
    list: sessions.list!({ limit: 10 }),
    count: sessions.count!({}),
    findIdByDigest: sessions.findIdByDigest?.(sessionDigest("a")) ?? sessions.findById("a"),
    delete: sessions.delete!("a"),
  });

  describe.each([
    ["by the application's client", () => ({ timeoutMs: TIMEOUT })],
    ["by a connection of our own", () => ({ timeoutMs: TIMEOUT, redis: server.url })],
    ["without an index", () => ({ timeoutMs: TIMEOUT, index: false })],
  ])("%s", (_, options) => {
    it("are out of reach while it hangs, within the timeout, and back by themselves", async () => {
      const { sessions } = await start({ sessions: options() });
      await sessions.findById("a");
      server.freeze();
      const began = performance.now();
      const outcomes = await Promise.allSettled(Object.values(calls(sessions))).finally(() => server.thaw());
      expect(performance.now() - began).toBeLessThan(10 * TIMEOUT);
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ reason: { code: "UNAVAILABLE", reason: "SESSION_STORE_UNAVAILABLE" } });
      }
      await isBack(sessions);
      await Promise.all(Object.values(calls(sessions)));
    });

    it("are out of reach while it is gone, and back by themselves", async () => {
      const { sessions } = await start({ sessions: options() });
      await sessions.findById("a");
      await server.kill();
      for (const outcome of await Promise.allSettled(Object.values(calls(sessions)))) {
        expect(outcome).toMatchObject({ reason: { code: "UNAVAILABLE", reason: "SESSION_STORE_UNAVAILABLE" } });
      }
      await server.restart();
      await isBack(sessions);
      await Promise.all(Object.values(calls(sessions)));
    });
  });

  it("are all in the index again after it was killed while they were written and read", async () => {
    const { sessions, browser, store } = await start({ sessions: { timeoutMs: TIMEOUT, index: { intervalMs: 0 } } });
    await sessions.prepare!();
    const claims = await server.command("HMGET", `${INDEX}state`, "failures", "complete");
    let over = false;
    let refused = 0;
    const visit = async (number: number) => {
      for (let round = 0; !over; round++) {
        const visitor = browser();
        await visitor.post(`/login/user-${number}-${round % 5}`).catch(() => {});
        await visitor.get("/").catch(() => {});
        if (round % 3 === 0) await visitor.post("/logout").catch(() => {});
        else if (round % 3 === 1) await visitor.post(`/become/other-${number}`).catch(() => {});
      }
    };
    const look = async () => {
      while (!over) {
        await sessions.findByUsername!("user-1-1").catch((error) => {
          expect(error).toMatchObject({ code: "UNAVAILABLE" });
          refused++;
        });
      }
    };
    const busy = [visit(0), visit(1), visit(2), visit(3), look()];
    try {
      for (const round of [1, 2, 3]) {
        await expect.poll(() => server.command("DBSIZE")).toBeGreaterThan(20 * round);
        const before = refused;
        await server.kill();
        await expect.poll(() => refused).toBeGreaterThan(before);
        await server.restart();
        await isBack(sessions);
      }
    } finally {
      over = true;
    }
    await Promise.all(busy);
    // The claim still stands: it was not made anew.
    await expect.poll(() => sessions.findIdByDigest!(sessionDigest("none")).catch(String)).toBeNull();
    expect(await server.command("HMGET", `${INDEX}state`, "failures", "complete")).toEqual(claims);
    const kept: { id: string; user?: { username: string } }[] = await store.all();
    expect(kept.length).toBeGreaterThan(10);
    for (const [username, theirs] of Map.groupBy(kept, ({ user }) => user?.username)) {
      if (username === undefined) continue;
      const found = await sessions.findByUsername!(username);
      expect(found.partial).toBe(false);
      expect(found.sessions.map(({ id }) => id).sort()).toEqual(theirs.map(({ id }) => id).sort());
    }
    const listed = await sessions.list!({ limit: 1000 });
    expect(listed.sessions.map(({ id }) => id).sort()).toEqual(kept.map(({ id }) => id).sort());
  });

  it("are in the index a little later if their own write succeeded and that of the index failed", async () => {
    await server.command("ACL", "SETUSER", "indexer", "on", ">of-a-test", "~*", "+@all");
    const redis = server.url.replace("//", "//indexer:of-a-test@");
    const { sessions, browser } = await start({ sessions: { redis } });
    await sessions.prepare!();
    const claims = await server.command("HMGET", `${INDEX}state`, "failures", "complete");
    const complete = async () => (await sessions.findIdByDigest!(sessionDigest("none"))) === null;
    expect(await complete()).toBe(true);
    await server.command("ACL", "SETUSER", "indexer", "-@write");
    const visitor = browser();
    await visitor.post("/login/alice");
    expect(await indexedIds(server, `${INDEX}users`)).toEqual([]);
    expect(await complete()).toBe(false);
    const found = await sessions.findByUsername!("alice");
    expect(found).toMatchObject({ sessions: [{ id: visitor.id }], partial: false });
    await server.command("ACL", "SETUSER", "indexer", "+@write");
    await expect.poll(complete).toBe(true);
    expect(await indexedIds(server, `${INDEX}users`)).toEqual([visitor.id]);
    expect(await server.command("HMGET", `${INDEX}state`, "failures", "complete")).toEqual(claims);
  });

  it("are known to other processes to be missing in the index if its own connection stays broken", async () => {
    await server.command("ACL", "SETUSER", "indexer", "on", ">of-a-test", "~*", "+@all");
    const redis = server.url.replace("//", "//indexer:of-a-test@");
    const { sessions, browser } = await start({ sessions: { redis } });
    const other = await start();
    await sessions.prepare!();
    const complete = async () => (await other.sessions.findIdByDigest!(sessionDigest("none"))) === null;
    expect(await complete()).toBe(true);
    await server.command("ACL", "SETUSER", "indexer", "off");
    await server.command("CLIENT", "KILL", "USER", "indexer");
    const visitor = browser();
    await visitor.post("/login/alice");
    await expect.poll(complete).toBe(false);
    expect(await other.sessions.findByUsername!("alice")).toMatchObject({
      sessions: [{ id: visitor.id }],
      partial: false,
    });
  });

  it("are found by a scan if the index is lost", async () => {
    const { sessions, browser } = await start();
    const visitor = browser();
    await visitor.post("/login/alice");
    await sessions.prepare!();
    for (const key of (await server.command("KEYS", "actuator:*")) as string[]) await server.command("DEL", key);
    const found = await sessions.findByUsername!("alice");
    expect(found).toMatchObject({ sessions: [{ id: visitor.id }], partial: false });
  });
});

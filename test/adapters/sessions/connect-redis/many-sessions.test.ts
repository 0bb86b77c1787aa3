// @module-tag slow
import { RedisStore } from "connect-redis";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  connectRedisSessions,
  prepareConnectRedisSessions,
} from "../../../../src/adapters/sessions/connect-redis/index.ts";
import { sessionDigest } from "../../../../src/sessions/session-id.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";

const SESSIONS = 10_000;
const USERS = 2_500;

describe.runIf(requirement("redis-server", redisFound))("ten thousand sessions that were there before", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
    const { client, store } = await connect();
    const maxAge = 1_800_000;
    for (let first = 0; first < SESSIONS; first += 1000) {
      await Promise.all(
        Array.from({ length: 1000 }, (_, number) => {
          const expires = new Date(Date.now() + maxAge - first);
          const cookie = { originalMaxAge: maxAge, expires, httpOnly: true, path: "/" };
          const user = (first + number) % USERS;
          return store.set(`s${first + number}`, { cookie, user: { username: `user-${user}` } } as never);
        }),
      );
    }
    client.destroy();
  });
  afterAll(() => server?.stop());

  async function connect() {
    const client = createClient({ url: server.url });
    await client.connect();
    const store = new RedisStore({ client, ttl: 1800 });
    return { client, store };
  }

  it("are counted by a dry run, which writes nothing", async () => {
    const result = await prepareConnectRedisSessions({ redis: server.url, dryRun: true });
    expect(result).toMatchObject({ sessions: SESSIONS, users: SESSIONS, complete: false, resumed: false });
    expect(await server.command("DBSIZE")).toBe(SESSIONS);
  });

  it("are added to the index step by step, continuing after an interruption", async () => {
    const breakOff = new AbortController();
    let steps = 0;
    const first = await prepareConnectRedisSessions({
      redis: server.url,
      signal: breakOff.signal,
      onProgress: () => {
        if (++steps === 5) breakOff.abort();
      },
    });
    expect(first).toMatchObject({ complete: false, resumed: false });
    expect(first.sessions).toBeLessThan(SESSIONS);
    const seen: number[] = [];
    const second = await prepareConnectRedisSessions({
      redis: server.url,
      onProgress: ({ sessions }) => seen.push(sessions),
    });
    expect(second).toMatchObject({ complete: true, resumed: true, users: second.sessions });
    expect(second.sessions).toBeGreaterThanOrEqual(SESSIONS);
    expect(seen[0]).toBeGreaterThan(first.sessions);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });

  it("starts again if a write of the index was lost meanwhile, or with restart", async () => {
    const broken = new AbortController();
    broken.abort();
    const once = { redis: server.url, signal: broken.signal };
    expect(await prepareConnectRedisSessions(once)).toMatchObject({ resumed: false });
    expect(await prepareConnectRedisSessions(once)).toMatchObject({ resumed: true });
    expect(await prepareConnectRedisSessions({ ...once, restart: true })).toMatchObject({ resumed: false });
    await server.command("HINCRBY", "actuator:sessions:sess:state", "failures", "1");
    expect(await prepareConnectRedisSessions(once)).toMatchObject({ resumed: false });
    expect(await prepareConnectRedisSessions({ redis: server.url })).toMatchObject({ complete: true });
  });

  it("are found, listed, counted and ended by the index", async () => {
    const { client, store } = await connect();
    const sessions = connectRedisSessions(store);
    onTestFinished(async () => {
      await sessions.detach?.();
      client.destroy();
    });
    const found = await sessions.findByUsername!("user-7");
    expect(found.partial).toBe(false);
    expect(found.sessions.map(({ id }) => id).sort()).toEqual(["s2507", "s5007", "s7", "s7507"]);
    expect(await sessions.findIdByDigest!(sessionDigest("s4711"))).toBe("s4711");
    expect(await sessions.findIdByDigest!(sessionDigest("s-none"))).toBeNull();
    expect(await sessions.count!({})).toBe(SESSIONS);

    const listed: string[] = [];
    let newest = Number.POSITIVE_INFINITY;
    for (let after: string | undefined; ; ) {
      const page = await sessions.list!({ limit: 700, after });
      listed.push(...page.sessions.map(({ id }) => id));
      for (const { lastAccessedTime } of page.sessions) {
        // A time that is worked out from what is left to live may differ from reading to reading, by the rounding of Redis.
        expect(lastAccessedTime!).toBeLessThanOrEqual(newest + 1500);
        newest = Math.min(newest, lastAccessedTime!);
      }
      after = page.next;
      if (after === undefined) break;
    }
    expect(listed).toHaveLength(SESSIONS);
    expect(new Set(listed).size).toBe(SESSIONS);

    for (const { id } of found.sessions) expect(await sessions.delete!(id)).toBe(true);
    expect(await sessions.findByUsername!("user-7")).toEqual({ sessions: [], partial: false });
    expect(await sessions.count!({})).toBe(SESSIONS - 4);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RedisCommands, redisCommands } from "../../../../src/adapters/kit/redis/index.ts";
import { type IndexedSession, SessionIndex } from "../../../../src/adapters/kit/redis/session-index.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";

const MINUTE = 60_000;

describe.runIf(requirement("redis-server", redisFound))("the ids of a user", () => {
  let server: RedisServer;
  let redis: RedisCommands;
  let index: SessionIndex;
  beforeAll(async () => {
    server = await startRedis();
    redis = redisCommands(server.url);
    index = new SessionIndex(redis, { prefix: "idx:", principal: "p", slackMs: MINUTE });
  });
  afterAll(async () => {
    await redis?.close();
    await server?.stop();
  });
  beforeEach(() => server.command("FLUSHALL"));

  const put = (id: string, expiryTime: number) => {
    const now = Date.now();
    const times = { accessedTime: now, creationTime: now, firstSeenTime: now, expiryTime };
    return index.put({ id, username: "alice", ...times } satisfies IndexedSession, true);
  };
  const lifetime = async () => Number(await server.command("PTTL", "idx:user:alice"));

  it.each([
    ["first", [Number.POSITIVE_INFINITY, MINUTE]],
    ["last", [MINUTE, Number.POSITIVE_INFINITY]],
    ["between others", [MINUTE, Number.POSITIVE_INFINITY, 2 * MINUTE]],
  ])("never expire if a session that never expires was made %s", async (_, lifetimes) => {
    for (const [at, each] of lifetimes.entries()) await put(`id${at}`, Date.now() + each);
    expect(await lifetime()).toBe(-1);
  });

  it("go with the session that lives longest", async () => {
    for (const [at, each] of [2 * MINUTE, 5 * MINUTE, MINUTE].entries()) await put(`id${at}`, Date.now() + each);
    expect(await lifetime()).toBeGreaterThan(5 * MINUTE);
    expect(await lifetime()).toBeLessThanOrEqual(6 * MINUTE + 1000);
  });
});

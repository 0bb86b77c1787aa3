// @module-tag slow
import { Redis } from "ioredis";
import { createClient } from "redis";
import { describe } from "vitest";
import { type RedisFleetClient, redisFleet } from "../../../../src/adapters/fleet/redis/index.ts";
import { redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { testFleetEngine } from "../engine-contract.ts";

const sources: Record<string, (url: string) => string | RedisFleetClient> = {
  "a URL": (url) => url,
  "a client of redis that is not connected": (url) =>
    createClient({
      url,
      RESP: 2,
      keyPrefix: "app:",
      pingInterval: 10,
      commandOptions: { timeout: 1 },
      commandsQueueMaxLength: 1,
    }),
  "a client of ioredis that is not connected": (url) =>
    new Redis(url, { lazyConnect: true, keyPrefix: "app:", commandTimeout: 1, enableAutoPipelining: true }),
};

describe.runIf(requirement("redis-server", redisFound))("redisFleet", () => {
  describe.each(Object.entries(sources))("of %s", (_, clientOf) => {
    testFleetEngine("as an engine", async () => {
      const server = await startRedis();
      return { source: redisFleet(clientOf(server.url)), server, stop: () => server.stop() };
    });
  });
});

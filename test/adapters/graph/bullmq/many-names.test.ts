import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { bullmqSource } from "../../../../src/adapters/graph/bullmq/index.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";

let server: RedisServer;

describe.runIf(requirement("redis-server", redisFound))("queues that are made up for each user", () => {
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  test("make room when they are closed, without a rebuild", async () => {
    const connection = new Redis(server.port, server.host, { maxRetriesPerRequest: null });
    onTestFinished(() => connection.disconnect());
    const flow = integrationGraph({ app: "shop" });
    const jobs = bullmqSource();
    onTestFinished(flow.attach(jobs));
    jobs.watch(new Queue("orders", { connection }));
    for (let user = 0; user < 600; user++) {
      const queue = jobs.watch(new Queue(`user-${user}`, { connection }));
      await queue.close();
    }
    const names = flow.graph.snapshot().nodes.map(({ name }) => name);
    expect(names.length).toBeLessThanOrEqual(251);
    expect(names).toContain("orders");
  });
});

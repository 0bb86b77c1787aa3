// @module-tag slow
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { application, until } from "./support.ts";

let server: RedisServer;

describe.runIf(requirement("redis-server", redisFound))("bullmq whose Redis is killed", () => {
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  test("goes on with its numbers, marks what it discovered, and nothing is left unhandled", async () => {
    const unhandled: unknown[] = [];
    const hear = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", hear);
    onTestFinished(() => void process.removeListener("unhandledRejection", hear));

    const { queue, worker, picture, graph, node, closing, connection } = application(server, { discover: true });
    const { Queue } = await import("bullmq");
    const foreign = closing(new Queue("foreign", { connection }));
    await foreign.waitUntilReady();
    const work = queue("work");
    let handled = 0;
    worker("work", async function handle() {
      handled++;
    });
    await work.add("task", {});
    await until(() => handled === 1);
    await until(async () => {
      await graph.rebuild();
      return picture().nodes["queue foreign"] !== undefined;
    });
    await until(() => picture().nodes["worker work.handle"] === "1 ok, 0 failed");

    await server.kill();
    const added = work.add("task", {});
    await graph.rebuild();
    expect(picture().nodes).toEqual({
      "queue work": "1 ok, 0 failed",
      "queue foreign": "0 ok, 0 failed",
      "worker work.handle": "1 ok, 0 failed",
      "gateway shop.producer": "",
    });
    expect([node("queue work").stale, node("queue foreign").stale]).toEqual([false, true]);

    await server.restart();
    await added;
    await until(() => picture().nodes["worker work.handle"] === "2 ok, 0 failed");
    await graph.rebuild();
    expect(node("queue foreign").stale).toBe(false);
    expect(picture()).toEqual({
      nodes: {
        "queue work": "2 ok, 0 failed",
        "queue foreign": "0 ok, 0 failed",
        "worker work.handle": "2 ok, 0 failed",
        "gateway shop.producer": "",
      },
      links: {
        "gateway shop.producer -output-> queue work": 2,
        "queue work -input-> worker work.handle": 2,
      },
    });
    expect(unhandled).toEqual([]);
  });

  test("a job that is lost with its worker counts once it is handled", async () => {
    const { queue, worker, picture } = application(server);
    const work = queue("work");
    const killed = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    worker("work", async function handle() {
      began.resolve();
      await killed.promise;
    });
    await work.add("task", {});
    await began.promise;
    await server.kill();
    await server.restart();
    killed.resolve();
    await until(() => picture().nodes["worker work.handle"] === "1 ok, 0 failed");
    await until(async () => (await work.getCompletedCount()) === 1);
    expect(picture().links["queue work -input-> worker work.handle"]).toBe(1);
  });
});

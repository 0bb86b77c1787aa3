import { join } from "node:path";
import { DelayedError, type Job, Queue, UnrecoverableError, WaitingChildrenError, WaitingError, Worker } from "bullmq";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bullmqSource } from "../../../../src/adapters/graph/bullmq/index.ts";
import { ActuatorError } from "../../../../src/common/error.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { mergeGraphs } from "../../../../src/integration-graph/merge.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { application, picture, until } from "./support.ts";

let server: RedisServer;

describe.runIf(requirement("redis-server", redisFound))("bullmq", () => {
  beforeAll(async () => {
    server = await startRedis({ args: ["--databases", "100"] });
  });
  afterAll(() => server?.stop());

  test("draws a whole application", async () => {
    const { queue, worker, flowProducer, picture, node } = application(server);
    const orders = queue("orders", { defaultJobOptions: { attempts: 2 } });
    const emails = queue("emails");
    const audit = queue("audit", { prefix: "own" });
    flowProducer();
    worker(
      "orders",
      async function charge(job) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        if (job.name === "bad") throw new Error("secret");
        await Promise.all([
          emails.add("receipt", { to: "secret@example.com" }),
          audit.addBulk([
            { name: "charged", data: {} },
            { name: "charged", data: {} },
          ]),
        ]);
      },
      { concurrency: 3, limiter: { max: 100, duration: 1000 } },
    );
    worker("emails", async () => {}, { name: "mailer" });
    worker("emails", async () => {}, { name: "mailer", concurrency: 2 });

    expect(picture()).toEqual({
      nodes: {
        "queue orders": "0 ok, 0 failed",
        "queue emails": "0 ok, 0 failed",
        "queue audit": "0 ok, 0 failed",
        "worker orders.charge": "0 ok, 0 failed",
        "worker emails.mailer": "0 ok, 0 failed",
      },
      links: {
        "queue orders -input-> worker orders.charge": 0,
        "queue emails -input-> worker emails.mailer": 0,
      },
    });

    await orders.add("good", { card: "secret" });
    await orders.add("bad", {});
    await until(() => {
      const { successes, failures } = node("worker orders.charge").sendTimers!;
      return successes.count === 1 && failures.count === 2 && node("worker emails.mailer").sendTimers!.successes.count;
    });

    expect(picture()).toEqual({
      nodes: {
        "queue orders": "2 ok, 0 failed",
        "queue emails": "1 ok, 0 failed",
        "queue audit": "2 ok, 0 failed",
        "worker orders.charge": "1 ok, 2 failed",
        "worker emails.mailer": "1 ok, 0 failed",
        "gateway shop.producer": "",
      },
      links: {
        "gateway shop.producer -output-> queue orders": 2,
        "queue orders -input-> worker orders.charge": 3,
        "worker orders.charge -output-> queue emails": 1,
        "worker orders.charge -output-> queue audit": 2,
        "queue emails -input-> worker emails.mailer": 1,
      },
    });
    expect(node("worker orders.charge")).toMatchObject({
      integrationPatternType: "service_activator",
      componentType: "bullmq:worker",
      key: "endpoint:shop:service_activator:orders.charge",
      properties: { workers: 1, concurrency: 3, limiter: { max: 100, duration: 1000 } },
    });
    expect(node("worker orders.charge").sendTimers!.successes.mean).toBeGreaterThan(1);
    expect(node("worker emails.mailer").properties).toEqual({ workers: 2, concurrency: 3 });
    expect(node("queue orders")).toMatchObject({
      integrationPatternType: "message_channel",
      key: expect.stringMatching(/^channel:bullmq:127\.0\.0\.1%3A\d+\/\d+:queue:bull:orders$/),
      properties: { attempts: 2 },
    });
    expect(node("queue audit").key).toMatch(/:queue:own:audit$/);
    expect(node("queue audit").properties).toEqual({ prefix: "own" });
    expect(JSON.stringify(picture())).not.toContain("secret");
  });

  describe("an attempt", () => {
    type Attempt = (job: Job, token: string | undefined) => unknown;
    const cases: readonly [string, Attempt, ok: number, failed: number, options?: object][] = [
      ["that returns a value", () => 1, 1, 0],
      ["that is fulfilled later", async () => tick(), 1, 0],
      ["that throws", () => thrown(), 0, 1],
      ["that is rejected later", async () => tick().then(thrown), 0, 1],
      ["that fails each of three times", async () => thrown(), 0, 3, { attempts: 3 }],
      ["that fails, then not", async (job) => job.attemptsMade === 0 && thrown(), 1, 1, { attempts: 3 }],
      ["that cannot be tried again", async () => unrecoverable(), 0, 1, { attempts: 3 }],
      ["that throws no error", () => Promise.reject(new Error()), 0, 1],
      ["that puts itself off", (job, token) => once(job, () => putOff(job, token)), 2, 0],
      ["that goes back to its queue", (job, token) => once(job, () => goBack(job, token)), 2, 0],
    ];

    test.each(cases)("%s", async (_, attempt, ok, failed, options = {}) => {
      const { queue, worker, picture } = application(server);
      const work = queue("work");
      let runs = 0;
      worker("work", async (job, token) => {
        runs++;
        return attempt(job, token);
      });
      const job = await work.add("task", {}, options);
      await until(() => runs === ok + failed);
      await until(async () => (await job.isCompleted()) || (await job.isFailed()));
      expect(picture()).toEqual({
        nodes: {
          "queue work": "1 ok, 0 failed",
          "worker work.worker": `${ok} ok, ${failed} failed`,
          "gateway shop.producer": "",
        },
        links: {
          "gateway shop.producer -output-> queue work": 1,
          "queue work -input-> worker work.worker": ok + failed,
        },
      });
    });

    test("that a rate limit puts off did not fail", async () => {
      const { queue, worker, node } = application(server);
      const work = queue("work");
      let runs = 0;
      const limited = worker("work", async () => {
        if (runs++ > 0) return;
        await work.rateLimit(1);
        throw Worker.RateLimitError();
      });
      await work.add("task", {});
      await until(() => node("worker work.worker").sendTimers!.successes.count === 2);
      expect(node("worker work.worker").sendTimers!.failures.count).toBe(0);
      expect(limited.isRunning()).toBe(true);
    });

    test("in a sandbox", async () => {
      const { queue, worker, picture, node } = application(server);
      const work = queue("work");
      worker("work", join(import.meta.dirname, "fixtures", "sandboxed.cjs"));
      await work.addBulk(["good", "bad", "exit"].map((name) => ({ name, data: {} })));
      const timers = () => node("worker work.worker").sendTimers!;
      await until(() => timers().successes.count + timers().failures.count === 3);
      expect(picture().nodes["worker work.worker"]).toBe("1 ok, 2 failed");
      expect(node("worker work.worker").properties).toEqual({ workers: 1, concurrency: 1, sandboxed: true });
    });

    test("whose job BullMQ fails without a call of the processor", async () => {
      const { queue, worker, flowProducer, picture, node } = application(server);
      queue("parents");
      const flows = flowProducer();
      let parents = 0;
      worker("parents", async () => {
        parents++;
      });
      worker("children", async () => thrown());
      await flows.add({
        name: "parent",
        queueName: "parents",
        children: [{ name: "child", queueName: "children", opts: { failParentOnFailure: true } }],
      });
      await until(() => node("worker parents.worker").sendTimers!.failures.count === 1);
      expect(parents).toBe(0);
      expect(picture().nodes["worker children.worker"]).toBe("0 ok, 1 failed");
    });
  });

  test("shows flows: the queue of children leads to that of their parent", async () => {
    const { queue, worker, flowProducer, picture, node } = application(server);
    queue("albums");
    const flows = flowProducer();
    worker("albums", async function publish() {});
    worker("photos", async function resize(job) {
      if (job.name === "bad") thrown();
    });
    const child = (name = "photo", opts = {}) => ({ name, queueName: "photos", opts });
    const ignored = { ignoreDependencyOnFailure: true };
    await flows.add({
      name: "album",
      queueName: "albums",
      children: [child(), child(), child("bad", ignored)],
    });
    await flows.addBulk([
      { name: "album", queueName: "albums", children: [child()] },
      { name: "alone", queueName: "other", prefix: "own" },
    ]);
    await until(() => node("worker albums.publish").sendTimers!.successes.count === 2);
    await until(() => node("worker photos.resize").sendTimers!.successes.count === 3);
    expect(picture()).toEqual({
      nodes: {
        "queue albums": "2 ok, 0 failed",
        "queue photos": "4 ok, 0 failed",
        "queue other": "1 ok, 0 failed",
        "worker albums.publish": "2 ok, 0 failed",
        "worker photos.resize": "3 ok, 1 failed",
        "gateway shop.producer": "",
      },
      links: {
        "gateway shop.producer -output-> queue albums": 2,
        "gateway shop.producer -output-> queue photos": 4,
        "gateway shop.producer -output-> queue other": 1,
        "queue photos -route-> queue albums": 3,
        "queue albums -input-> worker albums.publish": 2,
        "queue photos -input-> worker photos.resize": 4,
      },
    });
    expect(node("queue other").key).toMatch(/:queue:own:other$/);
  });

  test("waits for children that a processor adds itself", async () => {
    const { queue, worker, picture, node } = application(server);
    const parents = queue("parents");
    const children = queue("children");
    const waiting = Promise.withResolvers<void>();
    worker("children", () => waiting.promise);
    worker("parents", async function collect(job, token) {
      if (job.attemptsStarted > 1) return;
      await children.add("child", {}, { parent: { id: job.id!, queue: job.queueQualifiedName } });
      if (await job.moveToWaitingChildren(token!)) {
        waiting.resolve();
        throw new WaitingChildrenError();
      }
    });
    await parents.add("parent", {});
    await until(() => node("worker parents.collect").sendTimers!.successes.count === 2);
    expect(picture().links).toEqual({
      "gateway shop.producer -output-> queue parents": 1,
      "queue parents -input-> worker parents.collect": 2,
      "worker parents.collect -output-> queue children": 1,
      "queue children -input-> worker children.worker": 1,
      "queue children -route-> queue parents": 1,
    });
  });

  test("shows job schedulers, with the jobs that came of them", async () => {
    const { queue, worker, picture, node } = application(server);
    const reports = queue("reports");
    let failures = 1;
    await reports.upsertJobScheduler("nightly", { pattern: "0 2 * * *", tz: "Europe/Berlin" }, { name: "report" });
    await reports.upsertJobScheduler("often", { every: 20 }, { name: "report", opts: { attempts: 2 } });
    await reports.upsertJobScheduler("gone", { every: 1_000_000 });
    await reports.removeJobScheduler("gone");
    expect(Object.keys(picture().nodes)).not.toContain("scheduler gone");
    expect(node("scheduler nightly")).toMatchObject({
      integrationPatternType: "inbound_channel_adapter",
      properties: { cron: "0 2 * * *", timeZone: "Europe/Berlin" },
      output: "reports",
    });
    expect(node("scheduler often").properties).toEqual({ every: 20 });

    const reporting = worker("reports", async function report() {
      if (failures-- > 0) thrown();
    });
    await until(() => node("scheduler often").receiveCounters!.successes >= 2);
    await reports.removeJobScheduler("often");
    await reporting.close();
    const { nodes, links } = picture();
    const attempts = links["queue reports -input-> worker reports.report"]!;
    expect(nodes["queue reports"]).toBe("0 ok, 0 failed");
    expect(nodes["worker reports.report"]).toBe(`${attempts - 1} ok, 1 failed`);
  });

  test("counts a scheduler's job once, however often it is tried", async () => {
    const { queue, worker, node, picture } = application(server);
    const reports = queue("reports");
    await reports.upsertJobScheduler("once", { every: 10, limit: 1 }, { name: "report", opts: { attempts: 3 } });
    worker("reports", async () => thrown());
    await until(() => node("worker reports.worker").sendTimers!.failures.count === 3);
    expect(picture()).toEqual({
      nodes: {
        "queue reports": "0 ok, 0 failed",
        "worker reports.worker": "0 ok, 3 failed",
        "scheduler once": "1 received",
      },
      links: {
        "scheduler once -output-> queue reports": 1,
        "queue reports -input-> worker reports.worker": 3,
      },
    });
  });

  test("tells who goes on with a job: listeners of its worker, and of its queue's events", async () => {
    const { queue, worker, queueEvents, picture, node } = application(server);
    const orders = queue("orders");
    const invoices = queue("invoices");
    const audit = queue("audit");
    const events = queueEvents("orders");
    await events.waitUntilReady();
    events.on("completed", () => void audit.add("completed", {}));
    const charging = worker("orders", async function charge() {});
    charging.on("completed", () => void invoices.add("invoice", {}));
    await until(async () => {
      await orders.add("order", {});
      return node("queue audit").sendTimers!.successes.count > 0;
    });
    // What nobody listens to is not handled by anybody.
    const heard = () => picture().links["events orders:events -input-> queue-events orders.events"];
    await until(() => heard()! > 0 && heard() === node("queue audit").sendTimers!.successes.count);
    await until(() => picture().links["worker orders.charge -output-> queue invoices"] !== undefined);
    const { links } = picture();
    const orderCount = node("queue orders").sendTimers!.successes.count;
    expect(Object.keys(links).sort()).toEqual([
      "events orders:events -input-> queue-events orders.events",
      "gateway shop.producer -output-> queue orders",
      "queue orders -input-> worker orders.charge",
      "queue orders -route-> events orders:events",
      "queue-events orders.events -output-> queue audit",
      "worker orders.charge -output-> queue invoices",
    ]);
    expect(links["worker orders.charge -output-> queue invoices"]).toBeLessThanOrEqual(orderCount);
    await events.close();
    expect(Object.keys(picture().nodes)).not.toContain("events orders:events");
  });

  test("counts jobs that the application takes out of a queue itself", async () => {
    const { queue, worker, picture } = application(server);
    const work = queue("work");
    const manual = worker("work", null);
    await work.add("task", {});
    const job = (await manual.getNextJob("token"))!;
    await job.moveToCompleted("done", "token", false);
    expect(await manual.getNextJob("token", { block: false })).toBeUndefined();
    expect(picture().nodes["queue work"]).toBe("1 ok, 0 failed, 1 received");
  });

  test("counts a job that cannot be added as failed, and the application hears of it as before", async () => {
    const { queue, picture } = application(server);
    const work = queue("work");
    await expect(work.add("task", {}, { jobId: "0" })).rejects.toThrow("JobId cannot be '0'");
    await expect(work.addBulk([{ name: "task", data: {}, opts: { jobId: "0" } }])).rejects.toThrow();
    expect(await work.addBulk([])).toEqual([]);
    expect(picture()).toEqual({
      nodes: { "queue work": "0 ok, 2 failed", "gateway shop.producer": "" },
      links: { "gateway shop.producer -output-> queue work": 2 },
    });
  });

  test("shows temporary names as one, and queues of one name under two prefixes as two", async () => {
    const { queue, picture } = application(server);
    for (const id of ["5e0c1c3e-8d0a-4c57-9b36-0242ac130002", "6f1d2d4f-9e1b-4d68-8c47-1353bd241113"]) {
      await queue(`reply-${id}`).add("reply", {});
    }
    await queue("work").add("task", {});
    await queue("work", { prefix: "own" }).add("task", {});
    const { nodes, links } = picture();
    expect(nodes).toMatchObject({ "queue reply-*": "2 ok, 0 failed" });
    expect(Object.values(links)).toEqual([2, 1]);
  });

  test("discovers what is in Redis, with the workers of other processes", async () => {
    const other = application(server, { app: "billing", attach: false });
    const bills = other.queue("bills");
    await bills.upsertJobScheduler("monthly", { pattern: "0 0 1 * *" });
    const mine = application(server, { db: other.db, discover: true });
    mine.queue("orders");
    await other.worker("bills", async () => {}, { name: "biller" }).waitUntilReady();
    await until(async () => {
      await mine.flow.graph.rebuild();
      return picture(mine.graph.snapshot()).nodes["queue bills"] !== undefined;
    });
    expect(mine.picture()).toEqual({
      nodes: {
        "queue orders": "0 ok, 0 failed",
        "queue bills": "0 ok, 0 failed",
        "scheduler monthly": "0 received",
      },
      links: { "scheduler monthly -output-> queue bills": 0 },
    });
    expect(mine.node("queue bills").properties).toEqual({ connectedWorkers: 1, workerNames: ["biller"] });
    expect(mine.node("scheduler monthly").properties).toEqual({ cron: "0 0 1 * *" });

    await bills.obliterate();
    await mine.flow.graph.rebuild();
    expect(Object.keys(mine.picture().nodes)).toEqual(["queue orders"]);
  });

  test("drops what is closed with the next rebuild, and keeps the numbers of the rest", async () => {
    const { queue, worker, picture, graph, node } = application(server);
    const work = queue("work");
    const first = worker("work", async function one() {});
    await work.add("task", {});
    await until(() => node("worker work.one").sendTimers!.successes.count === 1);
    worker("work", async function two() {});
    await first.close();
    await queue("passing").close();
    expect(Object.keys(picture().nodes)).toContain("worker work.one");
    await graph.rebuild();
    expect(picture().nodes).toEqual({
      "queue work": "1 ok, 0 failed",
      "worker work.two": "0 ok, 0 failed",
      "gateway shop.producer": "",
    });
  });

  test("two instances and another application are one graph", async () => {
    const one = application(server);
    const two = application(server, { db: one.db });
    const billing = application(server, { app: "billing", db: one.db });
    await one.queue("bills").add("bill", {});
    await two.queue("bills").add("bill", {});
    billing.worker("bills", async function pay() {});
    await until(() => billing.node("worker bills.pay").sendTimers!.successes.count === 2);
    const merged = mergeGraphs([
      { instance: "shop-1", graph: one.graph.snapshot() },
      { instance: "shop-2", graph: two.graph.snapshot() },
      { instance: "billing-1", graph: billing.graph.snapshot() },
    ]);
    expect(picture(merged)).toEqual({
      nodes: {
        "queue bills": "2 ok, 0 failed",
        "worker bills.pay": "2 ok, 0 failed",
        "gateway shop.producer": "",
      },
      links: {
        "gateway shop.producer -output-> queue bills": 2,
        "queue bills -input-> worker bills.pay": 2,
      },
    });
    expect(merged.nodes.find(({ name }) => name === "bills")!.instances).toEqual(["billing-1", "shop-1", "shop-2"]);
  });

  test("the same Redis by another name is another broker unless it is named", () => {
    const graphs = ["127.0.0.1", "localhost", "redis.example"].map((host) => {
      const flow = integrationGraph({ app: "shop", brokers: { "redis://redis.example:6390": "jobs" } });
      const queue = new Queue("work", {
        connection: { host, port: 6390, db: 2, lazyConnect: true },
        skipWaitingForReady: true,
      });
      queue.on("error", () => {});
      flow.attach(bullmqSource(queue));
      void queue.disconnect();
      return flow.graph.snapshot().nodes.map(({ key }) => key);
    });
    expect(graphs).toEqual([
      ["channel:bullmq:127.0.0.1%3A6390/2:queue:bull:work"],
      ["channel:bullmq:127.0.0.1%3A6390/2:queue:bull:work"],
      ["channel:bullmq:jobs/2:queue:bull:work"],
    ]);
  });

  test("leaves everything as it was when it is detached, and does not count any more", async () => {
    const { queue, worker, flowProducer, queueEvents, detach, graph, jobs, flow } = application(server, {
      attach: false,
    });
    const targets = [
      queue("work"),
      worker("work", async function run() {}),
      flowProducer(),
      queueEvents("work"),
    ] as const;
    const before = targets.map(ownProperties);
    detach();
    const leave = flow.attach(jobs);
    expect(targets.map(ownProperties)).not.toEqual(before);
    await targets[0].add("task", {});
    leave();
    expect(targets.map(ownProperties)).toEqual(before);
    expect(graph.snapshot().nodes.map(({ name }) => name)).toEqual([]);
    await targets[0].add("task", {});
    expect(graph.snapshot().nodes.map(({ name }) => name)).toEqual([]);
  });

  test("leaves what somebody else has put around it", async () => {
    const { queue, detach, graph } = application(server);
    const work = queue("work");
    const ours = work.add;
    let calls = 0;
    work.add = function add(this: Queue, ...args) {
      calls++;
      return Reflect.apply(ours, this, args);
    };
    detach();
    await work.add("task", {});
    expect(calls).toBe(1);
    expect(graph.snapshot().nodes).toEqual([]);
  });

  test("refuses what is nothing of BullMQ's, and what is watched already", () => {
    expect(() => bullmqSource({} as never)).toThrow(ActuatorError);
    expect(() => bullmqSource([undefined as never])).toThrow(ActuatorError);
    const { queue, jobs } = application(server);
    const work = queue("work");
    expect(() => jobs.watch(work)).toThrow(ActuatorError);
    expect(() => integrationGraph({ app: "other" }).attach(bullmqSource(work))).toThrow(ActuatorError);
    expect(() => integrationGraph({ app: "other" }).attach(jobs)).toThrow(ActuatorError);
  });
});

function ownProperties(target: object): string[] {
  const named = Object.getOwnPropertyDescriptors(target) as { [name: string]: PropertyDescriptor };
  return Object.entries(named)
    .filter(([name]) => ["add", "addBulk", "close", "emit", "processFn", "upsertJobScheduler"].includes(name))
    .map(([name, { value, enumerable }]) => `${name} ${value?.name} ${enumerable}`);
}

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));
function thrown(): never {
  throw new Error("failed on purpose");
}
function unrecoverable(): never {
  throw new UnrecoverableError("failed on purpose");
}
function once(job: Job, act: () => Promise<never>): unknown {
  return job.attemptsStarted === 1 ? act() : undefined;
}
async function putOff(job: Job, token: string | undefined): Promise<never> {
  await job.moveToDelayed(Date.now() + 5, token);
  throw new DelayedError();
}
async function goBack(job: Job, token: string | undefined): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}

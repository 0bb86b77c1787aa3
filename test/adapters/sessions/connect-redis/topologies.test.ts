import { RedisStore } from "connect-redis";
import { Cluster } from "ioredis";
import { createCluster, createSentinel } from "redis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { RedisClient } from "../../../../src/adapters/kit/redis/index.ts";
import { connectRedisSessions } from "../../../../src/adapters/sessions/connect-redis/index.ts";
import { sessionDigest } from "../../../../src/sessions/session-id.ts";
import { startSentinel } from "../../../support/redis-sentinel.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { freePort } from "../../../support/server-process.ts";

const COUNT = 60;

/** The whole life of sessions in a store whose client is more than one connection. */
async function liveThrough(client: unknown, redis?: RedisClient): Promise<void> {
  const store = new RedisStore({ client });
  const sessions = connectRedisSessions(store, redis && { redis });
  onTestFinished(async () => sessions.detach?.());
  const all = Array.from({ length: COUNT }, (_, number) => `id-${number}`).sort();
  for (const id of all) {
    await store.set(id, { cookie: { originalMaxAge: null }, user: `user-${id.length}` } as never);
  }
  const before = await sessions.findByUsername!("user-4");
  expect(before.partial).toBe(false);
  expect(before.sessions).toHaveLength(10);
  expect(await sessions.prepare!()).toMatchObject({ complete: true });
  expect(await sessions.findIdByDigest!(sessionDigest("none"))).toBeNull();
  expect(await sessions.findIdByDigest!(sessionDigest("id-7"))).toBe("id-7");
  expect((await sessions.list!({ limit: 100 })).sessions.map(({ id }) => id).sort()).toEqual(all);
  expect(await sessions.count!({})).toBe(COUNT);
  expect(await sessions.delete!("id-7")).toBe(true);
  const after = await sessions.findByUsername!("user-4");
  expect(after.partial).toBe(false);
  expect(after.sessions).toHaveLength(9);

  const plain = connectRedisSessions(store, { index: false, ...(redis && { redis }) });
  onTestFinished(async () => plain.detach?.());
  const listed: string[] = [];
  for (let next: string | undefined; ; ) {
    const page = await plain.list!({ limit: 25, after: next });
    listed.push(...page.sessions.map(({ id }) => id));
    next = page.next;
    if (next === undefined) break;
  }
  expect([...new Set(listed)].sort()).toEqual(all.filter((id) => id !== "id-7"));
}

describe.runIf(requirement("redis-server", redisFound))("sessions of connect-redis in a cluster", () => {
  const servers: RedisServer[] = [];
  beforeAll(async () => {
    for (const slots of [
      ["0", "8191"],
      ["8192", "16383"],
    ]) {
      const bus = `${await freePort()}`;
      const server = await startRedis({ args: ["--cluster-enabled", "yes", "--cluster-port", bus] });
      servers.push(server);
      await server.command("CLUSTER", "ADDSLOTSRANGE", ...slots);
      const [first] = servers;
      if (first !== server) await first!.command("CLUSTER", "MEET", server.host, `${server.port}`, bus);
    }
    for (const server of servers) {
      const ready = async () => {
        expect(await server.command("CLUSTER", "INFO")).toMatch(/cluster_state:ok/);
        expect(await server.command("CLUSTER", "SHARDS")).toHaveLength(2);
      };
      await vi.waitFor(ready, { timeout: 30_000 });
    }
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  async function connect() {
    await Promise.all(servers.map((server) => server.command("FLUSHALL")));
    const cluster = createCluster({ rootNodes: servers.map(({ url }) => ({ url })) });
    cluster.on("error", () => {});
    await cluster.connect();
    onTestFinished(() => cluster.destroy());
    return cluster;
  }

  it("live through it by node-redis", async () => {
    await liveThrough(await connect());
    for (const server of servers) expect(await server.command("DBSIZE")).toBeGreaterThan(0);
  });

  it("live through it by ioredis", async () => {
    const cluster = new Cluster(servers.map(({ host, port }) => ({ host, port })));
    cluster.on("error", () => {});
    onTestFinished(() => cluster.disconnect());
    await liveThrough(await connect(), cluster);
  });
});

describe.runIf(requirement("redis-server", redisFound))("sessions of connect-redis behind sentinels", () => {
  it("live through it", async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const sentinel = createSentinel({ name: "main", sentinelRootNodes: [await startSentinel(server)] });
    sentinel.on("error", () => {});
    await sentinel.connect();
    onTestFinished(() => sentinel.destroy());
    await liveThrough(sentinel);
  });
});

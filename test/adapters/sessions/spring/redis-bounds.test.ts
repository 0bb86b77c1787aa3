// @module-tag slow
import { once } from "node:events";
import { createServer } from "node:net";
import { createCluster } from "redis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { springSessions } from "../../../../src/adapters/sessions/spring/index.ts";
import { Sessions } from "../../../../src/sessions/sessions.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { loadRedis, recordedClock } from "./recorded.ts";

const INDEX = "index:org.springframework.session.FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME";

describe.runIf(requirement("redis-server", redisFound))("Spring Session's sessions in a large Redis", () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis();
  });
  beforeEach(() => server.command("FLUSHALL"));
  afterAll(() => server?.stop());

  test("a user with too many sessions is found in part, and says so", async () => {
    const script = `for i = 1, 60000 do redis.call("SADD", "n:${INDEX}:robot", '"' .. i .. '"') end`;
    await server.command("EVAL", script, "0");
    await server.command("HSET", "n:sessions:1", "creationTime", "1", "maxInactiveInterval", "-1");
    const store = springSessions({ redis: server.url, namespace: "n" });
    const { sessions, partial } = await store.findByUsername!("robot");
    expect(partial).toBe(true);
    expect(sessions.length).toBeLessThanOrEqual(1);
    await store.detach();
  });

  test("a search is partial if no session is found among many other keys", async () => {
    await server.command("EVAL", `for i = 1, 150000 do redis.call("SET", "cache:" .. i, "") end`, "0");
    const store = springSessions({ redis: server.url, namespace: "n" });
    expect(await store.findByUsername!("alice")).toEqual({ sessions: [], partial: true });
    await store.detach();
  });

  test("a search is partial if Redis has evicted keys, since Spring's index may be among them", async () => {
    await loadRedis(server);
    const store = springSessions({ redis: server.url, namespace: "indexed:jdk", clock: recordedClock });
    expect(await store.findByUsername!("alice")).toMatchObject({ partial: false });
    await server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    const used = /used_memory:(\d+)/.exec(String(await server.command("INFO", "memory")))![1]!;
    await server.command("CONFIG", "SET", "maxmemory", used);
    const evicted = async () => Number(/evicted_keys:(\d+)/.exec(String(await server.command("INFO", "stats")))![1]);
    for (let at = 0; (await evicted()) === 0; at++) await server.command("SET", `cache:${at}`, "x".repeat(1_000));
    // Which keys it evicts is chance: only Spring's index of one user is gone here.
    await server.command("CONFIG", "SET", "maxmemory", "1gb");
    await loadRedis(server);
    await server.command("DEL", `indexed:jdk:${INDEX}:alice`);
    expect(await store.findByUsername!("alice")).toEqual({ sessions: [], partial: true });
    expect(await store.warnings!()).toEqual([expect.stringContaining("allkeys-lru")]);
    await server.command("CONFIG", "SET", "maxmemory", "0");
    await store.detach();
  });

  test("the domain ends all sessions of a user but one", async () => {
    await loadRedis(server);
    const store = springSessions({ redis: server.url, namespace: "indexed:jdk", clock: recordedClock });
    const sessions = new Sessions(store, { idKey: "a key of sixteen" });
    const [spared] = (await sessions.findByUsername("alice")).sessions;
    expect(await sessions.deleteByUsername("alice", spared!.id)).toEqual({ deleted: 1, partial: false });
    expect((await sessions.findByUsername("alice")).sessions).toEqual([spared]);
    expect(await sessions.deleteByUsername("alice")).toEqual({ deleted: 1, partial: false });
    expect((await sessions.findByUsername("alice")).sessions).toEqual([]);
    await sessions.close();
  });

  test.each(["", " ", 7 as unknown as string])("%j is not a namespace", (namespace) => {
    const error = expect.objectContaining({
      code: "INVALID_ARGUMENT",
      metadata: { field: "springSessions.namespace" },
    });
    expect(() => springSessions({ redis: server.url, namespace })).toThrow(error);
  });
});

describe.runIf(requirement("redis-server", redisFound))("Spring Session's sessions in a Redis cluster", () => {
  test("are listed from every server, and ended where they are", async () => {
    const servers = await Promise.all([clusterServer(), clusterServer()]);
    const [first, second] = servers;
    await first.command("CLUSTER", "ADDSLOTSRANGE", "0", "8191");
    await second.command("CLUSTER", "ADDSLOTSRANGE", "8192", "16383");
    await first.command("CLUSTER", "MEET", second.host, `${second.port}`, `${second.busPort}`);
    for (const each of servers) {
      await expect.poll(() => each.command("CLUSTER", "INFO")).toContain("cluster_state:ok");
    }
    const cluster = createCluster({ rootNodes: [{ url: first.url }] });
    cluster.on("error", () => {});
    await cluster.connect();
    const ids = Array.from({ length: 200 }, (_, i) => `id-${i}`);
    for (const id of ids) {
      const times = { creationTime: "1", lastAccessedTime: `${Date.now()}`, maxInactiveInterval: "1800" };
      await cluster.hSet(`spring:session:sessions:${id}`, times);
      await cluster.expire(`spring:session:sessions:${id}`, 1800);
    }

    const store = springSessions({ redis: cluster });
    const found = new Set<string>();
    let after: string | undefined;
    do {
      const { sessions, next } = await store.list({ limit: 30, after });
      for (const { id } of sessions) found.add(id);
      after = next;
    } while (after !== undefined);
    expect([...found].sort()).toEqual([...ids].sort());
    await expect(store.findByUsername!("alice")).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
    for (const id of ids) expect(await store.delete(id)).toBe(true);
    for (const each of servers) expect(await each.command("DBSIZE")).toBe(0);
    cluster.destroy();
    await Promise.all(servers.map((each) => each.stop()));
  });
});

async function clusterServer(): Promise<RedisServer & { readonly busPort: number }> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  const server = await startRedis({ args: ["--cluster-enabled", "yes", "--cluster-port", `${port}`] });
  return Object.assign(server, { busPort: port });
}

// @module-tag slow
import { Cluster } from "ioredis";
import { createCluster } from "redis";
import { describe, expect, onTestFinished, test } from "vitest";
import { type RedisFleetClient, redisFleet } from "../../../../src/adapters/fleet/redis/index.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { freePort } from "../../../support/server-process.ts";
import { until } from "../../../support/until.ts";
import { testFleetEngine } from "../engine-contract.ts";

interface User {
  readonly username: string;
  readonly password: string;
}

const clusters: Record<string, (first: RedisServer, user?: User) => RedisFleetClient> = {
  redis: ({ url }, defaults = undefined) => createCluster({ rootNodes: [{ url }], ...(defaults && { defaults }) }),
  ioredis: ({ host, port }, redisOptions = undefined) =>
    new Cluster([{ host, port }], { lazyConnect: true, keyPrefix: "app:", ...(redisOptions && { redisOptions }) }),
};

const USER: User = { username: "fleet", password: "secret" };
/** A part that is away leaves the others usable. */
const CLUSTER = ["--cluster-enabled", "yes", "--cluster-require-full-coverage", "no"];
const COMMANDS = "eval hset hget hgetall hdel time publish subscribe ping hello cluster|slots".split(" ");

describe.runIf(requirement("redis-server", redisFound)).each(Object.entries(clusters))(
  "redisFleet of a cluster of %s",
  (_, clusterOf) => {
    testFleetEngine("as an engine", async () => {
      const servers = await startCluster();
      const all = (act: (server: RedisServer) => unknown) => Promise.all(servers.map(act));
      return {
        source: redisFleet(clusterOf(servers[0]!)),
        server: {
          kill: async () => void (await all((server) => server.kill())),
          async restart() {
            await all((server) => server.restart());
            await ready(servers);
          },
        },
        stop: async () => void (await all((server) => server.stop())),
      };
    });

    test("needs only the documented permissions", async () => {
      const servers = await startCluster();
      onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
      const rights = ["on", ">secret", "~{ca:*", "&{ca:*", "-@all", ...COMMANDS.map((each) => `+${each}`)];
      for (const server of servers) await server.command("ACL", "SETUSER", "fleet", "reset", ...rights);
      const engine = redisFleet(clusterOf(servers[0]!, USER)).open("shop");
      onTestFinished(() => engine.close());
      const heard: (string | undefined)[] = [];
      engine.onHint((hint) => heard.push(hint));
      const joins = () => engine.exchange("", { id: "a", text: "" }).then(Boolean, () => false);
      await until(joins);
      expect(await engine.store({ version: "1", text: "{}" }, "", "hint")).toBe(true);
      await until(() => heard.includes("hint"));
      expect(await engine.instances()).toHaveLength(1);
    });
  },
);

test.runIf(requirement("redis-server", redisFound)).each(Object.entries(clusters))(
  "a fleet in a cluster of %s needs no other node than its own, and leaves no sockets behind",
  { timeout: 60_000 },
  async (_, clusterOf) => {
    const servers = await startCluster();
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
    const slot = Number(await servers[0]!.command("CLUSTER", "KEYSLOT", "{ca:shop}:state"));
    const [own, other] = slot < 8_192 ? servers : servers.toReversed();
    const engine = redisFleet(clusterOf(own!)).open("shop");
    onTestFinished(() => engine.close());
    const heard: (string | undefined)[] = [];
    engine.onHint((hint) => heard.push(hint));
    const works = () => engine.exchange("").then(Boolean, () => false);
    await until(works);
    await other!.kill();
    const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;
    const counts: number[] = [];
    for (let round = 0; round < 4; round++) {
      await engine.reset();
      await until(works);
      counts.push(sockets());
    }
    expect(await engine.store({ version: "1", text: "{}" }, "", "hint")).toBe(true);
    await until(() => heard.includes("hint"));
    expect(counts.at(-1)).toBeLessThanOrEqual(counts[0]!);
  },
);

async function startCluster(): Promise<RedisServer[]> {
  const servers: RedisServer[] = [];
  for (const slots of [
    ["0", "8191"],
    ["8192", "16383"],
  ]) {
    const bus = `${await freePort()}`;
    const server = await startRedis({ args: [...CLUSTER, "--cluster-port", bus] });
    servers.push(server);
    await server.command("CLUSTER", "ADDSLOTSRANGE", ...slots);
    const [first] = servers;
    if (first !== server) await first!.command("CLUSTER", "MEET", server.host, `${server.port}`, bus);
  }
  await ready(servers);
  return servers;
}

async function ready(servers: readonly RedisServer[]): Promise<void> {
  for (const server of servers) {
    await until(async () =>
      /cluster_state:ok[\s\S]*cluster_known_nodes:2/.test(`${await server.command("CLUSTER", "INFO")}`),
    );
  }
}

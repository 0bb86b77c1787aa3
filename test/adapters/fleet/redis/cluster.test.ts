// @module-tag slow
import { Cluster } from "ioredis";
import { createCluster } from "redis";
import { describe } from "vitest";
import { type RedisFleetClient, redisFleet } from "../../../../src/adapters/fleet/redis/index.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { freePort } from "../../../support/server-process.ts";
import { until } from "../../../support/until.ts";
import { testFleetEngine } from "../engine-contract.ts";

const clusters: Record<string, (first: RedisServer) => RedisFleetClient> = {
  redis: ({ url }) => createCluster({ rootNodes: [{ url }] }),
  ioredis: ({ host, port }) => new Cluster([{ host, port }], { lazyConnect: true, keyPrefix: "app:" }),
};

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
  },
);

async function startCluster(): Promise<RedisServer[]> {
  const servers: RedisServer[] = [];
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

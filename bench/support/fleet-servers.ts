import { execFileSync } from "node:child_process";
import { connect as connectNats } from "@nats-io/transport-node";
import pg from "pg";
import { createClient } from "redis";
import { natsFleet } from "../../src/adapters/fleet/nats/index.ts";
import { FLEET_TABLES, postgresFleet } from "../../src/adapters/fleet/postgres/index.ts";
import { redisFleet } from "../../src/adapters/fleet/redis/index.ts";
import type { FleetEngineSource } from "../../src/fleet/engine.ts";
import { startNats } from "../../test/support/nats-server.ts";
import { startPostgres } from "../../test/support/postgres-server.ts";
import { startRedis } from "../../test/support/redis-server.ts";
import { freePort } from "../../test/support/server-process.ts";

/** A server that keeps a fleet, and what it does without one: a message to all who listen. */
export interface FleetServer {
  /** What the bare message is called there. */
  readonly message: string;
  /** More connections than this are not asked of it. */
  readonly maxInstances: number;
  start(): Promise<{ readonly url: string; stop(): Promise<void> }>;
  source(url: string): FleetEngineSource;
  connect(url: string): Promise<FleetServerClient>;
}

/** A connection of its own. */
export interface FleetServerClient {
  version(): Promise<string>;
  publish(text: string): Promise<unknown>;
  subscribe(heard: (text: string) => void): Promise<unknown>;
  /** How many commands, transactions or messages the server has had, without those of this client. */
  commands(): Promise<number>;
  /** Seconds of a processor that it has used; undefined: it does not say. */
  processor(): Promise<number | undefined>;
  close(): Promise<unknown>;
}

const redis: FleetServer = {
  message: "PUBLISH",
  maxInstances: 1_000,
  start: startRedis,
  source: redisFleet,
  async connect(url) {
    const client = createClient({ url });
    await client.connect();
    return {
      version: async () => execFileSync("redis-server", ["--version"], { encoding: "utf8" }).trim(),
      publish: (text) => client.publish("bare", text),
      subscribe: (heard) => client.subscribe("bare", heard),
      async commands() {
        const stats = await client.info("commandstats");
        return [...stats.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)]
          .filter(([, name]) => !/^(info|hset|hget|hgetall|time)$/.test(name!))
          .reduce((sum, [, , calls]) => sum + Number(calls), 0);
      },
      async processor() {
        const [user, system] = [...(await client.info("cpu")).matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)];
        return Number(user![1]) + Number(system![1]);
      },
      close: async () => client.destroy(),
    };
  },
};

const postgres: FleetServer = {
  message: "NOTIFY",
  // Each has one for the bare message besides.
  maxInstances: 50,
  async start() {
    const server = await startPostgres({ settings: { max_connections: 300 } });
    await server.query(FLEET_TABLES);
    return server;
  },
  source: postgresFleet,
  async connect(url) {
    const client = new pg.Client(url);
    await client.connect();
    return {
      version: async () => (await client.query("select version()")).rows[0].version,
      publish: (text) => client.query("select pg_notify('bare', $1)", [text]),
      subscribe(heard) {
        client.on("notification", ({ payload = "" }) => heard(payload));
        return client.query("listen bare");
      },
      async commands() {
        const { rows } = await client.query("select sum(xact_commit) as count from pg_stat_database");
        return Number(rows[0].count);
      },
      processor: async () => undefined,
      close: () => client.end(),
    };
  },
};

const nats: FleetServer = {
  message: "publish",
  maxInstances: 1_000,
  async start() {
    const monitor = await freePort();
    const server = await startNats({ args: ["-m", `${monitor}`] });
    return { url: `nats://${server.url}#${monitor}`, stop: () => server.stop() };
  },
  source: (url) => natsFleet(url.split("#")[0]!),
  async connect(url) {
    const [servers, monitor] = url.split("#") as [string, string];
    const client = await connectNats({ servers: servers.replace("nats://", "") });
    return {
      version: async () => execFileSync("nats-server", ["--version"], { encoding: "utf8" }).trim(),
      // The others have the same way through the server.
      publish: async (text) => {
        client.publish("bare", text);
        await client.flush();
      },
      async subscribe(heard) {
        client.subscribe("bare", { callback: (_, message) => heard(message.string()) });
        await client.flush();
      },
      async commands() {
        const answer = await fetch(`http://127.0.0.1:${monitor}/varz`);
        return ((await answer.json()) as { in_msgs: number }).in_msgs;
      },
      processor: async () => undefined,
      close: () => client.close(),
    };
  },
};

/** By the name of the engine. */
export const FLEET_SERVERS: Readonly<Record<string, FleetServer>> = { redis, postgres, nats };

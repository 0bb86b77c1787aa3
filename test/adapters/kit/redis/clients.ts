import { Redis } from "ioredis";
import { createClient, createClientPool } from "redis";
import { type RedisCommands, redisCommands } from "../../../../src/adapters/kit/redis/index.ts";

/** A port over one kind of client, with what ends the client. */
export interface TestClient {
  readonly commands: RedisCommands;
  end(): Promise<void>;
}

interface Where {
  readonly url: string;
  readonly timeout?: number;
}

/** Each kind of client that applications have. */
export const CLIENTS: Readonly<Record<string, (where: Where) => Promise<TestClient>>> = {
  "node-redis": async ({ url, timeout }) => {
    const client = createClient({ url });
    client.on("error", () => {});
    await client.connect();
    return { commands: redisCommands(client, { timeoutMs: timeout }), end: async () => client.destroy() };
  },
  "node-redis with RESP2": async ({ url, timeout }) => {
    const client = createClient({ url, RESP: 2 });
    client.on("error", () => {});
    await client.connect();
    return { commands: redisCommands(client, { timeoutMs: timeout }), end: async () => client.destroy() };
  },
  "a pool of node-redis": async ({ url, timeout }) => {
    const pool = createClientPool({ url }, { minimum: 1, maximum: 2 });
    pool.on("error", () => {});
    await pool.connect();
    return { commands: redisCommands(pool, { timeoutMs: timeout }), end: async () => pool.destroy() };
  },
  ioredis: async ({ url, timeout }) => {
    const client = new Redis(url);
    client.on("error", () => {});
    return { commands: redisCommands(client, { timeoutMs: timeout }), end: async () => client.disconnect() };
  },
  "ioredis that pipelines by itself": async ({ url, timeout }) => {
    const client = new Redis(url, { enableAutoPipelining: true });
    client.on("error", () => {});
    return { commands: redisCommands(client, { timeoutMs: timeout }), end: async () => client.disconnect() };
  },
  "ioredis with maps": async ({ url, timeout }) => {
    const client = new Redis(url, { replyMapping: "resp3" });
    client.on("error", () => {});
    return { commands: redisCommands(client, { timeoutMs: timeout }), end: async () => client.disconnect() };
  },
  "a URL": async ({ url, timeout }) => {
    const commands = redisCommands(url, { timeoutMs: timeout });
    return { commands, end: () => commands.close() };
  },
};

import { FLEET_TABLES } from "../../../src/adapters/fleet/postgres/index.ts";
import { natsFound, startNats } from "../../support/nats-server.ts";
import { postgresFound, startPostgres } from "../../support/postgres-server.ts";
import { redisFound, startRedis } from "../../support/redis-server.ts";
import type { CheckedServer } from "./checker.ts";

/** An engine that keeps what it acknowledged. */
export interface CheckedEngine {
  readonly tool: string;
  readonly isFound: boolean;
  readonly start: () => Promise<CheckedServer & { stop(): Promise<void> }>;
  readonly urlAt: (port: number) => string;
}

/**
 * An engine that forgets everything when it is killed, for the checker by hand. What is acknowledged is lost if the instance that answered is
 * killed, too, before any other has it.
 */
export const FORGETFUL: Readonly<Record<string, CheckedEngine>> = {
  "redis-memory": {
    tool: "redis-server",
    isFound: redisFound,
    start: () => startRedis({ args: ["--appendonly", "no"] }),
    urlAt: (port) => `redis://127.0.0.1:${port}`,
  },
};

/** By name, the engines that are checked. */
export const ENGINES: Readonly<Record<string, CheckedEngine>> = {
  redis: {
    tool: "redis-server",
    isFound: redisFound,
    start: startRedis,
    urlAt: (port) => `redis://127.0.0.1:${port}`,
  },
  postgres: {
    tool: "postgresql",
    isFound: postgresFound,
    start: async () => {
      const server = await startPostgres();
      await server.query(FLEET_TABLES);
      return server;
    },
    urlAt: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
  },
  nats: {
    tool: "nats-server",
    isFound: natsFound,
    start: async () => Object.assign(await startNats(), { host: "127.0.0.1" }),
    urlAt: (port) => `nats://127.0.0.1:${port}`,
  },
};

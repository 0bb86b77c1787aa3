import { Redis } from "ioredis";
import { createClient } from "redis";
import { describe, expect, onTestFinished, test } from "vitest";
import { natsFleet } from "../../../src/adapters/fleet/nats/index.ts";
import { FLEET_TABLES, postgresFleet } from "../../../src/adapters/fleet/postgres/index.ts";
import { redisFleet } from "../../../src/adapters/fleet/redis/index.ts";
import type { FleetEngineSource } from "../../../src/fleet/engine.ts";
import { authority, type KeyPair } from "../../support/certificates.ts";
import { natsFound, startNats } from "../../support/nats-server.ts";
import { postgresFound, startPostgres } from "../../support/postgres-server.ts";
import { redisFound, startRedis } from "../../support/redis-server.ts";
import { requirement } from "../../support/requirement.ts";
import { freePort } from "../../support/server-process.ts";

/** How a client reaches a server that answers over TLS: it trusts `ca`, or what Node.js does. */
type Source = (ca: string | undefined) => FleetEngineSource;

async function startTlsRedis(pair: KeyPair): Promise<number> {
  const port = await freePort();
  const server = await startRedis({ tls: { ...pair, port } });
  onTestFinished(() => server.stop());
  return port;
}

const ENGINES: Record<string, { isFound: boolean; package: string; start(pair: KeyPair): Promise<Source> }> = {
  "Redis, by node-redis": {
    package: "redis-server",
    isFound: redisFound,
    async start(pair) {
      const url = `rediss://127.0.0.1:${await startTlsRedis(pair)}`;
      return (ca) => redisFleet(ca === undefined ? url : createClient({ url, socket: { tls: true, ca } }));
    },
  },
  "Redis, by ioredis": {
    package: "redis-server",
    isFound: redisFound,
    async start(pair) {
      const port = await startTlsRedis(pair);
      return (ca) => redisFleet(new Redis({ port, lazyConnect: true, tls: { ca } }));
    },
  },
  PostgreSQL: {
    package: "postgresql",
    isFound: postgresFound,
    async start(pair) {
      const server = await startPostgres({ tls: pair });
      onTestFinished(() => server.stop());
      await server.query(FLEET_TABLES);
      const url = server.url.replace("postgres@", "postgres:secret@");
      return (ca) =>
        postgresFleet(ca === undefined ? `${url}?sslmode=verify-full` : { connectionString: url, ssl: { ca } });
    },
  },
  NATS: {
    package: "nats-server",
    isFound: natsFound,
    async start(pair) {
      const server = await startNats({ tls: pair });
      onTestFinished(() => server.stop());
      return (ca) => natsFleet(ca === undefined ? `tls://${server.url}` : { servers: server.url, tls: { ca } });
    },
  },
};

for (const [name, { isFound, package: needed, start }] of Object.entries(ENGINES)) {
  describe.runIf(requirement(needed, isFound))(`over TLS, ${name}`, () => {
    test("is reached if its authority is trusted, and says why if it is not", async () => {
      const own = await authority();
      const source = await start(await own.issue("server"));
      const answerOf = (ca: string | undefined) => {
        const engine = source(ca).open("shop");
        onTestFinished(() => engine.close());
        return () =>
          engine.exchange("", { id: "a", text: "{}" }).then(
            () => "answered",
            (error: Error) => error.message,
          );
      };
      await expect.poll(answerOf(own.ca), { timeout: 20_000 }).toBe("answered");
      await expect.poll(answerOf(undefined), { timeout: 20_000 }).toMatch(/certificate/);
    });
  });
}

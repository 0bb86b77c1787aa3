import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { describe, expect, onTestFinished, test } from "vitest";
import { natsFleet } from "../../../src/adapters/fleet/nats/index.ts";
import { FLEET_TABLES, postgresFleet } from "../../../src/adapters/fleet/postgres/index.ts";
import { redisFleet } from "../../../src/adapters/fleet/redis/index.ts";
import type { FleetEngineSource } from "../../../src/fleet/engine.ts";
import { authority } from "../../support/certificates.ts";
import { natsFound, startNats } from "../../support/nats-server.ts";
import { postgresFound, startPostgres, unprivilegedUser } from "../../support/postgres-server.ts";
import { redisFound, startRedis } from "../../support/redis-server.ts";
import { requirement } from "../../support/requirement.ts";
import { freePort } from "../../support/server-process.ts";

/** Paths of a server's certificate and key. */
interface Files {
  readonly cert: string;
  readonly key: string;
}

/** How a client reaches a server that answers over TLS alone: it trusts `ca`, or what Node.js does. */
type Source = (ca: string | undefined) => FleetEngineSource;

async function startTlsRedis({ cert, key }: Files): Promise<number> {
  const port = await freePort();
  const tls = { "--tls-port": `${port}`, "--tls-cert-file": cert, "--tls-key-file": key, "--tls-auth-clients": "no" };
  const server = await startRedis({ args: Object.entries(tls).flat() });
  onTestFinished(() => server.stop());
  return port;
}

const ENGINES: Record<string, { isFound: boolean; package: string; start(files: Files): Promise<Source> }> = {
  "Redis, by node-redis": {
    package: "redis-server",
    isFound: redisFound,
    async start(files) {
      const url = `rediss://127.0.0.1:${await startTlsRedis(files)}`;
      return (ca) => redisFleet(ca === undefined ? url : createClient({ url, socket: { tls: true, ca } }));
    },
  },
  "Redis, by ioredis": {
    package: "redis-server",
    isFound: redisFound,
    async start(files) {
      const port = await startTlsRedis(files);
      return (ca) => redisFleet(new Redis({ port, lazyConnect: true, tls: { ca } }));
    },
  },
  PostgreSQL: {
    package: "postgresql",
    isFound: postgresFound,
    async start({ cert, key }) {
      const server = await startPostgres({ settings: { ssl: "on", ssl_cert_file: cert, ssl_key_file: key } });
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
    async start({ cert, key }) {
      const server = await startNats({ args: ["--tls", "--tlscert", cert, "--tlskey", key] });
      onTestFinished(() => server.stop());
      return (ca) => natsFleet(ca === undefined ? `tls://${server.url}` : { servers: server.url, tls: { ca } });
    },
  },
};

for (const [name, { isFound, package: needed, start }] of Object.entries(ENGINES)) {
  describe.runIf(requirement(needed, isFound))(`over TLS, ${name}`, () => {
    test("is reached if its authority is trusted, and says why if it is not", async () => {
      const folder = mkdtempSync(join(tmpdir(), "connect-actuator-tls-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      chmodSync(folder, 0o755);
      const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
      const own = await authority();
      const pair = await own.issue("server");
      writeFileSync(files.cert, pair.cert);
      writeFileSync(files.key, pair.key, { mode: 0o600 });
      const { uid, gid } = unprivilegedUser();
      if (needed === "postgresql" && uid !== undefined) chownSync(files.key, uid, gid);

      const source = await start(files);
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

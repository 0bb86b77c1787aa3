import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { redisCommands } from "../../../../src/adapters/kit/redis/index.ts";
import type { ActuatorError } from "../../../../src/common/error.ts";
import { authority } from "../../../support/certificates.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { freePort } from "../../../support/server-process.ts";

const PASSWORD = "correct-horse";

describe.runIf(requirement("redis-server", redisFound))("Redis over TLS", () => {
  let folder: string;
  let server: RedisServer;
  let port: number;
  let ca: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "connect-actuator-redis-tls-"));
    port = await freePort();
    const made = await authority();
    const elsewhere = await made.issue("server", { names: [{ type: "dns", value: "cache.example" }] });
    const here = await made.issue("server");
    ca = made.ca;
    const files = { ca, other: (await authority()).ca, cert: here.cert, key: here.key };
    for (const [name, text] of Object.entries({ ...files, foreign: elsewhere.cert, "foreign-key": elsewhere.key })) {
      writeFileSync(file(name), text);
    }
    const tls = ["--tls-port", `${port}`, "--tls-auth-clients", "no", "--tls-ca-cert-file", file("ca")];
    server = await startRedis({ args: [...tls, "--tls-cert-file", file("cert"), "--tls-key-file", file("key")] });
    await server.command("ACL", "SETUSER", "reader", "on", `>${PASSWORD}`, "~*", "+@all");
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const file = (name: string) => join(folder, `${name}.pem`);
  const url = (host = "127.0.0.1") => `rediss://reader:${PASSWORD}@${host}:${port}`;

  /** What a process says that trusts the authority of this file besides those that Node.js knows. */
  async function ping(trusted: string, host?: string): Promise<string> {
    const child = join(import.meta.dirname, "tls-child.ts");
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: file(trusted) };
    return (await promisify(execFile)(process.execPath, [child, url(host)], { env })).stdout.trim();
  }

  it.each(["127.0.0.1", "localhost"])("is reached by a URL of %s if its authority is trusted", async (host) => {
    expect(await ping("ca", host)).toBe("PONG");
  });

  it("is reached by the application's client", async () => {
    const client = createClient({ url: url(), socket: { tls: true, ca, reconnectStrategy: false } });
    client.on("error", () => {});
    await client.connect();
    onTestFinished(() => client.destroy());
    expect(await redisCommands(client).command(["PING"])).toBe("PONG");
  });

  it("is refused with the fault and what to do if another authority is trusted", async () => {
    expect(await ping("other")).toMatch(
      /^The certificate of Redis was rejected \(\w+\)\. It must be valid for this host .* NODE_EXTRA_CA_CERTS/,
    );
  });

  it("is refused if the certificate is another host's", async () => {
    await server.command("CONFIG", "SET", "tls-cert-file", file("foreign"), "tls-key-file", file("foreign-key"));
    onTestFinished(async () => {
      await server.command("CONFIG", "SET", "tls-cert-file", file("cert"), "tls-key-file", file("key"));
    });
    expect(await ping("ca")).toContain("was rejected (ERR_TLS_CERT_ALTNAME_INVALID)");
  });

  it("says nothing of the password, the host or the port", async () => {
    const redis = redisCommands(url());
    onTestFinished(() => redis.close());
    const error = await redis.command(["PING"]).then(
      () => undefined,
      (reason: ActuatorError) => reason,
    );
    expect(error).toMatchObject({ code: "UNAVAILABLE", reason: "SESSION_STORE_UNAVAILABLE" });
    for (const secret of [PASSWORD, "reader", "127.0.0.1", `${port}`]) expect(error!.message).not.toContain(secret);
  });

  it("is reported out of reach in time if it does not speak TLS", async () => {
    const redis = redisCommands(`rediss://127.0.0.1:${server.port}`, { timeoutMs: 300 });
    onTestFinished(() => redis.close());
    await expect(redis.command(["PING"])).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});

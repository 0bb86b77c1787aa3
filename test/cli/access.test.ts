import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ActuatorOptions, createActuator, type ListenOptions } from "../../src/index.ts";
import { authority, type KeyPair } from "../support/certificates.ts";
import { tokensFor } from "../support/tokens.ts";
import { cli } from "./cli-process.ts";

async function serveGuarded(listen: ListenOptions, options: ActuatorOptions = {}): Promise<string> {
  const actuator = createActuator({ loggers: {}, audit: false, ...options });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  return (await actuator.listen({ port: 0, ...listen })).url;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "connect-actuator-cli-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function pemFiles(name: string, { cert, key }: KeyPair) {
  const path = folder();
  const files = { cert: join(path, `${name}.crt`), key: join(path, `${name}.key`) };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key);
  return files;
}

test("a Unix socket needs no other option", async () => {
  const url = await serveGuarded({ port: undefined, path: join(folder(), "shop.sock") });
  expect(url).toMatch(/^unix:\//);
  const { code, stdout } = await cli(["loggers", "set", "orders", "warn", "--forever", "--url", url]);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("orders") });
  const away = await cli(["health", "--url", `${url}.gone`]);
  expect([away.code, away.stderr.split("\n").length]).toEqual([3, 2]);
});

describe("TLS", () => {
  test("a private authority, in the environment or on the command line", async () => {
    const ca = await authority();
    const { cert, key } = await ca.issue("server");
    const file = join(folder(), "ca.crt");
    writeFileSync(file, ca.ca);
    const url = await serveGuarded({ tls: { cert, key } });
    expect((await cli(["health", "--url", url, "--ca", file])).code).toBe(0);
    expect((await cli(["health", "--url", url], { env: { ACTUATOR_CA: file } })).code).toBe(0);
    const unknown = await cli(["health", "--url", url]);
    expect(unknown.code).toBe(3);
    expect(unknown.stderr).toMatch(/is not trusted .*give its authority with --ca or ACTUATOR_CA/);
  });

  test("a client certificate", async () => {
    const ca = await authority();
    const server = await ca.issue("server");
    const client = pemFiles("operator", await ca.issue("client", { commonName: "operator" }));
    const file = join(folder(), "ca.crt");
    writeFileSync(file, ca.ca);
    const url = await serveGuarded({ tls: { ...server, ca: ca.ca, clientCertificate: "require" } });
    const args = ["--url", url, "--ca", file];
    const set = await cli([
      "loggers",
      "set",
      "orders",
      "warn",
      "--forever",
      ...args,
      "--cert",
      client.cert,
      "--key",
      client.key,
    ]);
    expect(set.code).toBe(0);
    const history = await cli(["loggers", "history", ...args, "--cert", client.cert, "--key", client.key]);
    expect(history.stdout).toContain("operator");
    expect((await cli(["loggers", "list", ...args])).code).toBe(3);
  });

  test.each([
    [["--cert", "x.crt"], /--cert and --key go together/],
    [["--ca", "/nowhere/ca.crt"], /--ca: \/nowhere\/ca\.crt cannot be read \(ENOENT\)/],
    [["--ca", import.meta.filename], /--ca: .* is not a PEM file/],
  ])("%j is refused before anything is sent", async (args, message) => {
    const { code, stderr } = await cli(["health", "--url", "https://127.0.0.1:1", ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

test("a token, and a permission that it lacks", async () => {
  const { file, tokens } = tokensFor({ reader: { permissions: ["loggers:read"] } });
  const url = await serveGuarded({}, { access: { tokens: file } });
  const env = { ACTUATOR_URL: url, ACTUATOR_TOKEN: tokens.reader };
  expect((await cli(["loggers", "list"], { env })).code).toBe(0);
  const refused = await cli(["loggers", "set", "orders", "warn"], { env });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/lacks the permission loggers:write/);
  const anonymous = await cli(["loggers", "list"], { env: { ACTUATOR_URL: url } });
  expect([anonymous.code, anonymous.stderr]).toEqual([
    1,
    expect.stringMatching(/requires authentication: give a token/),
  ]);
});

test("a refusal that no permission would prevent is told as the server says it", async () => {
  const actuator = createActuator({ loggers: {}, audit: false, onError: () => undefined });
  const server = http.createServer(actuator.handler);
  onTestFinished(async () => {
    server.close();
    await actuator.close({ deadlineMs: 0 });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, stderr } = await cli(["loggers", "list", "--url", url]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/the server says: .*access/);
  expect(stderr).not.toContain("permission");
});

test("a 403 of another server is not taken for a missing permission", async () => {
  const proxy = http.createServer((_, response) => response.writeHead(403).end());
  onTestFinished(() => void proxy.close());
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const { code, stderr } = await cli(["loggers", "list", "--url", url]);
  expect(code).toBe(1);
  expect(stderr).toBe(
    `connect-actuator: ${url} refuses the call (HTTP 403): check what a proxy in front of it allows\n`,
  );
});

import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { type AuditRecord, createActuator } from "../../src/index.ts";
import { authority } from "../support/certificates.ts";
import { requirement } from "../support/requirement.ts";
import { freePort, ServerFolder } from "../support/server-process.ts";
import { tokensFor } from "../support/tokens.ts";
import { blocksOf, root } from "./pages.ts";

const hasNginx = requirement("nginx", spawnSync("nginx", ["-v"]).status === 0);
const hasHaproxy = requirement("haproxy", spawnSync("haproxy", ["-v"]).status === 0);

/** A documented configuration, the programs that serve it, and the address from which they serve. */
type Start = (configuration: string, ports: { readonly actuator: string; readonly listen: number }) => Promise<void>;

function folderFor(name: string): ServerFolder {
  const folder = new ServerFolder(name);
  onTestFinished(() => folder.remove());
  return folder;
}

/** Runs nginx with these servers until the test ends. */
async function startNginx(folder: ServerFolder, servers: string): Promise<void> {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${name};`);
  const main = `daemon off; master_process off; pid nginx.pid; error_log stderr notice; events {}
    http { access_log off; ${temporary.join(" ")} ${servers} }`;
  writeFileSync(join(folder.path, "nginx.conf"), main);
  const args = ["-p", folder.path, "-c", "nginx.conf", "-e", "stderr"];
  await folder.run({ command: "nginx", args, ready: /event method/ });
}

const nginx: Start = async (configuration, { actuator, listen }) => {
  const folder = folderFor("nginx");
  const { cert, key } = await (await authority()).issue("server");
  writeFileSync(join(folder.path, "tls.crt"), cert);
  writeFileSync(join(folder.path, "tls.key"), key);
  const version = Number(/nginx\/1\.(\d+)/.exec(spawnSync("nginx", ["-v"], { encoding: "utf8" }).stderr)![1]);
  const servers = configuration
    .replaceAll("9001", actuator)
    .replace(/http2 on;.*/, version >= 25 ? "http2 on;" : "")
    .replace("listen 443 ssl;", `listen 127.0.0.1:${listen} ssl${version >= 25 ? "" : " http2"};`);
  await startNginx(folder, servers);
};

const haproxy: Start = async (configuration, { actuator, listen }) => {
  const folder = folderFor("haproxy");
  const { cert, key } = await (await authority()).issue("server");
  writeFileSync(join(folder.path, "shop.pem"), `${cert}\n${key}`);
  const moved = configuration
    .replaceAll("9001", actuator)
    .replace("bind :443", `bind 127.0.0.1:${listen}`)
    .replace("shop.pem", join(folder.path, "shop.pem"));
  writeFileSync(join(folder.path, "haproxy.cfg"), `global\n  log stderr local0\n${moved}`);
  await folder.run({ command: "haproxy", args: ["-W", "-db", "-f", "haproxy.cfg"], ready: /Loading success/ });
};

/** The configuration of a page, behind the real proxy, until the test ends. */
async function behind(page: string, language: string, start: Start) {
  const { code } = blocksOf(language).find((block) => block.page === page)!;
  const { file, tokens } = tokensFor({ operator: { permissions: ["*"] } });
  const records: AuditRecord[] = [];
  const actuator = createActuator({
    loggers: { logLevelChanges: false },
    access: { tokens: file },
    trustedProxies: ["127.0.0.1"],
    audit: (record) => void records.push(record),
    heartbeatMs: 200,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { port } = new URL((await actuator.listen({ port: 0 })).url!);
  const listen = await freePort();
  await start(code, { actuator: port, listen });
  return { url: `https://127.0.0.1:${listen}`, token: tokens.operator, records };
}

const curl = async (...args: readonly string[]) =>
  (await promisify(execFile)("curl", ["-sk", "-w", "\n%{http_code}", ...args])).stdout;
const headersOf = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);

/** The address of a client of the proxies, which are at 127.0.0.1. */
const CLIENT = "127.0.0.9";
const FORGED = {
  Forwarded: "for=127.0.0.1;host=evil.example;proto=http",
  "X-Forwarded-For": "127.0.0.1",
  "X-Forwarded-Host": "evil.example",
  "X-Forwarded-Proto": "http",
  "X-Forwarded-Prefix": "/evil",
};

describe.each([
  { page: "docs/guides/nginx.md", language: "nginx", start: nginx, isInstalled: hasNginx },
  { page: "docs/guides/haproxy.md", language: "haproxy", start: haproxy, isInstalled: hasHaproxy },
])("$page", ({ page, language, start, isInstalled }) => {
  test.runIf(isInstalled)("REST, gRPC, gRPC-Web and watches pass, and only with a token", async () => {
    const { url, token } = await behind(page, language, start);
    const headers = { authorization: `Bearer ${token}` };
    expect(await curl(`${url}/actuator/loggers`)).toMatch(/\n401$/);
    expect(await curl(...headersOf(headers), `${url}/actuator/loggers`)).toMatch(/"levels"[\s\S]*\n200$/);

    const options = { baseUrl: url, nodeOptions: { rejectUnauthorized: false } };
    for (const transport of [
      createGrpcTransport(options),
      createGrpcWebTransport({ ...options, httpVersion: "2" }),
      createGrpcWebTransport({ ...options, httpVersion: "1.1" }),
    ]) {
      const client = createClient(LoggersService, transport);
      const { result } = await client.getLogger({ name: "ROOT" }, { headers });
      expect(result.value?.name).toBe("ROOT");
      // Two heartbeats: the proxy passes events on as they come.
      let events = 0;
      for await (const _ of client.watchLoggers({}, { headers })) if (++events === 3) break;
    }
  });

  test.runIf(isInstalled && process.platform === "linux")(
    "a client cannot say who it is, or what links point to",
    async () => {
      const { url, token, records } = await behind(page, language, start);
      const headers = { authorization: `Bearer ${token}`, ...FORGED };
      const index = await curl("--interface", CLIENT, ...headersOf(headers), `${url}/actuator`);
      expect(index).toContain(`"href":"${url}/actuator/loggers"`);
      const level = ["-H", "Content-Type: application/json", "-d", '{"configuredLevel":"DEBUG"}'];
      await curl("--interface", CLIENT, ...headersOf(headers), ...level, `${url}/actuator/loggers/orders`);
      const nodeOptions = { rejectUnauthorized: false, localAddress: CLIENT };
      for (const transport of [
        createGrpcTransport({ baseUrl: url, nodeOptions }),
        createGrpcWebTransport({ baseUrl: url, nodeOptions, httpVersion: "1.1" }),
      ]) {
        await createClient(LoggersService, transport).setLoggerLevel(
          { name: "orders", level: Level.WARN },
          { headers },
        );
      }
      expect(records.map(({ who, address, result }) => ({ who, address, result }))).toEqual(
        ["rest", "grpc", "grpc-web"].map(() => ({ who: "operator", address: CLIENT, result: "OK" })),
      );
    },
  );

  test("the program of the page is the one that is tried", () => {
    const programs = readFileSync(join(root, "docs", "guides", "nginx.md"), "utf8");
    expect(programs).toContain('access: { tokens: "tokens.json" }');
    expect(programs).toContain('trustedProxies: ["127.0.0.1"]');
    expect(readFileSync(join(root, page), "utf8")).toContain("proxy");
  });
});

test.runIf(hasNginx)(
  "behind a bare proxy_pass, clients of an application see only the health of its actuator",
  async () => {
    const actuator = createActuator({ loggers: {}, audit: false, onError: () => {} });
    onTestFinished(() => actuator.close());
    const application = createServer((req, res) => actuator.handler(req, res, () => res.end("the application")));
    onTestFinished(() => void application.close().closeAllConnections());
    await once(application.listen(0, "127.0.0.1"), "listening");
    const { port } = application.address() as AddressInfo;
    const listen = await freePort();
    const bare = `server { listen 127.0.0.1:${listen}; location / { proxy_pass http://127.0.0.1:${port}; } }`;
    await startNginx(folderFor("nginx"), bare);
    const url = `http://127.0.0.1:${listen}`;
    const level = ["-H", "Content-Type: application/json", "-d", '{"configuredLevel":"OFF"}'];
    expect(await curl(url)).toBe("the application\n200");
    expect(await curl(`${url}/actuator/health`)).toMatch(/^\{"status":"UP"\}\n200$/);
    expect(await curl(...level, `${url}/actuator/loggers/orders`)).toMatch(/option access[\s\S]*\n403$/);
    expect(await curl(...level, `${url}/actuator.v3.LoggersService/ListLoggers`)).toMatch(/option access[\s\S]*\n403$/);
    expect(actuator.loggers!.get("orders")).toBeUndefined();
  },
);

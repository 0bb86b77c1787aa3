import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ActuatorOptions, createActuator } from "../../src/index.ts";
import type { ListenOptions } from "../../src/server/listen-options.ts";
import { testTrust } from "../support/server-tls.ts";
import { CliProcess } from "./cli-process.ts";

const HELD = /Held until Ctrl-C/;

const CLOSED = expect.stringMatching(/\nconnect-actuator: the connection to http:\S+ was closed: [^\n]+\n$/);

const hold = (url: string, ...args: string[]) =>
  new CliProcess(["loggers", "set", "orders", "warn", "--hold", "--url", url, ...args]);

function open(options: ActuatorOptions = {}) {
  const actuator = createActuator({
    access: "loopback",
    audit: false,
    metrics: true,
    ...options,
    loggers: { logLevelChanges: false },
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  return {
    actuator,
    held: () => actuator.loggers!.get("orders")?.override?.held === true,
    streams: () => actuator.metrics!.gauges().find(({ name }) => name === "actuator.http2.streams")!.points[0]!.value,
  };
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "connect-actuator-cli-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function listening(server: net.Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A proxy to the port, for connections whose first bytes it accepts. It leaves others unanswered. */
async function forwarding(port: number, accepts: (bytes: Buffer) => boolean = () => true) {
  const sockets: net.Socket[] = [];
  const server = net.createServer((near) => {
    sockets.push(near);
    near
      .on("error", () => {})
      .once("data", (bytes) => {
        if (!accepts(bytes)) return;
        const far = net.connect(port, "127.0.0.1").on("error", () => {});
        far.write(bytes);
        near.pipe(far).pipe(near);
        near.on("close", () => far.destroy());
      });
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(cut);
  return { url: `http://127.0.0.1:${await listening(server)}`, cut };
}

async function ends(child: CliProcess): Promise<void> {
  child.signal("SIGINT");
  const { code, stdout, stderr } = await child.ended();
  expect(code).toBe(130);
  expect(stdout).toMatch(/\nRestored orders\.\n$/);
  expect(stderr).toMatch(/^Held until Ctrl-C\.\nNo logger is named orders yet[^\n]+\n$/);
}

/** The `--ca` of the tests' servers, if the URL needs one. */
async function trust(url: string): Promise<string[]> {
  if (!url.startsWith("https:")) return [];
  const file = join(folder(), "ca.pem");
  writeFileSync(file, (await testTrust()).authority.ca);
  return ["--ca", file];
}

test.each<[string, () => Promise<ListenOptions>]>([
  ["cleartext", async () => ({ port: 0 })],
  ["TLS", async () => ({ port: 0, tls: (await testTrust()).server })],
  ["a Unix socket", async () => ({ path: join(folder(), "actuator.sock") })],
])("a hold goes over HTTP/2: %s", async (_, options) => {
  const { actuator, held, streams } = open();
  const { url } = await actuator.listen(await options());
  const child = hold(url, ...(await trust(url)));
  await child.wrote(HELD);
  expect([held(), streams()]).toEqual([true, 1]);
  await ends(child);
  expect(held()).toBe(false);
});

test("a stopped client loses its hold, and says so when it goes on", { tags: ["slow"] }, async () => {
  const { actuator, held } = open({ limits: { pingIntervalMs: 100, pingTimeoutMs: 5_000, sweepIntervalMs: 20 } });
  const { url } = await actuator.listen({ port: 0 });
  const child = hold(url);
  await child.wrote(HELD);
  child.signal("SIGSTOP");
  await expect.poll(held, { timeout: 30_000 }).toBe(false);
  child.signal("SIGCONT");
  expect(await child.ended()).toMatchObject({
    code: 3,
    stderr: CLOSED,
  });
});

test("a lost connection is explained as over HTTP/1.1", async () => {
  const { actuator, held, streams } = open();
  const { port } = await actuator.listen({ port: 0 });
  const proxy = await forwarding(port);
  const child = hold(proxy.url);
  await child.wrote(HELD);
  expect(streams()).toBe(1);
  proxy.cut();
  expect(await child.ended()).toMatchObject({ code: 3, stderr: CLOSED });
  await expect.poll(held).toBe(false);
});

describe("a server that speaks only HTTP/1.1", () => {
  /** Servers of an application, and what they report about clients. */
  const servers: Readonly<Record<string, (handler: http.RequestListener) => Promise<http.Server | https.Server>>> = {
    "in cleartext": async (handler) => http.createServer(handler),
    "over TLS": async (handler) => https.createServer((await testTrust()).server, handler),
  };

  test.each(Object.entries(servers))("is served a hold at once, and reports nothing: %s", async (_, create) => {
    const { actuator, held, streams } = open();
    const versions: string[] = [];
    const server = await create((req, res) => {
      versions.push(`${req.httpVersion} ${req.url}`);
      actuator.handler(req, res);
    });
    const reported: unknown[] = [];
    for (const event of ["clientError", "tlsClientError"]) server.on(event, (error) => reported.push(event, error));
    const port = await listening(server);
    const url = `${server instanceof https.Server ? "https" : "http"}://127.0.0.1:${port}`;
    const child = hold(url, ...(await trust(url)));
    await child.wrote(HELD);
    expect([held(), streams()]).toEqual([true, 0]);
    await ends(child);
    expect(held()).toBe(false);
    expect(new Set(versions)).toEqual(
      new Set(["HoldLoggerLevel", "GetLogger"].map((rpc) => `1.1 /actuator.v3.LoggersService/${rpc}`)),
    );
    expect(reported).toEqual([]);
  });

  test("and never answers the first bytes of HTTP/2", { tags: ["slow"] }, async () => {
    const { actuator, held } = open();
    const port = await listening(http.createServer(actuator.handler));
    const proxy = await forwarding(port, (bytes) => !bytes.toString("latin1").startsWith("PRI * HTTP/2.0"));
    const child = hold(proxy.url);
    await child.wrote(HELD);
    expect(held()).toBe(true);
    await ends(child);
  });
});

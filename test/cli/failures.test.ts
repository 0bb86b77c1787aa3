// @module-tag slow
import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { redisFleet } from "../../src/adapters/fleet/redis/index.ts";
import { sessionStores } from "../../src/sessions/session-stores.ts";
import { freePort } from "../support/server-process.ts";
import { cli } from "./cli-process.ts";
import { openGuardedShop, openShop } from "./shop.ts";

const SECRET = "sesame-0815";
/** An invalid name, so that no name server is asked. */
const NO_HOST = "http://no..host";

/** Expects one line that begins with the program's name and does not contain the token. */
function oneLine(stderr: string): string {
  expect(stderr).toMatch(/^connect-actuator: [^\n]+\n$/);
  expect(stderr).not.toContain(SECRET);
  return stderr.slice("connect-actuator: ".length, -1);
}

describe("a wrong command line exits with 2 after one line", () => {
  test.each([
    [["lst"], /unknown command 'lst'/],
    [["loggers", "lst"], /unknown command 'lst' \(Did you mean list\?\)/],
    [["loger"], /\(Did you mean loggers\?\)/],
    [["loggers", "list", "--configurd"], /\(Did you mean --configured\?\)/],
    [["loggers", "get"], /missing required argument 'name'/],
    [["loggers", "set", "a", "debgu"], /Use one of off, fatal, error, warn, info, debug, trace/],
    [["loggers", "set", "a", "debug", "--for", "10"], /Give a duration such as 90s/],
    [["loggers", "set", "a", "debug", "--for", "0m"], /--forever/],
    [["loggers", "set", "a", "debug", "--for", "1m", "--forever"], /cannot be used with/],
    [["loggers", "set", "a", "debug", "--if-revision", "0"], /revision/],
    [["loggers", "restore"], /either the name of a logger or --all/],
    [["loggers", "restore", "a", "--all"], /either the name of a logger or --all/],
    [["loggers", "history", "--limit", "0"], /whole number from 1/],
    [["health", "--timeout", "0s"], /from 1ms to 1d/],
    [["health", "--url", "ftp://x"], /--url takes an address/],
    [["health", "--url", `http://u:${SECRET}@x`], /--url takes no user and password/],
    [["health", "--token", `${SECRET}\n`], /token has spaces/],
    [["sessions", "get", "-"], /standard input has no id/],
    [["graph", "--format", "xml"], /Allowed choices are text, json, dot, mermaid, svg, asyncapi/],
    [["fleet", "list", "--on", ""], /--on is empty; leave it out for all instances/],
    [["fleet", "differences", "--on="], /--on is empty/],
    [["fleet", "graph", "--on", " "], /--on is empty/],
    [["fleet", "tail", "a", "--on", ""], /--on is empty/],
    [["fleet", "set", "a", "debug", "--on", ""], /--on is empty/],
    [["fleet", "canary", "a", "debug", "--on", "\t"], /--on is empty/],
    [["fleet", "clear", "a", "--on", ""], /--on is empty/],
    [["fleet", "restore", "a", "--on", ""], /--on is empty/],
    [["completion", "tcsh"], /Allowed choices are bash, zsh, fish/],
  ])("%j", async (args, message) => {
    const { code, stdout, stderr } = await cli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(oneLine(stderr)).toMatch(message);
  });

  test.each([[[]], [["loggers"]], [["sessions"]]])("%j, which is incomplete, shows the help", async (args) => {
    const { code, stdout, stderr } = await cli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^Usage: connect-actuator/);
  });
});

describe("an actuator that cannot be reached exits with 3", () => {
  test.each([
    [
      "nothing listens",
      async () => (await listening(net.createServer(), "closed")).url,
      /nothing listens at http:.*--url/,
    ],
    ["the host has no address", async () => NO_HOST, /host of http:\/\/no\.\.host was not found/],
    [
      "another service answers with JSON of its own",
      () =>
        answering((_, res) =>
          res.writeHead(404, { "content-type": "application/json" }).end('{"error":"no such page"}'),
        ),
      /is not an actuator: .*--url/,
    ],
    ["another server answers", () => answering((_, res) => res.end("<h1>hi</h1>")), /is not an actuator \(.*--url/],
    [
      "another server has nothing there",
      () => answering((_, res) => res.writeHead(404).end()),
      /is not an actuator \(HTTP 404\)/,
    ],
    [
      "a proxy finds no application",
      () => answering((_, res) => res.writeHead(502).end()),
      /is not an actuator \(HTTP 502\)/,
    ],
    [
      "the server does not speak HTTP",
      () => speaking((socket) => socket.end("SSH-2.0-x\r\n")),
      /does not speak this protocol/,
    ],
    [
      "the connection is closed",
      () => speaking((socket) => socket.destroy()),
      /the connection to http:.* was closed: .*--url/,
    ],
    [
      "the port may use TLS",
      () => answering((_, res) => res.writeHead(400).end()),
      /is not an actuator \(HTTP 400\): if this port uses TLS, write https; otherwise .*--url/,
    ],
    [
      "the port uses http instead of https",
      async () => (await openShop()).url.replace("http:", "https:"),
      /check http or https/,
    ],
  ])("if %s", async (_, open, message) => {
    const { code, stdout, stderr } = await cli(["loggers", "list", "--url", await open(), "--timeout", "30s"]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(oneLine(stderr)).toMatch(message);
  });

  test.each([[["list"]], [["levels"]], [["set", "orders", "debug"]], [["canary", "orders", "debug"]], [["tail"]]])(
    "if the engine of the fleet does not answer: %j",
    async (words) => {
      const port = await freePort();
      const fleet = redisFleet(`redis://127.0.0.1:${port}`);
      const { url } = await openShop({ fleet, access: { anonymous: ["*", "logs:read"] } });
      const { code, stdout, stderr } = await cli(["fleet", ...words, "--url", url]);
      expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
      expect(oneLine(stderr)).toMatch(
        /^The fleet's engine \(redis\) does not answer: [^.]*(127\.0\.0\.1:\d+)?[^.]*\. Instances keep their levels\.$/,
      );
    },
  );

  test("if nothing is answered", async () => {
    const url = await speaking(() => {});
    const { code, stdout, stderr } = await cli(["loggers", "list", "--url", url, "--timeout", "400ms"]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(oneLine(stderr)).toMatch(/no answer from http:.* within 400ms: .*--timeout/);
  });
});

describe("a refusal of the server exits with 1", () => {
  test.each([
    [["loggers", "list"], { loggers: undefined }],
    [["sessions", "list", "alice"], { sessions: undefined }],
    [["graph"], { integrationGraph: undefined }],
  ])("%j if the application does not serve it", async (args, options) => {
    const { url } = await openShop({ ...options });
    const { code, stderr } = await cli([...args, "--url", url]);
    expect({ code, line: oneLine(stderr) }).toEqual({
      code: 1,
      line: "this application does not serve this part of the actuator",
    });
  });

  test.each([
    [["fleet", "list"]],
    [["fleet", "set", "orders", "debug"]],
    [["fleet", "clear", "orders"]],
    [["fleet", "tail"]],
    [["fleet", "canary", "orders", "debug"]],
  ])("%j if the application is in no fleet", async (args) => {
    const { url } = await openShop({ access: { anonymous: ["*", "logs:read"] } });
    const { code, stderr } = await cli([...args, "--url", url]);
    expect({ code, line: oneLine(stderr) }).toEqual({
      code: 1,
      line: "this application is in no fleet: set fleet.redis, fleet.postgres, fleet.nats or fleet.serve",
    });
  });

  test.each([
    ["without a token", {}, /requires authentication: give a token with ACTUATOR_TOKEN or --token/],
    ["with a wrong one", { ACTUATOR_TOKEN: `${SECRET}x` }, /does not accept the token/],
  ])("a command %s", async (_, env, message) => {
    const { url } = await openGuardedShop(SECRET);
    const { code, stderr } = await cli(["health", "--url", url], { env });
    expect(code).toBe(1);
    expect(oneLine(stderr)).toMatch(message);
  });

  test("sessions, if there is no store of them", async () => {
    const { url } = await openShop({ sessions: sessionStores() });
    const { code, stderr } = await cli(["sessions", "list", "--url", url]);
    expect({ code, line: oneLine(stderr) }).toEqual({
      code: 1,
      line: "the server says: There is no session store yet.",
    });
  });

  test("a method that an older actuator does not have", async () => {
    const answer = JSON.stringify({ code: "unimplemented", message: "There is no such method." });
    const url = await answering((_, res) => res.writeHead(404, { "content-type": "application/json" }).end(answer));
    const { code, stderr } = await cli(["loggers", "history", "--url", url]);
    expect(code).toBe(1);
    expect(oneLine(stderr)).toMatch(/is older than this command/);
  });

  test("control characters from a hostile server do not reach the terminal", async () => {
    const answer = JSON.stringify({ code: "internal", message: "\x1b]0;title\x07\nfake line" });
    const url = await answering((_, res) => res.writeHead(500, { "content-type": "application/json" }).end(answer));
    const { code, stderr } = await cli(["health", "--url", url]);
    expect(code).toBe(1);
    expect(oneLine(stderr)).toMatch(/failed \(\\u001b\]0;title\\u0007\\u000afake line\)/);
  });
});

describe("a token", () => {
  test.each([
    ["in the environment", [], { ACTUATOR_TOKEN: SECRET }],
    ["as an option, which comes first", ["--token", SECRET], { ACTUATOR_TOKEN: "another" }],
  ])("%s opens a guarded actuator, on a path of an HTTP/1.1 server", async (_, args, env) => {
    const { url, native } = await openGuardedShop(SECRET);
    const ended = await cli(["loggers", "set", "orders", "warn", "--url", url, ...args], { env });
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(native.orders!.level).toBe("warn");
  });

  test("that would be sent unencrypted causes a warning without the token", async () => {
    const { stderr } = await cli(["health", "--url", "http://0.0.0.0:1", "--token", SECRET]);
    expect(stderr).toMatch(/^warning: the token goes to http:\/\/0\.0\.0\.0:1 unencrypted\nconnect-actuator: /);
    expect(stderr).not.toContain(SECRET);
  });

  test("is not shown in the help", async () => {
    const { stdout } = await cli(["health", "--help"], { env: { ACTUATOR_TOKEN: SECRET } });
    expect(stdout).toContain("ACTUATOR_TOKEN");
    expect(stdout).not.toContain(SECRET);
  });
});

test("the address comes from the option, then from the environment", async () => {
  const [named, other] = [await openShop(), await openShop({ sessions: undefined })];
  const list = (args: string[]) => cli(["sessions", "list", "alice", ...args], { env: { ACTUATOR_URL: other.url } });
  expect(await list([])).toMatchObject({ code: 1 });
  expect(await list(["--url", named.url])).toMatchObject({ code: 0 });
});

function answering(handler: http.RequestListener): Promise<string> {
  return listening(http.createServer(handler)).then(({ url }) => url);
}

function speaking(handler: (socket: net.Socket) => void): Promise<string> {
  const server = net.createServer((socket) => {
    socket.on("error", () => {});
    onEnd.add(socket);
    handler(socket);
  });
  const onEnd = new Set<net.Socket>();
  onTestFinished(() => {
    for (const socket of onEnd) socket.destroy();
  });
  return listening(server).then(({ url }) => url);
}

async function listening(server: net.Server, then?: "closed"): Promise<{ readonly url: string }> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  if (then === "closed") server.close();
  else onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${port}` };
}

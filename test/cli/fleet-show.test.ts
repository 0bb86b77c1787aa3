// @module-tag slow
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { hostname } from "node:os";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService, Scope } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { requirement } from "../support/requirement.ts";
import { CliProcess, cli } from "./cli-process.ts";
import { openFleet } from "./fleet-shop.ts";
import { scriptFound, typed } from "./terminal.ts";

const REASON = "ticket 812: payments of some customers are declined although the limit of their card is not reached";

test("the levels say until when: a time, permanently, released, or the id of a canary", async () => {
  const { url, instances } = await openFleet();
  const set = (name: string, ...more: string[]) => cli(["fleet", "set", name, "debug", "--url", url, ...more]);
  await set("orders", "--for", "10m", "--reason", REASON);
  await cli(["fleet", "set", "stock", "warn", "--forever", "--url", url]);
  const tail = new CliProcess(["fleet", "tail", "held", "--raise", "debug", "--url", url]);
  await expect.poll(() => instances.one!.loggers!.get("held")?.configuredLevel).toBe("DEBUG");
  const canary = new CliProcess(["fleet", "canary", "tried", "debug", "--url", url]);
  await canary.wrote(/APPLIED/);
  const [, id = ""] = /fleet promote (\S+)\./.exec(canary.stderr)!;
  const { stdout } = await cli(["fleet", "levels", "--url", url]);
  const [titles, ...rows] = stdout.trimEnd().split("\n");
  expect(titles).toMatch(/^NAME +LEVEL +ON +BY +REASON +GENERATION +UNTIL$/);
  expect(rows[0]).toMatch(/^held +DEBUG +all +127\.0\.0\.1 +\d+ +released$/);
  expect(rows[1]).toMatch(/^orders +DEBUG +all +127\.0\.0\.1 +ticket 812: .{47}… +\d+ +[\d: -]*\d\d:\d\d:\d\d$/);
  expect(rows[2]).toMatch(/^stock +WARN +all +127\.0\.0\.1 +\d+ +permanent$/);
  expect(rows[3]).toMatch(new RegExp(`^tried +DEBUG +instance=(one|two) +127\\.0\\.0\\.1 +\\d+ +canary ${id}$`));
  for (const child of [tail, canary]) child.signal("SIGINT");
  await Promise.all([tail.ended(), canary.ended()]);
});

test.each([
  [500, "up to date"],
  [4_500, "4s behind"],
])("a change that has waited for %i ms is a lag from a second on", async (waited, state) => {
  const { url, server, silent } = await openFleet();
  let now = Date.now();
  Object.defineProperty(server, "ahead", { get: () => now - Date.now() });
  silent("three");
  const client = createClient(LoggersService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
  await client.setLoggerLevel({ name: "orders", level: Level.WARN, scope: Scope.FLEET });
  now += waited;
  await expect
    .poll(async () => (await cli(["fleet", "list", "--url", url])).stdout, { timeout: 20_000 })
    .toMatch(new RegExp(`^three .* ${state}$`, "m"));
});

test.each([
  ["differences", /^\d+ loggers? differs? between 2 instances\.|No logger differs between 2 instances\./],
  ["graph", /0 nodes, 0 links/],
])("%s names an instance that hangs before the command gives up", async (word, said) => {
  const { url, silent } = await openFleet();
  const server = net.createServer((socket) => void socket.on("error", () => undefined));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  silent("hung", { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, host: hostname() });
  const { code, stderr } = await cli(["fleet", word, "--url", url]);
  expect(stderr).toMatch(said);
  expect(stderr).toMatch(/^hung did not answer: no answer within \d s$/m);
  expect(code).toBe(1);
});

describe.runIf(requirement("script, of util-linux,", scriptFound))("on a terminal of 80 columns", () => {
  const shownBy = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const { shown } = await typed(args, { COLUMNS: "80", ...env }).ended();
    return shown.trimEnd().split("\n");
  };
  const labels = { zone: "eu-central-1", canary: "true", team: "payments", tier: "frontend" };

  test("tables are no wider, and cut what can be cut", async () => {
    const { url } = await openFleet({ "checkout-7f9c8b-abcde:4711": labels });
    await cli([
      "fleet",
      "set",
      "checkout.orders",
      "debug",
      "--on",
      "zone=eu-central-1,team=payments",
      "--reason",
      REASON,
      "--url",
      url,
    ]);
    const list = await shownBy(["fleet", "list", "--url", url]);
    const levels = await shownBy(["fleet", "levels", "--url", url]);
    expect([...list, ...levels].filter((line) => line.length > 80)).toEqual([]);
    expect(list[1]).toMatch(/^checkout-7f9c8b-abcde:4711 +\S+ +\S+ +\S*… +\S+ +up to date, answered$/);
    expect(levels[1]).toMatch(/^checkout\.orders +DEBUG +\S+… .*… +\d{16} +\d\d:\d\d:\d\d$/);
  });

  test("levels and statuses have colours", async () => {
    const { url, instances } = await openFleet();
    const set = await shownBy(["fleet", "set", "orders", "warn", "--url", url], { NO_COLOR: "" });
    expect(set.join("\n")).toMatch(/one +\x1b\[32mAPPLIED\x1b\[39m\n/);
    const levels = await shownBy(["fleet", "levels", "--url", url], { NO_COLOR: "" });
    expect(levels[1]).toContain("\x1b[33mWARN\x1b[39m");
    instances.two!.loggers!.setLevel("orders", "ERROR", { actor: "ann" });
    const differences = await shownBy(["fleet", "differences", "--url", url], { NO_COLOR: "" });
    expect(differences.join("\n")).toContain("\x1b[31mERROR\x1b[39m");
  });
});

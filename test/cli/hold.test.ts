import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { fromJson } from "@bufbuild/protobuf";
import { describe, expect, onTestFinished, test } from "vitest";
import { HoldLoggerLevelResponseSchema } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import { serveRpc } from "../support/rpc-harness.ts";
import { CliProcess } from "./cli-process.ts";
import { openShop, type Shop } from "./shop.ts";

const HELD = /Held until Ctrl-C/;

async function hold(shop: Shop, ...args: string[]): Promise<CliProcess> {
  const child = new CliProcess(["loggers", "set", "orders", "debug", "--hold", "--url", shop.url, ...args]);
  await child.wrote(HELD);
  return child;
}

const level = ({ native }: Shop) => native.orders!.level;

describe("a level that is held", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("is restored on %s, which is confirmed", async (signal, code) => {
    const shop = await openShop();
    const child = await hold(shop, "--reason", "ticket 812");
    expect(level(shop)).toBe("debug");
    expect(shop.actuator.loggers!.get("orders")).toMatchObject({ override: { reason: "ticket 812" } });
    child.signal(signal);
    const ended = await child.ended();
    expect(ended).toMatchObject({ code, signal: null, stderr: "Held until Ctrl-C.\n" });
    expect(ended.stdout).toMatch(/^orders: DEBUG, held.*, before inherited\nRestored orders: INFO, inherited\n$/);
    expect(level(shop)).toBe("info");
  });

  test("is restored when the command is killed", async () => {
    const shop = await openShop();
    const child = await hold(shop);
    expect(level(shop)).toBe("debug");
    child.signal("SIGKILL");
    expect(await child.ended()).toMatchObject({ signal: "SIGKILL" });
    await expect.poll(() => level(shop)).toBe("info");
  });

  test("of a group is restored for all of it", async () => {
    const { url, native } = await openShop();
    const child = new CliProcess(["loggers", "set", "money", "trace", "--hold", "--url", url]);
    await child.wrote(HELD);
    expect([native["orders.payment"]!.level, native.refunds!.level]).toEqual(["trace", "trace"]);
    child.signal("SIGINT");
    expect((await child.ended()).stdout).toMatch(/\nRestored money: no level, 2 loggers\n$/);
    expect([native["orders.payment"]!.level, native.refunds!.level]).toEqual(["info", "info"]);
  });

  test("is shown as held to other callers", async () => {
    const shop = await openShop();
    await hold(shop, "--for", "10m");
    const other = new CliProcess(["loggers", "list", "orders", "--url", shop.url]);
    expect((await other.ended()).stdout).toMatch(/^orders +DEBUG +held, until \d\d:\d\d:\d\d \(\d+m( \d+s)? left\)/m);
  });

  test("ends with its time, without a failure", async () => {
    const shop = await openShop();
    const child = await hold(shop, "--for", "1s");
    const ended = await child.ended();
    expect(ended).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/\nThe time of the hold is over: orders is as it was/),
    });
    expect(level(shop)).toBe("info");
  });

  test("exits with 1 when the logger is configured permanently", async () => {
    const shop = await openShop();
    const child = await hold(shop);
    shop.actuator.loggers!.setLevel("orders", "ERROR");
    const ended = await child.ended();
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/\nThe hold is over: orders was configured permanently/),
    });
    expect(level(shop)).toBe("error");
  });

  test("exits with 3 when the application ends", async () => {
    const shop = await openShop();
    const child = await hold(shop);
    await shop.actuator.close();
    expect(await child.ended()).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/\nconnect-actuator: [^\n]+\n$/),
    });
  });

  test("is a stream of JSON with --json", async () => {
    const shop = await openShop();
    const child = await hold(shop, "--json");
    child.signal("SIGINT");
    const { code, stdout } = await child.ended();
    expect(code).toBe(130);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => fromJson(HoldLoggerLevelResponseSchema, JSON.parse(line)));
    expect(events).toMatchObject([{ event: { case: "held", value: { result: { value: { name: "orders" } } } } }]);
  });
});

test("a hold that the server refuses says why", async () => {
  const { url } = await openShop();
  const child = new CliProcess(["loggers", "set", "orders", "debug", "--hold", "--forever", "--url", url]);
  expect(await child.ended()).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^connect-actuator: the server says/),
  });
});

test("a connection that died silently is noticed by missing heartbeats", async () => {
  const loggers = new Loggers();
  const { port } = await serveRpc({ loggers }, { heartbeatMs: 50 });
  const deaf = await cuttable(port);
  const child = new CliProcess([
    "loggers",
    "set",
    "a",
    "warn",
    "--hold",
    "--json",
    "--timeout",
    "4s",
    "--url",
    deaf.url,
  ]);
  await child.wrote(/"heartbeat"/);
  deaf.cut();
  expect(await child.ended()).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/connect-actuator: the server sent nothing for 4s/),
  });
});

/** A proxy to the port that can stop forwarding without closing the connections, as a failing network does. */
async function cuttable(port: number): Promise<{ readonly url: string; cut(): void }> {
  const sockets: net.Socket[] = [];
  const server = net.createServer((near) => {
    const far = net.connect(port, "127.0.0.1");
    for (const socket of [near, far]) socket.on("error", () => {});
    near.pipe(far).pipe(near);
    sockets.push(near, far);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      for (const socket of sockets) socket.unpipe();
    },
  };
}

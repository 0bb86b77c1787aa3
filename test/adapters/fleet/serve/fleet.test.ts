import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { pathToFileURL } from "node:url";
import { createClient } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { serveFleet } from "../../../../src/adapters/fleet/serve/index.ts";
import { Fleet } from "../../../../src/fleet/fleet.ts";
import { FleetEngineService } from "../../../../src/gen/actuator/v3/fleet_engine_pb.ts";
import { createActuator, memoryFleet } from "../../../../src/index.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { clientTransport } from "../../../../src/peers/client-transport.ts";
import { authority } from "../../../support/certificates.ts";
import { tokensFor } from "../../../support/tokens.ts";
import { startKeepingServer } from "./server.ts";

const soon = { timeout: 20_000, interval: 50 };

function member(id: string, source: ReturnType<typeof serveFleet>) {
  const loggers = new Loggers({ instance: id });
  const fleet = new Fleet({ engine: source, name: "shop" }, { name: "shop", startTime: 0, loggers, ttl: {} });
  onTestFinished(() => fleet.close());
  return { fleet, level: () => loggers.get("a")?.configuredLevel };
}

test("the instances give back what a process loses that keeps their fleet", { tags: ["slow"] }, async () => {
  const server = await startKeepingServer();
  onTestFinished(() => server.stop());
  const [one, two] = [member("one", serveFleet(server.url)), member("two", serveFleet(server.url))];
  await expect.poll(() => one.fleet.setLevel("a", "WARN").catch(() => undefined), soon).toBeDefined();
  await expect.poll(two.level, soon).toBe("WARN");
  await server.kill();
  expect([one.level(), two.level()]).toEqual(["WARN", "WARN"]);
  await server.restart();
  const three = member("three", serveFleet(server.url));
  await expect.poll(three.level, soon).toBe("WARN");
  await expect
    .poll(async () => (await three.fleet.instances().catch(() => [])).map(({ id }) => id), soon)
    .toEqual(["one", "three", "two"]);
});

test("over TLS, a server of an authority of its own needs `ca`", async () => {
  const own = await authority();
  const actuator = createActuator({ fleetEngine: memoryFleet(), audit: false });
  onTestFinished(() => actuator.close());
  const { url } = await actuator.listen({ port: 0, tls: await own.issue("server") });
  const trusts = member("trusts", serveFleet({ url, ca: own.ca }));
  await expect.poll(() => trusts.fleet.setLevel("a", "WARN").catch(() => undefined), soon).toBeDefined();
  const doubts = member("doubts", serveFleet({ url }));
  await expect.poll(() => doubts.fleet.engine.fault, soon).toMatch(/certificate/);
  expect(doubts.level()).toBeUndefined();
});

test("a token needs fleet:join, and the fault says so", async () => {
  const { file, tokens } = tokensFor({ joins: { permissions: ["fleet:join"] }, reads: { permissions: ["loggers:*"] } });
  const actuator = createActuator({ fleetEngine: memoryFleet(), access: { tokens: file }, audit: false });
  onTestFinished(() => actuator.close());
  const { url } = await actuator.listen({ port: 0 });
  const joins = member("joins", serveFleet({ url, token: tokens.joins }));
  await expect.poll(() => joins.fleet.setLevel("a", "WARN").catch(() => undefined), soon).toBeDefined();
  const reads = member("reads", serveFleet({ url, token: tokens.reads }));
  await expect.poll(() => reads.fleet.engine.fault, soon).toMatch(/fleet:join/);
  expect(reads.level()).toBeUndefined();
});

test("a stream of hints that falls silent is replaced", async () => {
  const actuator = createActuator({ fleetEngine: memoryFleet(), heartbeatMs: 200, audit: false });
  onTestFinished(() => actuator.close());
  const { url } = await actuator.listen({ port: 0 });
  let streams = 0;
  const relay = createServer((socket) => {
    const upstream = connect(Number(new URL(url).port), "127.0.0.1");
    for (const each of [socket, upstream]) each.on("error", () => {});
    socket.on("close", () => upstream.destroy()).pipe(upstream);
    let isMuted = false;
    socket.on("data", (data) => {
      // The first stream is heard once, and never again.
      if (data.includes("WatchHints") && ++streams === 1) setTimeout(() => (isMuted = true), 300);
    });
    upstream.on("data", (data) => void (isMuted || socket.write(data))).on("close", () => socket.destroy());
  }).listen(0, "127.0.0.1");
  await once(relay, "listening");
  onTestFinished(() => void relay.close());
  const engine = serveFleet(`http://127.0.0.1:${(relay.address() as AddressInfo).port}`).open("shop");
  onTestFinished(() => engine.close());
  await expect.poll(() => streams, soon).toBeGreaterThan(1);
});

test("what is too long is refused, and fleets that have nothing make room", async () => {
  const actuator = createActuator({ fleetEngine: memoryFleet(), audit: false });
  onTestFinished(() => actuator.close());
  const { url } = await actuator.listen({ port: 0 });
  const client = createClient(FleetEngineService, clientTransport({ url }));
  const report = "€".repeat(30_000);
  await expect(client.exchange({ fleet: "shop", instance: "a", report })).rejects.toThrow(
    /report must have at most 65536/,
  );
  await expect(client.exchange({ fleet: "no name" })).rejects.toThrow(/fleet must have 1 to 100/);
  await expect(client.store({ fleet: "shop" })).rejects.toThrow(/document is missing/);
  await client.exchange({ fleet: "shop", instance: "a", report: "{}" });
  for (let at = 0; at < 250; at++) await client.exchange({ fleet: `mistyped-${at}` });
  expect(await client.listReports({ fleet: "shop" })).toMatchObject({ reports: [{ instance: "a" }] });
});

test("a process that refuses changes stores nothing", async () => {
  const actuator = createActuator({ fleetEngine: memoryFleet(), readOnly: true, audit: false });
  onTestFinished(() => actuator.close());
  const { url } = await actuator.listen({ port: 0 });
  const { fleet } = member("one", serveFleet(url));
  await expect.poll(() => fleet.engine.fault, soon).toBeUndefined();
  await expect(fleet.setLevel("a", "WARN")).rejects.toMatchObject({
    reason: "FLEET_ENGINE_REFUSED",
    message: "The fleet's engine (serve) refuses the call: This actuator refuses all changes.",
  });
});

test("connections do not keep a process alive", async () => {
  const actuator = createActuator({ fleetEngine: memoryFleet(), audit: false });
  onTestFinished(() => actuator.close());
  const { url } = await actuator.listen({ port: 0 });
  const entry = pathToFileURL(`${import.meta.dirname}/../../../../src/adapters/fleet/serve/index.ts`).href;
  const code = `
    const { serveFleet } = await import(${JSON.stringify(entry)});
    const waiting = setInterval(() => {}, 1_000);
    const engine = serveFleet(${JSON.stringify(url)}).open("shop");
    for (;;) {
      const answer = await engine.exchange("").catch(() => undefined);
      if (answer !== undefined) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    clearInterval(waiting);
    console.log("joined");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (data) => {
    said += data;
  });
  const [exitCode] = await once(child, "exit");
  expect([exitCode, said]).toEqual([0, "joined\n"]);
});

test.each(["redis://localhost", "localhost", "http://ann:secret-word@localhost", null])("%s is refused", (url) => {
  const refused = () => serveFleet(url as string);
  expect(refused).toThrow();
  expect(refused).not.toThrow(/secret-word/);
});

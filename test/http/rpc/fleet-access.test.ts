import { Code, createClient } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import type { FleetEngineSource } from "../../../src/fleet/engine.ts";
import { FleetEngineService } from "../../../src/gen/actuator/v3/fleet_engine_pb.ts";
import { FleetService, InstanceStatus_Status as Status } from "../../../src/gen/actuator/v3/fleet_pb.ts";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService, Scope } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { type ActuatorOptions, type AuditRecord, createActuator, memoryFleet } from "../../../src/index.ts";
import { clientTransport } from "../../../src/peers/client-transport.ts";
import { tokensFor } from "../../support/tokens.ts";

const GRANTS = {
  all: { permissions: ["*", "logs:read"] },
  orders: { permissions: ["*"], loggers: ["orders"] },
  payments: { permissions: ["*"], loggers: ["payments"] },
  joins: { permissions: ["fleet:join"] },
  confined: { permissions: ["*", "fleet:join"], loggers: ["orders"] },
} as const;
type Grant = keyof typeof GRANTS;

const FLEET = { scope: Scope.FLEET };
const denied = { code: Code.PermissionDenied };
const soon = { timeout: 20_000, interval: 20 };

/** An instance, with what its audit has recorded. */
async function started(options: ActuatorOptions, engine: FleetEngineSource = memoryFleet()) {
  const { file, tokens } = tokensFor(GRANTS);
  const records: AuditRecord[] = [];
  const actuator = createActuator({
    name: "shop",
    loggers: {},
    fleet: { engine },
    access: { tokens: file },
    audit: (record) => void records.push(record),
    ...options,
  });
  onTestFinished(() => actuator.close());
  const { url } = await actuator.listen({ port: 0 });
  const over = (grant: Grant) => clientTransport({ url, token: tokens[grant] });
  return {
    actuator,
    url,
    records,
    tokens,
    fleet: (grant: Grant) => createClient(FleetService, over(grant)),
    loggers: (grant: Grant) => createClient(LoggersService, over(grant)),
    engine: (grant: Grant) => createClient(FleetEngineService, over(grant)),
    targets: () =>
      records.map(({ operation, permission, target }) => [operation.split("/").at(-1), permission, target]),
  };
}

test("a caller for some loggers changes and sees those alone", async () => {
  const { fleet, loggers } = await started({});
  const { generation } = await loggers("all").setLoggerLevel({ name: "stock", level: Level.WARN, ...FLEET });
  const own = await loggers("orders").setLoggerLevel({ name: "orders.new", level: Level.WARN, ...FLEET });
  const confined = fleet("orders");
  expect((await confined.listFleetLevels({})).levels.map(({ name }) => name)).toEqual(["orders.new"]);
  expect((await confined.getFleetChange({ generation: own.generation })).change?.level?.name).toBe("orders.new");
  await expect(confined.getFleetChange({ generation })).rejects.toMatchObject(denied);
  await expect(confined.watchFleetChange({ generation })[Symbol.asyncIterator]().next()).rejects.toMatchObject(denied);
  await expect(confined.resetFleet({})).rejects.toMatchObject(denied);
  for (const name of ["stock", "ordersx", "ROOT"]) {
    const canary = confined.runCanary({ name, level: Level.WARN, instances: 1 });
    await expect(canary[Symbol.asyncIterator]().next(), name).rejects.toMatchObject(denied);
    await expect(loggers("orders").clearLoggerLevel({ name, ...FLEET }), name).rejects.toMatchObject(denied);
  }
  expect((await fleet("all").listFleetLevels({})).levels.map(({ name }) => name)).toEqual(["orders.new", "stock"]);
});

test("what is a group in an instance alone is not changed for a caller who may not change all its members", async () => {
  const engine = memoryFleet();
  const reader = await started({ fleet: { engine, role: "reader" } });
  const shop = await started({ loggers: { groups: { payments: ["stripe", "ledger"] }, instance: "shop-1" } }, engine);
  const levels = () => ["stripe", "ledger"].map((name) => shop.actuator.loggers!.get(name)?.configuredLevel);
  const { generation } = await reader.loggers("payments").setLoggerLevel({ name: "payments", level: Level.OFF });
  const statuses = async () => (await reader.fleet("all").getFleetChange({ generation })).change?.instances;
  await expect
    .poll(statuses, soon)
    .toMatchObject([
      { instance: "shop-1", status: Status.FAILED, reason: expect.stringContaining("may not change all loggers") },
    ]);
  const posted = await fetch(`${reader.url}/actuator/loggers/payments`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${reader.tokens.payments}` },
    body: '{"configuredLevel":"OFF"}',
  });
  expect(posted.status).toBe(204);
  await reader.loggers("payments").restoreLoggerLevel({ name: "payments" });
  await expect.poll(() => shop.actuator.fleet!.generation, soon).toBe(reader.actuator.fleet!.generation);
  expect(levels()).toEqual([undefined, undefined]);
  await reader.loggers("all").setLoggerLevel({ name: "payments", level: Level.WARN });
  await expect.poll(levels, soon).toEqual(["WARN", "WARN"]);
});

test("an instance joins by the name of its permission alone, and not as a caller for some loggers", async () => {
  const { engine } = await started({ fleetEngine: memoryFleet() });
  await expect(engine("all").exchange({ fleet: "shop" })).rejects.toMatchObject(denied);
  await expect(engine("confined").exchange({ fleet: "shop" })).rejects.toMatchObject(denied);
  expect((await engine("joins").exchange({ fleet: "shop" })).now).toBeGreaterThan(0n);
});

test("the audit says that a level is the fleet's, on which instances, and who stored it", async () => {
  const { loggers, fleet, engine, targets, records } = await started({ fleetEngine: memoryFleet() });
  const selector = "zone=eu";
  await loggers("all").setLoggerLevel({ name: "a", level: Level.WARN, ...FLEET, fleet: { selector } });
  await fleet("all").resetFleet({});
  await engine("joins").exchange({ fleet: "shop", instance: "i1", report: "{}" });
  await engine("joins").store({ fleet: "shop", document: { version: "1", text: "{}" } });
  expect(targets()).toEqual([
    ["SetLoggerLevel", "loggers:write", { logger: "a", level: "WARN", scope: "fleet", selector }],
    ["ResetFleet", "loggers:write", { scope: "fleet" }],
    ["Store", "fleet:join", { fleet: "shop" }],
  ]);
  expect(records.at(-1)?.who).toBe("joins");
});

test("the audit says what became of a canary, and which level a stream of logs raises", async () => {
  const { fleet, targets, actuator } = await started({ loggers: { instance: "i1" } });
  await expect.poll(async () => (await actuator.fleet!.instances()).length, soon).toBe(1);
  const canary = fleet("all").runCanary({ name: "a", level: Level.WARN, instances: 1, selector: "instance=i1" });
  for await (const { event } of canary) {
    if (event.case === "progress" && !event.value.isPromoted) {
      await fleet("all").finishCanary({ id: event.value.id, promote: true });
    }
  }
  const raise = { level: Level.DEBUG, scope: Scope.FLEET };
  const end = new AbortController();
  const watched = fleet("all").watchFleetLogs({ logs: { names: ["a"], raise } }, { signal: end.signal });
  await expect(
    (async () => {
      for await (const { event } of watched) if (event.case === "logs") end.abort();
    })(),
  ).rejects.toMatchObject({ code: Code.Canceled });
  const onOne = { scope: "fleet", selector: "instance=i1" };
  const raised = ["WatchFleetLogs", "loggers:write", { logger: "a", level: "DEBUG", scope: "fleet" }];
  await expect
    .poll(targets, soon)
    .toEqual([
      ["RunCanary", "loggers:write", { logger: "a", level: "WARN", ...onOne }],
      ["FinishCanary", "loggers:write", { logger: "a", level: "WARN", ...onOne, promote: true }],
      ["RunCanary", "loggers:write", { logger: "a", level: "WARN", ...onOne }],
      raised,
      raised,
    ]);
});

test("a level over REST is that of the instance alone, unless its scope is the fleet", async () => {
  for (const scope of ["instance", "fleet"] as const) {
    const { url, tokens, actuator } = await started({ fleet: { engine: memoryFleet(), scope } });
    const { status } = await fetch(`${url}/actuator/loggers/a`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${tokens.all}` },
      body: '{"configuredLevel":"WARN"}',
    });
    expect(status).toBe(204);
    expect(actuator.loggers!.get("a")?.configuredLevel).toBe("WARN");
    expect((await actuator.fleet!.levels()).length, scope).toBe(scope === "fleet" ? 1 : 0);
  }
});

test("a default scope of the fleet has no restore of all loggers", async () => {
  const { loggers } = await started({ fleet: { engine: memoryFleet(), scope: "fleet" } });
  await expect(loggers("all").restoreAllLoggerLevels({})).rejects.toMatchObject({ code: Code.FailedPrecondition });
});

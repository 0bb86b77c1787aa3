import { Code, type ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import {
  FleetService,
  CanaryEnded_Outcome as Outcome,
  InstanceStatus_Status as Status,
} from "../../../src/gen/actuator/v3/fleet_pb.ts";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import {
  HoldLoggerLevelResponse_Ended_Reason as Ended,
  LoggersService,
  Scope,
} from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { type Instance, instanceOf, TestServer } from "../../fleet/support.ts";
import { errorInfo, serveRpc, transportOver, WIRES } from "../../support/rpc-harness.ts";

async function served(wire = WIRES[0]!) {
  const server = new TestServer();
  const instances = [
    instanceOf(server, "i1", { labels: { zone: "eu" } }),
    instanceOf(server, "i2", { labels: { zone: "us" } }),
  ] as const;
  const { url } = await serveRpc(instances[0]);
  const fleet = createClient(FleetService, transportOver(wire, url));
  const loggers = createClient(LoggersService, transportOver(wire, url));
  return { server, instances, fleet, loggers };
}

const FLEET = { scope: Scope.FLEET };
const levelsIn = (instances: readonly Instance[]) => instances.map(({ loggers }) => loggers.get("a")?.configuredLevel);
const levelsSoon = (instances: readonly Instance[]) => expect.poll(() => levelsIn(instances), { timeout: 10_000 });

async function faultOf(call: Promise<unknown>): Promise<unknown> {
  const error = await call.then(
    () => undefined,
    (fault: ConnectError) => fault,
  );
  return error && [error.code, errorInfo(error)?.reason];
}

// The protocols themselves are tested elsewhere: one wire of each kind.
const KINDS = WIRES.filter(
  ({ protocol, httpVersion }) => protocol === "gRPC" || (protocol !== "Connect binary" && httpVersion === "1.1"),
);

describe.each(KINDS)("over $protocol and HTTP/$httpVersion", (wire) => {
  test("a level is set, listed, followed, cleared and restored", async () => {
    const { instances, fleet, loggers } = await served(wire);
    const set = await loggers.setLoggerLevel({ name: "a", level: Level.WARN, reason: "noise", ...FLEET });
    expect(set).toMatchObject({ result: { case: "logger", value: { configuredLevel: Level.WARN } } });
    expect(set.result.value).toMatchObject({ override: { scope: Scope.FLEET, reason: "noise", instance: "i1" } });
    const { generation } = set;
    await levelsSoon(instances).toEqual(["WARN", "WARN"]);
    expect(await fleet.listFleetLevels({})).toMatchObject({
      levels: [{ name: "a", selector: "", level: Level.WARN, generation, override: { reason: "noise" } }],
      generation,
    });
    const seen: Status[][] = [];
    for await (const { event } of fleet.watchFleetChange({ generation })) {
      if (event.case === "change") seen.push(event.value.instances.map(({ status }) => status));
    }
    expect(seen.at(-1)).toEqual([Status.APPLIED, Status.APPLIED]);
    const { change } = await fleet.getFleetChange({ generation });
    expect(change?.instances).toMatchObject([{ instance: "i1" }, { instance: "i2" }]);
    const cleared = await loggers.clearLoggerLevel({ name: "a", ...FLEET, fleet: { ifGeneration: generation } });
    expect(cleared.generation).toBeGreaterThan(generation);
    await levelsSoon(instances).toEqual([undefined, undefined]);
    instances[1].loggers.setLevel("a", "ERROR");
    await loggers.restoreLoggerLevel({ name: "a", ...FLEET, fleet: { selector: "zone=eu" } });
    await loggers.restoreLoggerLevel({ name: "a", ...FLEET });
    await levelsSoon(instances).toEqual([undefined, undefined]);
  });

  test("instances are listed and watched", async () => {
    const { server, fleet } = await served(wire);
    await expect.poll(async () => (await fleet.listInstances({})).instances.length).toBe(2);
    expect(await fleet.listInstances({ selector: "zone=us" })).toMatchObject({
      name: "shop",
      engine: { kind: "test", isConnected: true, notice: "" },
      instances: [
        { id: "i2", application: "shop", version: "1", labels: { zone: "us" }, isSelf: false, isGone: false },
      ],
    });
    const seen: unknown[] = [];
    for await (const { event } of fleet.watchInstances({})) {
      seen.push(event.case);
      if (event.case === "instances") server.answers = "none";
      if (event.case === "unavailable") {
        expect(event.value.message).toContain("connection refused");
        break;
      }
    }
    expect([seen[0], seen.at(-1)]).toEqual(["instances", "unavailable"]);
  });

  test("a level is held until the stream ends", async () => {
    const { instances, loggers } = await served(wire);
    const ending = new AbortController();
    const hold = loggers.holdLoggerLevel({ name: "a", level: Level.DEBUG, ...FLEET }, { signal: ending.signal });
    const events = hold[Symbol.asyncIterator]();
    const { value } = await events.next();
    expect(value.event).toMatchObject({ case: "held", value: { generation: expect.any(BigInt) } });
    await levelsSoon(instances).toEqual(["DEBUG", "DEBUG"]);
    ending.abort();
    await events.next().catch(() => undefined);
    await levelsSoon(instances).toEqual([undefined, undefined]);
  });
});

test("a held level ends when another is set for the fleet for good", async () => {
  const { loggers } = await served();
  const seen: unknown[] = [];
  for await (const { event } of loggers.holdLoggerLevel({ name: "a", level: Level.DEBUG, ...FLEET })) {
    seen.push(event.case === "ended" ? event.value.reason : event.case);
    if (event.case === "held") await loggers.setLoggerLevel({ name: "a", level: Level.WARN, ...FLEET });
  }
  expect([seen[0], seen.at(-1)]).toEqual(["held", Ended.OVERRULED]);
});

test("a held level ends when its time is over", async () => {
  const { loggers } = await served();
  const events = loggers.holdLoggerLevel({ name: "a", level: Level.DEBUG, ttl: { seconds: 1n }, ...FLEET });
  const last = (await allOf(events)).at(-1)?.event;
  expect(last?.case === "ended" && last.value.reason).toBe(Ended.EXPIRED);
});

test.each<[string, (clients: Awaited<ReturnType<typeof served>>, signal: AbortSignal) => AsyncIterable<unknown>]>([
  ["a hold", ({ loggers }, signal) => loggers.holdLoggerLevel({ name: "a", level: Level.DEBUG, ...FLEET }, { signal })],
  ["a canary", ({ fleet }, signal) => fleet.runCanary({ name: "a", level: Level.WARN, instances: 1 }, { signal })],
])("%s whose stream ends before it is stored is taken back", async (_, begin) => {
  const all = await served();
  const { server, instances, fleet } = all;
  await expect.poll(async () => (await fleet.listInstances({})).instances.length).toBe(2);
  let open = () => {};
  server.gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const ending = new AbortController();
  const ended = allOf(begin(all, ending.signal)).catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 200));
  ending.abort();
  await ended;
  const { generation } = instances[0].fleet;
  open();
  await expect.poll(() => instances[0].fleet.generation).toBeGreaterThan(generation);
  await expect.poll(async () => (await fleet.listFleetLevels({})).levels).toEqual([]);
  expect(levelsIn(instances)).toEqual([undefined, undefined]);
});

test.each<[string, object, Code, string]>([
  ["a target without the scope", { fleet: {} }, Code.InvalidArgument, "INVALID_SCOPE"],
  ["an unknown scope", { scope: 9 }, Code.InvalidArgument, "INVALID_SCOPE"],
  ["a revision of one instance", { ...FLEET, ifRevision: 1n }, Code.InvalidArgument, "INVALID_SCOPE"],
  ["a wrong selector", { ...FLEET, fleet: { selector: "=" } }, Code.InvalidArgument, "INVALID_SELECTOR"],
  ["another generation", { ...FLEET, fleet: { ifGeneration: 7n } }, Code.FailedPrecondition, "GENERATION_CHANGED"],
])("%s is refused", async (_, request, code, reason) => {
  const { loggers } = await served();
  const set = loggers.setLoggerLevel({ name: "a", level: Level.WARN, ...request });
  await expect(faultOf(set)).resolves.toEqual([code, reason]);
});

test("without a fleet a level cannot be set in one", async () => {
  const { url } = await serveRpc({ loggers: new Loggers() });
  const loggers = createClient(LoggersService, transportOver(WIRES[0]!, url));
  const set = loggers.setLoggerLevel({ name: "a", level: Level.WARN, ...FLEET });
  await expect(faultOf(set)).resolves.toEqual([Code.Unimplemented, "NOT_SERVED"]);
  const local = await loggers.setLoggerLevel({ name: "a", level: Level.WARN, scope: Scope.INSTANCE });
  expect(local.generation).toBe(0n);
});

test("while the engine does not answer, calls of the fleet are unavailable", async () => {
  const { server, fleet, loggers } = await served();
  server.answers = "none";
  const calls = [
    fleet.listInstances({}),
    fleet.listFleetLevels({}),
    fleet.getFleetChange({ generation: 1n }),
    fleet.resetFleet({}),
    loggers.setLoggerLevel({ name: "a", level: Level.WARN, ...FLEET }),
  ];
  for (const call of calls)
    await expect(faultOf(call)).resolves.toEqual([Code.Unavailable, "FLEET_ENGINE_UNAVAILABLE"]);
  const local = await loggers.setLoggerLevel({ name: "a", level: Level.WARN });
  expect(local.result.value).toMatchObject({ configuredLevel: Level.WARN });
});

test("watching a change goes on when the engine is back", async () => {
  const { server, fleet, loggers } = await served();
  const set = loggers.setLoggerLevel({ name: "a", level: Level.WARN, ...FLEET });
  const { generation } = await set;
  server.answers = "none";
  const followed = allOf(fleet.watchFleetChange({ generation }));
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  server.answers = "all";
  expect((await followed).at(-1)).toMatchObject({ event: { value: { instances: [{}, {}] } } });
});

test("a fleet is reset, and unknown changes are not found", async () => {
  const { instances, fleet, loggers } = await served();
  await loggers.setLoggerLevel({ name: "a", level: Level.WARN, ...FLEET });
  await levelsSoon(instances).toEqual(["WARN", "WARN"]);
  expect(await fleet.resetFleet({ reason: "anew" })).toMatchObject({ ended: 1 });
  await levelsSoon(instances).toEqual([undefined, undefined]);
  await expect(faultOf(fleet.getFleetChange({ generation: 5n }))).resolves.toEqual([
    ...[Code.NotFound, "FLEET_CHANGE_NOT_FOUND"],
  ]);
});

async function allOf<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe("a canary", () => {
  const request = { name: "a", level: Level.WARN, instances: 1, reason: "try" };

  test("is followed, promoted by another call, and followed until all have the level", async () => {
    const { instances, fleet } = await served();
    await expect.poll(async () => (await fleet.listInstances({})).instances.length).toBe(2);
    const seen: unknown[] = [];
    for await (const { event } of fleet.runCanary(request)) {
      if (event.case === "progress") {
        const { id, isPromoted, change } = event.value;
        const statuses = change!.instances.map(({ status }) => status);
        if (!isPromoted && statuses.every((status) => status === Status.APPLIED)) {
          expect(levelsIn(instances).filter((level) => level === "WARN")).toHaveLength(1);
          const finished = fleet.finishCanary({ id, promote: true });
          seen.push("applied", (await finished).generation > 0n);
        }
        if (isPromoted) seen.push(statuses.length);
      }
      if (event.case === "ended") seen.push(event.value.outcome, event.value.generation > 0n);
    }
    expect(seen.slice(0, 2)).toEqual(["applied", true]);
    expect(seen.slice(-3)).toEqual([2, Outcome.PROMOTED, true]);
    expect(levelsIn(instances)).toEqual(["WARN", "WARN"]);
  });

  test("is promoted by itself when its time is over", async () => {
    const { instances, fleet } = await served();
    await expect.poll(async () => (await fleet.listInstances({})).instances.length).toBe(2);
    const promoteAfter = { seconds: 1n };
    const events = await allOf(fleet.runCanary({ ...request, promoteAfter }));
    expect(events.at(-1)).toMatchObject({ event: { case: "ended", value: { outcome: Outcome.PROMOTED } } });
    expect(levelsIn(instances)).toEqual(["WARN", "WARN"]);
  });

  test("lasts while the engine is away for a short time, and is promoted afterwards", async () => {
    const { server, instances, fleet } = await served();
    await expect.poll(async () => (await fleet.listInstances({})).instances.length).toBe(2);
    const events: unknown[] = [];
    for await (const { event } of fleet.runCanary({ ...request, promoteAfter: { seconds: 1n } })) {
      if (event.case === "progress" && server.answers === "all" && events.length === 0) {
        server.answers = "none";
        setTimeout(() => {
          server.answers = "all";
        }, 2_500);
      }
      events.push(event.case === "ended" ? event.value.outcome : event.case);
    }
    expect(events.at(-1)).toBe(Outcome.PROMOTED);
    expect(levelsIn(instances)).toEqual(["WARN", "WARN"]);
  });

  test("is taken back if an instance has not applied it when its time is over", async () => {
    const { instances, fleet } = await served();
    await expect.poll(async () => (await fleet.listInstances({})).instances.length).toBe(2);
    const events: unknown[] = [];
    for await (const { event } of fleet.runCanary({ ...request, promoteAfter: { seconds: 3n } })) {
      if (event.case === "progress") {
        const chosen = event.value.change!.instances[0]!.instance;
        const { loggers } = instances.find(({ fleet: { id } }) => id === chosen)!;
        loggers.setLevel("a", "ERROR");
      }
      if (event.case === "ended") events.push(event.value.outcome, event.value.generation);
    }
    expect(events).toEqual([Outcome.FAILED, 0n]);
  });

  test("is taken back when its stream ends", async () => {
    const { instances, fleet } = await served();
    await expect.poll(async () => (await fleet.listInstances({})).instances.length).toBe(2);
    const ending = new AbortController();
    const events = fleet.runCanary(request, { signal: ending.signal })[Symbol.asyncIterator]();
    expect(await events.next()).toMatchObject({ value: { event: { case: "progress" } } });
    expect(levelsIn(instances)).toContain("WARN");
    ending.abort();
    await events.next().catch(() => undefined);
    await levelsSoon(instances).toEqual([undefined, undefined]);
  });

  test("on more instances than there are is refused, and an unknown one is not found", async () => {
    const { fleet } = await served();
    await expect.poll(async () => (await fleet.listInstances({})).instances.length).toBe(2);
    const many = allOf(fleet.runCanary({ ...request, instances: 3 }));
    await expect(faultOf(many)).resolves.toEqual([Code.FailedPrecondition, "TOO_FEW_INSTANCES"]);
    const late = allOf(fleet.runCanary({ ...request, promoteAfter: { seconds: 30n * 86_400n } }));
    await expect(faultOf(late)).resolves.toEqual([Code.InvalidArgument, "INVALID_DURATION"]);
    const unknown = fleet.finishCanary({ id: "x", promote: true });
    await expect(faultOf(unknown)).resolves.toEqual([Code.NotFound, "CANARY_NOT_FOUND"]);
  });
});

import { describe, expect, onTestFinished, test, vi } from "vitest";
import { FleetRefusal } from "../../src/fleet/engine.ts";
import { Fleet } from "../../src/fleet/fleet.ts";
import { readReports } from "../../src/fleet/instance.ts";
import type { Level } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import { type Instance, instanceOf, TestServer } from "./support.ts";

const levelIn = ({ loggers }: Instance, name = "a"): Level | undefined => loggers.get(name)?.configuredLevel;
const soon = <T>(actual: () => T | Promise<T>) => expect.poll(actual, { timeout: 20_000, interval: 20 });
const levelsSoon = (instances: readonly Instance[]) => soon(() => instances.map((each) => levelIn(each)));

function three(server = new TestServer()): readonly [Instance, Instance, Instance] {
  return [
    instanceOf(server, "i1", { labels: { zone: "eu" } }),
    instanceOf(server, "i2", { labels: { zone: "eu", canary: "true" } }),
    instanceOf(server, "i3", { labels: { zone: "us" } }),
  ];
}

describe("a level of the fleet", () => {
  test("reaches all instances, and those that start later", async () => {
    const server = new TestServer();
    const all = three(server);
    const generation = await all[0].fleet.setLevel("a", "WARN", { actor: "ann", reason: "noise" });
    expect(levelIn(all[0])).toBe("WARN");
    await levelsSoon(all).toEqual(["WARN", "WARN", "WARN"]);
    const later = instanceOf(server, "i4");
    await levelsSoon([later]).toEqual(["WARN"]);
    expect(later.loggers.get("a")?.override).toMatchObject({
      ...{ actor: "ann", reason: "noise", instance: "i1", fleetGeneration: expect.any(Number), expireTime: undefined },
    });
    expect(await later.fleet.levels()).toMatchObject([{ name: "a", level: "WARN", generation, selector: "" }]);
  });

  test("reaches those that a selector names", async () => {
    const all = three();
    await all[2].fleet.setLevel("a", "DEBUG", { selector: "zone=eu, canary", ttlMs: 60_000 });
    await levelsSoon(all).toEqual([undefined, "DEBUG", undefined]);
    await all[2].fleet.setLevel("a", "ERROR", { selector: "instance=i1+i3" });
    await levelsSoon(all).toEqual(["ERROR", "DEBUG", "ERROR"]);
  });

  test("is followed and changed by a reader, which is not one of the instances", async () => {
    const server = new TestServer();
    const all = three(server);
    const reader = instanceOf(server, "r", { role: "reader" });
    expect([reader.fleet.isDefault, all[0].fleet.isDefault]).toEqual([true, false]);
    await reader.fleet.setLevel("a", "WARN");
    await levelsSoon([...all, reader]).toEqual(["WARN", "WARN", "WARN", "WARN"]);
    await soon(async () => (await reader.fleet.instances()).map(({ id }) => id)).toEqual(["i1", "i2", "i3"]);
  });

  test("is followed by beats alone when hints are lost", async () => {
    const server = new TestServer();
    const all = three(server);
    server.hints = false;
    await all[0].fleet.setLevel("a", "WARN");
    await levelsSoon(all).toEqual(["WARN", "WARN", "WARN"]);
  });

  test("ends by the engine's clock on every instance, without a call", async () => {
    const server = new TestServer();
    server.ahead = 7 * 86_400_000;
    const all = three(server);
    await all[0].fleet.setLevel("a", "INFO");
    await all[0].fleet.setLevel("a", "DEBUG", { ttlMs: 400 });
    await levelsSoon(all).toEqual(["DEBUG", "DEBUG", "DEBUG"]);
    const { expireTime = 0 } = all[1].loggers.get("a")!.override!;
    expect(Math.abs(expireTime - Date.now())).toBeLessThan(10_000);
    server.answers = "none";
    await levelsSoon(all).toEqual(["INFO", "INFO", "INFO"]);
  });

  test("gives back what each instance had", async () => {
    const all = three();
    all[1].loggers.setLevel("a", "ERROR");
    await all[0].fleet.setLevel("a", "WARN");
    await levelsSoon(all).toEqual(["WARN", "WARN", "WARN"]);
    await all[2].fleet.setLevel("a", undefined);
    await levelsSoon(all).toEqual([undefined, "ERROR", undefined]);
    expect(await all[0].fleet.levels()).toEqual([]);
  });

  test("is restored together with what instances had set for themselves before", async () => {
    const all = three();
    all[1].loggers.setLevel("a", "ERROR");
    await all[0].fleet.setLevel("a", "WARN");
    await levelsSoon(all).toEqual(["WARN", "WARN", "WARN"]);
    await all[2].fleet.restoreLevel("a");
    await levelsSoon(all).toEqual([undefined, undefined, undefined]);
    all[1].loggers.setLevel("a", "INFO");
    await all[0].fleet.setLevel("b", "INFO");
    await soon(() => levelIn(all[1], "b")).toBe("INFO");
    expect(levelIn(all[1])).toBe("INFO");
  });

  test("is refused if the fleet was changed in between", async () => {
    const [one, two] = three();
    const generation = await one.fleet.setLevel("a", "WARN");
    await two.fleet.setLevel("b", "WARN", { ifGeneration: generation });
    const late = one.fleet.setLevel("a", "INFO", { ifGeneration: generation });
    await expect(late).rejects.toMatchObject({ code: "FAILED_PRECONDITION", reason: "GENERATION_CHANGED" });
  });

  test("of two writers that expect the same generation one has its way", async () => {
    const [one, two] = three();
    const ifGeneration = await one.fleet.setLevel("a", "WARN");
    const both = [one, two].map(({ fleet }) => fleet.setLevel("a", "INFO", { ifGeneration }));
    const results = await Promise.allSettled(both);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(results.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { reason: "GENERATION_CHANGED" },
    });
  });

  test("of many writers at once the last one has its way everywhere", async () => {
    const all = three();
    const wanted: Level[] = ["ERROR", "WARN", "INFO", "FATAL", "OFF"];
    const made = await Promise.all(
      wanted.map(async (level, index) => ({ level, generation: await all[index % 3]!.fleet.setLevel("a", level) })),
    );
    const last = made.reduce((one, other) => (one.generation > other.generation ? one : other)).level;
    await levelsSoon(all).toEqual([last, last, last]);
    expect(new Set(made.map(({ generation }) => generation)).size).toBe(5);
  });

  test.each([
    ["an unknown level", "LOUD", {}, "INVALID_LEVEL"],
    ["DEBUG for longer than it may last", "DEBUG", { ttlMs: 48 * 3_600_000 }, "INVALID_TTL"],
    ["a selector", "WARN", { selector: "=" }, "INVALID_SELECTOR"],
    ["a canary's selector that is too long", "WARN", { selector: `instance=${"x".repeat(9_999)}` }, "INVALID_SELECTOR"],
    ["a reason", "WARN", { reason: "\n" }, "INVALID_REASON"],
  ])("%s is refused", async (_, level, request, reason) => {
    const [one] = three();
    await expect(one.fleet.setLevel("a", level as Level, request)).rejects.toMatchObject({ reason });
  });
});

describe("a level that an instance has for itself", () => {
  test("overrules the fleet until the fleet is changed again", async () => {
    const all = three();
    const generation = await all[0].fleet.setLevel("a", "WARN");
    await levelsSoon(all).toEqual(["WARN", "WARN", "WARN"]);
    all[1].loggers.setLevel("a", "ERROR", { actor: "ann" });
    await soon(async () => (await all[0].fleet.change(generation)).instances.map(({ status }) => status)).toEqual([
      ...["APPLIED", "OVERRULED", "APPLIED"],
    ]);
    const { instances } = await all[0].fleet.change(generation);
    expect(instances[1]).toMatchObject({ instance: "i2", overruledBy: "ann" });
    await all[2].fleet.setLevel("a", "INFO");
    await levelsSoon(all).toEqual(["INFO", "INFO", "INFO"]);
    await all[2].fleet.setLevel("a", undefined);
    await levelsSoon(all).toEqual([undefined, "ERROR", undefined]);
  });

  test("for a time covers the fleet's until it is over", async () => {
    const all = three();
    const generation = await all[0].fleet.setLevel("a", "WARN");
    await levelsSoon(all).toEqual(["WARN", "WARN", "WARN"]);
    const { lease } = all[1].loggers.holdLevel("a", "ERROR", { actor: "ann" });
    const statuses = async () => (await all[0].fleet.change(generation)).instances.map(({ status }) => status);
    await soon(statuses).toEqual(["APPLIED", "OVERRULED", "APPLIED"]);
    // What comes back in the fleet stays beneath it.
    await all[0].fleet.setLevel("a", "TRACE", { ttlMs: 600 });
    lease.release();
    await levelsSoon(all).toEqual(["TRACE", "TRACE", "TRACE"]);
    await levelsSoon(all).toEqual(["WARN", "WARN", "WARN"]);
    await soon(statuses).toEqual(["APPLIED", "APPLIED", "APPLIED"]);
  });

  test("stays when a level of the fleet ends that was set later for a time", async () => {
    const all = three();
    await all[0].fleet.setLevel("a", "WARN");
    await levelsSoon(all).toEqual(["WARN", "WARN", "WARN"]);
    all[1].loggers.setLevel("a", "ERROR");
    await all[0].fleet.setLevel("a", "TRACE", { ttlMs: 600 });
    await levelsSoon(all).toEqual(["TRACE", "TRACE", "TRACE"]);
    all[2].loggers.holdLevel("a", "FATAL");
    await levelsSoon(all).toEqual(["WARN", "ERROR", "FATAL"]);
    await all[0].fleet.setLevel("b", "INFO");
    await soon(() => all.map((each) => levelIn(each, "b"))).toEqual(["INFO", "INFO", "INFO"]);
    expect(all.map((each) => levelIn(each))).toEqual(["WARN", "ERROR", "FATAL"]);
  });

  test("is kept if it was set after the fleet's, in an instance that starts late", async () => {
    const server = new TestServer();
    const one = instanceOf(server, "i1");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 60_000 });
    await one.fleet.setLevel("a", "WARN");
    const earlier = new Loggers({ instance: "i2" });
    earlier.setLevel("a", "FATAL");
    vi.useRealTimers();
    const later = new Loggers({ instance: "i3" });
    later.setLevel("a", "ERROR", { actor: "ann" });
    const instances = [instanceOf(server, "i2", { loggers: earlier }), instanceOf(server, "i3", { loggers: later })];
    await levelsSoon(instances).toEqual(["WARN", "ERROR"]);
  });

  test("that cannot be set is said to have failed, and why", async () => {
    const server = new TestServer();
    const one = instanceOf(server, "i1");
    instanceOf(server, "i2", { loggers: new Loggers({ instance: "i2", maxCreated: 0 }) });
    const generation = await one.fleet.setLevel("a.b", "WARN");
    await soon(async () => (await one.fleet.change(generation)).instances).toMatchObject([
      { instance: "i1", status: "APPLIED" },
      { instance: "i2", status: "FAILED", reason: expect.stringMatching(/\S/) },
    ]);
  });
});

describe("a held level of the fleet", () => {
  test("lasts until it is released", async () => {
    const all = three();
    await all[0].fleet.setLevel("a", "WARN");
    const lease = await all[0].fleet.holdLevel("a", "DEBUG", { selector: "zone=eu" });
    await levelsSoon(all).toEqual(["DEBUG", "DEBUG", "WARN"]);
    expect(all[1].loggers.get("a")?.override).toMatchObject({
      held: true,
      fleetGeneration: expect.any(Number),
      expireTime: undefined,
    });
    await lease.release();
    expect(lease.end).toBe("RELEASED");
    await levelsSoon(all).toEqual(["WARN", "WARN", "WARN"]);
  });

  test("ends after its maximum time", async () => {
    const all = three();
    const lease = await all[0].fleet.holdLevel("a", "DEBUG", { ttlMs: 400 });
    await levelsSoon(all).toEqual(["DEBUG", "DEBUG", "DEBUG"]);
    await levelsSoon(all).toEqual([undefined, undefined, undefined]);
    await soon(() => lease.end).toBe("EXPIRED");
  });

  test("ends when the instance leaves that holds it", async () => {
    const all = three();
    await all[0].fleet.holdLevel("a", "DEBUG");
    await levelsSoon(all).toEqual(["DEBUG", "DEBUG", "DEBUG"]);
    await all[0].fleet.close();
    await levelsSoon(all).toEqual([undefined, undefined, undefined]);
  });
});

describe("an engine", () => {
  test("that is away is said to be, and instances keep what they have", async () => {
    const server = new TestServer();
    const all = three(server);
    await all[0].fleet.setLevel("a", "WARN");
    await levelsSoon(all).toEqual(["WARN", "WARN", "WARN"]);
    server.answers = "none";
    await expect(all[1].fleet.setLevel("a", "INFO")).rejects.toMatchObject({
      code: "UNAVAILABLE",
      reason: "FLEET_ENGINE_UNAVAILABLE",
      message: "The fleet's engine (test) does not answer: connection refused.",
    });
    await expect(all[1].fleet.instances()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(all[1].fleet.levels()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(all[1].fleet.engine.fault).toBe("connection refused");
    all[1].loggers.setLevel("b", "INFO");
    expect([levelIn(all[1]), levelIn(all[1], "b")]).toEqual(["WARN", "INFO"]);
    server.answers = "all";
    await soon(() => all[1].fleet.engine.fault).toBeUndefined();
  });

  test("that is away for more than 10 seconds is reported, once until it is back", async () => {
    const server = new TestServer();
    server.answers = "none";
    const reported: string[] = [];
    const onError = (error: unknown, context: string) => reported.push(`${context}: ${(error as Error).message}`);
    const self = { name: "shop", startTime: 0, loggers: undefined, ttl: {}, onError };
    const fleet = new Fleet({ engine: server.source() }, self);
    onTestFinished(() => fleet.close());
    const clock = performance.now.bind(performance);
    let ahead = 0;
    const spied = vi.spyOn(performance, "now").mockImplementation(() => clock() + ahead);
    onTestFinished(() => spied.mockRestore());
    await soon(() => fleet.engine.fault).toBe("connection refused");
    expect(reported).toEqual([]);
    const message =
      "fleet shop: the engine (test) has not worked for 10 s: connection refused. Levels stay as they are until it does.";
    ahead += 11_000;
    await soon(() => reported).toEqual([message]);
    ahead += 60_000;
    await expect(fleet.instances()).rejects.toThrow();
    server.answers = "all";
    await soon(() => fleet.engine.fault).toBeUndefined();
    server.answers = "none";
    await soon(() => fleet.engine.fault).toBe("connection refused");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(reported).toEqual([message]);
    ahead += 11_000;
    await soon(() => reported).toEqual([message, message]);
  });

  test("that lost everything gets it back from the instances, and what was ended stays so", async () => {
    const server = new TestServer();
    const all = three(server);
    await all[0].fleet.setLevel("a", "WARN");
    await all[0].fleet.setLevel("b", "WARN");
    await all[0].fleet.setLevel("b", undefined);
    await levelsSoon(all).toEqual(["WARN", "WARN", "WARN"]);
    server.forget();
    const late = instanceOf(server, "i4");
    await levelsSoon([late]).toEqual(["WARN"]);
    expect(levelIn(late, "b")).toBeUndefined();
  });

  test("that gives no answer is called over another connection", { timeout: 20_000 }, async () => {
    const server = new TestServer();
    const [one] = three(server);
    await soon(() => one.fleet.engine.fault).toBeUndefined();
    server.answers = "never";
    await soon(() => server.resets).toBeGreaterThan(0);
    server.answers = "all";
    await soon(() => one.fleet.engine.fault).toBeUndefined();
  });

  test("whose answer to a change is lost leaves it unknown whether it happened", { timeout: 20_000 }, async () => {
    const server = new TestServer();
    const [one] = three(server);
    await soon(() => one.fleet.engine.fault).toBeUndefined();
    const { register } = server;
    const store = register.store.bind(register);
    register.store = (...args) => {
      store(...args);
      throw new Error("connection lost");
    };
    await expect(one.fleet.setLevel("a", "WARN")).rejects.toMatchObject({ reason: "OUTCOME_UNKNOWN" });
    await soon(() => levelIn(one)).toBe("WARN");
  });

  test("that refuses a change has not made it", async () => {
    const server = new TestServer();
    const [one] = three(server);
    await soon(() => one.fleet.engine.fault).toBeUndefined();
    server.register.store = () => {
      throw new FleetRefusal("no memory left");
    };
    await expect(one.fleet.setLevel("a", "WARN")).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "FLEET_ENGINE_REFUSED",
      message: "The fleet's engine (test) refuses the call: no memory left.",
    });
  });

  test("that takes no reports is said to be at fault, although it can be read", async () => {
    const server = new TestServer();
    const [one] = three(server);
    await soon(() => one.fleet.engine.fault).toBeUndefined();
    const { register } = server;
    const exchange = register.exchange.bind(register);
    register.exchange = (version, report) => {
      if (report !== undefined) throw new FleetRefusal("no memory left");
      return exchange(version);
    };
    await soon(() => one.fleet.engine.fault).toBe("no memory left");
    await one.fleet.levels();
    expect(await one.fleet.instances()).toHaveLength(3);
    expect(one.fleet.engine.fault).toBe("no memory left");
    register.exchange = exchange;
    await soon(() => one.fleet.engine.fault).toBeUndefined();
  });

  test("that something else writes to is not written to", async () => {
    const server = new TestServer();
    server.register.store({ version: "1", text: "hello" }, "", "");
    const [one] = three(server);
    await expect(one.fleet.setLevel("a", "WARN")).rejects.toMatchObject({ reason: "FLEET_DOCUMENT_UNREADABLE" });
    expect(one.fleet.engine.fault).toMatch(/not written by connect-actuator/);
    await one.fleet.instances();
    expect(one.fleet.engine.fault).toMatch(/not written by connect-actuator/);
  });
});

test.each([
  ["is no state", "hello"],
  ["has a name that is none", hintWith({ name: "" })],
  ["has a reason that is none", hintWith({ reason: "\n", restores: true, level: null })],
  ["is too long", `${hintWith({})}${" ".repeat(2 ** 20)}`],
])("a hint that %s changes nothing", async (_, hint) => {
  const server = new TestServer();
  const all = three(server);
  await all[0].fleet.setLevel("a", "WARN", { ttlMs: 60_000 });
  await levelsSoon(all).toEqual(["WARN", "WARN", "WARN"]);
  server.register.store({ version: "x", text: "" }, server.register.exchange("").document!.version, hint);
  await all[0].fleet.setLevel("b", "INFO");
  await soon(() => levelIn(all[1], "b")).toBe("INFO");
  expect(all.map((each) => levelIn(each))).toEqual(["WARN", "WARN", "WARN"]);
});

test("a report that does not fit is left out", async () => {
  const server = new TestServer();
  const [one] = three(server);
  const report = (await reportOf(server)) as object;
  const deep = "[".repeat(20_000) + "]".repeat(20_000);
  const reports: Record<string, string> = {
    ...{ none: "hello", generation: JSON.stringify({ ...report, generation: -5 }) },
    ...{
      time: JSON.stringify({ ...report, startTime: 2 ** 53 - 1 }),
      labels: JSON.stringify({ ...report, labels: 1 }),
    },
    ...{ long: JSON.stringify({ ...report, x: "x".repeat(2 ** 16) }), "not an id": JSON.stringify(report) },
    deep: JSON.stringify({ ...report, x: 0 }).replace('"x":0', `"x":${deep}`),
  };
  for (const [id, text] of Object.entries(reports)) server.register.exchange("", { id, text });
  const seen: unknown[] = [];
  onTestFinished(one.fleet.watchInstances("", (instances) => seen.push(instances)));
  await soon(() => seen).not.toEqual([]);
  expect(seen[0]).toMatchObject([{ id: "deep" }, { id: "i1" }, { id: "i2" }, { id: "i3" }]);
  expect(seen[0]).not.toMatchObject([{ x: expect.anything() }, {}, {}, {}]);
});

test("two processes with one id are noticed", async () => {
  const server = new TestServer();
  const all = [instanceOf(server, "i1"), instanceOf(server, "i2")];
  await soon(async () => (await all[0]!.fleet.instances()).length).toBe(2);
  expect(all[0]!.fleet.engine.notice).toBeUndefined();
  await new Promise((resolve) => setTimeout(resolve, 5));
  instanceOf(server, "i1");
  await soon(async () => {
    await all[0]!.fleet.instances();
    return all[0]!.fleet.engine.notice;
  }).toMatch(/Another process is named i1/);
});

test("instances are listed with what they say of themselves, until they leave", async () => {
  const server = new TestServer();
  const all = three(server);
  const generation = await all[0].fleet.setLevel("a", "WARN");
  await soon(async () => (await all[0].fleet.instances()).map((each) => each.generation)).toEqual(
    Array(3).fill(generation),
  );
  expect(await all[1].fleet.instances("zone=eu")).toMatchObject([
    { id: "i1", application: "shop", version: "1", labels: { zone: "eu" }, lagMs: 0, isGone: false, isSelf: false },
    { id: "i2", labels: { zone: "eu", canary: "true" }, isSelf: true },
  ]);
  await all[0].fleet.close();
  expect((await all[1].fleet.instances()).map(({ id }) => id)).toEqual(["i2", "i3"]);
  expect(levelIn(all[0])).toBeUndefined();
});

test("an instance that was killed is gone", async () => {
  const server = new TestServer();
  const [one] = three(server);
  server.register.exchange("", { id: "dead", text: JSON.stringify(await reportOf(server)) });
  server.ahead = 20_000;
  const generation = await one.fleet.setLevel("a", "WARN");
  await soon(async () => (await one.fleet.change(generation)).instances).toMatchObject([
    { instance: "dead", status: "GONE" },
    ...["i1", "i2", "i3"].map((instance) => ({ instance, status: "APPLIED" })),
  ]);
  await expect(one.fleet.change(1)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("an instance that has not said that it has a change is behind it", async () => {
  const server = new TestServer();
  const [one] = three(server);
  const report = (await reportOf(server)) as { generation: number };
  const generation = await one.fleet.setLevel("a", "WARN");
  server.register.exchange("", { id: "slow", text: JSON.stringify(report) });
  const slow = async () => (await one.fleet.change(generation)).instances.find(({ instance }) => instance === "slow");
  expect(await slow()).toMatchObject({ status: "APPLYING" });
  await soon(async () => (await one.fleet.instances("instance=slow"))[0]?.lagMs).toBeGreaterThan(50);
});

test("an instance is gone when it has not reported for more than 15 seconds", async () => {
  const server = new TestServer();
  three(server);
  const text = JSON.stringify(await reportOf(server));
  const isGone = (age: number) => readReports([{ id: "i", text, seen: 100_000 - age }], 100_000)[0]?.isGone;
  expect([isGone(15_000), isGone(15_001)]).toEqual([false, true]);
});

test("an instance that was killed is told to those who watch, even if no other one reports", async () => {
  const server = new TestServer();
  const reader = instanceOf(server, "reader", { role: "reader" });
  const elsewhere = new TestServer();
  three(elsewhere);
  server.register.exchange("", { id: "dead", text: JSON.stringify(await reportOf(elsewhere)) });
  const seen: boolean[] = [];
  const stop = reader.fleet.watchInstances("", (instances) => {
    if (!(instances instanceof Error)) seen.push(...instances.map(({ isGone }) => isGone));
  });
  onTestFinished(stop);
  await soon(() => seen).toEqual([false]);
  server.ahead = 20_000;
  await soon(() => seen).toEqual([false, true]);
});

test("a fleet is reset for good", async () => {
  const server = new TestServer();
  const all = three(server);
  await all[0].fleet.setLevel("a", "WARN");
  await all[0].fleet.setLevel("a", "DEBUG", { selector: "zone=eu", ttlMs: 60_000 });
  await all[0].fleet.holdLevel("a", "TRACE");
  await levelsSoon(all).toEqual(["TRACE", "TRACE", "TRACE"]);
  expect(await all[1].fleet.reset({ reason: "begin anew" })).toMatchObject({ ended: 3 });
  await levelsSoon(all).toEqual([undefined, undefined, undefined]);
  server.forget();
  await all[2].fleet.setLevel("b", "INFO");
  await soon(() => levelIn(all[0], "b")).toBe("INFO");
  expect(levelIn(all[0])).toBeUndefined();
});

test.each([
  ["shop of ann", "i1", /shop of ann/],
  ["", "i1", /has no name/],
  ["shop", "i 1", /loggers.instance/],
])("the name %j and the instance %j are refused together", (name, id, message) => {
  const self = { name, startTime: 0, loggers: new Loggers({ instance: id }), ttl: {} };
  expect(() => new Fleet({ engine: new TestServer().source() }, self)).toThrow(message);
});

function hintWith(entry: object): string {
  const base = { name: "a", selector: "", slot: "lasting", level: "OFF", setTime: Date.now(), actor: "", reason: "" };
  const entries = [{ ...base, instance: "x", generation: 2 ** 51, ...entry }];
  return JSON.stringify({ format: 1, generation: 2 ** 51, entries });
}

async function reportOf(server: TestServer): Promise<unknown> {
  await expect.poll(() => server.register.instances().length).toBe(3);
  return JSON.parse(server.register.instances()[0]!.text);
}

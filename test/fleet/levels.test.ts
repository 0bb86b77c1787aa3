import { describe, expect, test, vi } from "vitest";
import type { Fleet } from "../../src/fleet/fleet.ts";
import type { LoggerAdapter } from "../../src/loggers/adapter.ts";
import type { Level } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import { type Instance, instanceOf, TestServer } from "./support.ts";

const soon = <T>(actual: () => T | Promise<T>) => expect.poll(actual, { timeout: 20_000, interval: 20 });
const levelsOf = ({ loggers }: Instance, ...names: string[]) => names.map((name) => loggers.get(name)?.configuredLevel);
const statusOf = async (fleet: Fleet, generation: number, instance: string) =>
  (await fleet.change(generation)).instances.find((each) => each.instance === instance);

/** A library with one logger. */
function library(name: string, apply?: (level: Level) => void): LoggerAdapter & { level: Level } {
  const adapter = {
    kind: "test",
    level: "INFO" as Level,
    attach(host: Parameters<LoggerAdapter["attach"]>[0]) {
      host.discovered(name, {
        get level() {
          return adapter.level;
        },
        apply(level) {
          apply?.(level);
          adapter.level = level;
        },
        restore() {
          adapter.level = "INFO";
        },
      });
      return () => {};
    },
  };
  return adapter;
}

describe("levels of a group and of its members", () => {
  const groups = { g: ["a", "b"] };
  const withGroup = (server: TestServer, id: string) =>
    instanceOf(server, id, { loggers: new Loggers({ instance: id, groups }) });

  test("are the same on an instance that starts later: the latest applies", async () => {
    const server = new TestServer();
    const one = withGroup(server, "i1");
    await one.fleet.setLevel("g", "INFO");
    await one.fleet.setLevel("a", "ERROR");
    const generation = await one.fleet.setLevel("g", "WARN");
    expect(levelsOf(one, "a", "b")).toEqual(["WARN", "WARN"]);
    const late = withGroup(server, "i2");
    await soon(() => levelsOf(late, "a", "b")).toEqual(["WARN", "WARN"]);
    await soon(() => statusOf(one.fleet, generation, "i2")).toMatchObject({ status: "APPLIED" });
  });

  test("come back in the order in which they were set", async () => {
    const server = new TestServer();
    const all = [withGroup(server, "i1"), withGroup(server, "i2")];
    await all[0]!.fleet.setLevel("g", "WARN");
    await all[0]!.fleet.setLevel("a", "ERROR");
    await all[0]!.fleet.setLevel("g", "INFO", { ttlMs: 300 });
    await soon(() => all.map((each) => levelsOf(each, "a", "b"))).toEqual(Array(2).fill(["INFO", "INFO"]));
    await soon(() => all.map((each) => levelsOf(each, "a", "b"))).toEqual(Array(2).fill(["ERROR", "WARN"]));
  });

  test("are overruled if a member was set on the instance alone", async () => {
    const server = new TestServer();
    const one = withGroup(server, "i1");
    const generation = await one.fleet.setLevel("g", "WARN");
    one.loggers.setLevel("a", "ERROR", { actor: "bob" });
    await soon(() => statusOf(one.fleet, generation, "i1")).toMatchObject({ status: "OVERRULED", overruledBy: "bob" });
    await one.fleet.restoreLevel("g");
    expect(levelsOf(one, "a", "b")).toEqual([undefined, undefined]);
  });
});

describe("a temporary level of the instance", () => {
  test("stays in force when a level of the fleet comes back that is earlier", async () => {
    const server = new TestServer();
    const [one, two] = [instanceOf(server, "i1"), instanceOf(server, "i2")];
    await one.fleet.setLevel("a", "WARN");
    await soon(() => levelsOf(two, "a")).toEqual(["WARN"]);
    two.loggers.setLevel("a", "ERROR", { ttlMs: 60_000, actor: "ann" });
    two.loggers.setLevel("a", "FATAL", { ttlMs: 60_000, actor: "bob" });
    const lease = await one.fleet.holdLevel("a", "DEBUG");
    await soon(() => levelsOf(two, "a")).toEqual(["DEBUG"]);
    await lease.release();
    await soon(() => levelsOf(two, "a")).toEqual(["FATAL"]);
    two.loggers.restoreLevel("a");
    expect(levelsOf(two, "a")).toEqual([undefined]);
  });

  test("gives way to an earlier one of the instance, not to the fleet's before both", async () => {
    const server = new TestServer();
    const [one, two] = [instanceOf(server, "i1"), instanceOf(server, "i2")];
    await one.fleet.setLevel("a", "WARN");
    await one.fleet.setLevel("a", "DEBUG", { ttlMs: 300 });
    await soon(() => levelsOf(two, "a")).toEqual(["DEBUG"]);
    two.loggers.setLevel("a", "ERROR", { ttlMs: 60_000, actor: "ann" });
    const { lease } = two.loggers.holdLevel("a", "FATAL", { actor: "bob" });
    await soon(() => levelsOf(one, "a")).toEqual(["WARN"]);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(levelsOf(two, "a")).toEqual(["FATAL"]);
    lease.release();
    expect(levelsOf(two, "a")).toEqual(["ERROR"]);
  });

  test("gives back the permanent one that was set after the fleet's, in an instance that starts late", async () => {
    const server = new TestServer();
    const one = instanceOf(server, "i1");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 60_000 });
    const generation = await one.fleet.setLevel("a", "WARN");
    vi.useRealTimers();
    const loggers = new Loggers({ instance: "i2" });
    loggers.setLevel("a", "ERROR", { actor: "ann" });
    const { lease } = loggers.holdLevel("a", "FATAL", { actor: "bob" });
    const late = instanceOf(server, "i2", { loggers });
    await soon(() => statusOf(one.fleet, generation, "i2")).toMatchObject({ status: "OVERRULED", overruledBy: "ann" });
    expect(levelsOf(late, "a")).toEqual(["FATAL"]);
    lease.release();
    expect(levelsOf(late, "a")).toEqual(["ERROR"]);
  });
});

test("a restore spares what an instance that was away had set later", async () => {
  const server = new TestServer();
  const one = instanceOf(server, "i1");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 60_000 });
  await one.fleet.restoreLevel("a");
  vi.useRealTimers();
  const loggers = new Loggers({ instance: "i2" });
  loggers.setLevel("a", "ERROR");
  const late = instanceOf(server, "i2", { loggers });
  await soon(() => late.fleet.generation).toBe(one.fleet.generation);
  expect(levelsOf(late, "a")).toEqual(["ERROR"]);
});

test("a held level that would last for longer than it may is refused", async () => {
  const one = instanceOf(new TestServer(), "i1");
  const held = one.fleet.holdLevel("a", "DEBUG", { ttlMs: 48 * 3_600_000 });
  await expect(held).rejects.toMatchObject({ reason: "INVALID_TTL" });
});

test("a level ends as soon as the engine's clock is past its end, though that of the instance stood still", async () => {
  const server = new TestServer();
  const all = [instanceOf(server, "i1"), instanceOf(server, "i2")];
  await all[0]!.fleet.setLevel("a", "DEBUG", { ttlMs: 600_000 });
  await soon(() => all.map((each) => levelsOf(each, "a"))).toEqual([["DEBUG"], ["DEBUG"]]);
  server.ahead = 3_600_000;
  await soon(() => all.map((each) => levelsOf(each, "a"))).toEqual([[undefined], [undefined]]);
});

test("the history says who ended a level of the fleet, and how", async () => {
  const server = new TestServer();
  const [one, two] = [instanceOf(server, "i1"), instanceOf(server, "i2")];
  await one.fleet.setLevel("a", "WARN", { actor: "ann" });
  await one.fleet.setLevel("a", undefined, { actor: "bob", reason: "done" });
  await one.fleet.setLevel("a", "WARN", { actor: "ann" });
  await one.fleet.restoreLevel("a", { actor: "carl" });
  await one.fleet.setLevel("a", "DEBUG", { actor: "ann", ttlMs: 100 });
  await soon(() => two.loggers.history({ limit: 1 })[0]?.kind).toBe("EXPIRED");
  await one.fleet.setLevel("a", "WARN");
  await one.fleet.reset();
  const seen = () => two.loggers.history({ limit: 100 }).map(({ kind, override }) => [kind, override?.actor]);
  await soon(seen).toEqual([
    ...[
      ["CLEARED", undefined],
      ["SET", ""],
      ["EXPIRED", undefined],
      ["SET", "ann"],
    ],
    ...[
      ["RESTORED", "carl"],
      ["SET", "ann"],
      ["CLEARED", "bob"],
      ["SET", "ann"],
    ],
  ]);
});

test("a name that no logger has is said to be unknown, with the one that was probably meant, until one has it", async () => {
  const server = new TestServer();
  const [one] = [instanceOf(server, "i1"), instanceOf(server, "i2")];
  one.loggers.attach(library("orders"));
  const generation = await one.fleet.setLevel("order", "WARN");
  await soon(() => statusOf(one.fleet, generation, "i1")).toMatchObject({
    status: "APPLIED",
    unknown: true,
    nearest: "orders",
  });
  await soon(() => statusOf(one.fleet, generation, "i2")).toMatchObject({
    status: "APPLIED",
    unknown: true,
    nearest: "",
  });
  one.loggers.attach(library("order"));
  await soon(() => statusOf(one.fleet, generation, "i1")).toMatchObject({ status: "APPLIED", unknown: false });
});

test("levels stay when one of the instance's libraries is detached", async () => {
  const server = new TestServer();
  const one = instanceOf(server, "i1");
  const kept = library("a");
  one.loggers.attach(kept);
  const detach = one.loggers.attach(library("b"));
  await one.fleet.setLevel("a", "WARN");
  expect(kept.level).toBe("WARN");
  detach();
  await soon(() => kept.level).toBe("WARN");
  await one.fleet.close();
  expect(kept.level).toBe("INFO");
});

test("a level that a library refuses is said to have failed, and why", async () => {
  const server = new TestServer();
  const one = instanceOf(server, "i1");
  one.loggers.attach(
    library("a", () => {
      throw new Error("read-only");
    }),
  );
  const generation = await one.fleet.setLevel("a", "WARN");
  await soon(() => statusOf(one.fleet, generation, "i1")).toMatchObject({
    status: "FAILED",
    reason: "The level in effect on a is INFO: level not applied: Error: read-only",
  });
});

test("of many levels that cannot be set, none is said to be applied", async () => {
  const server = new TestServer();
  const one = instanceOf(server, "i1");
  instanceOf(server, "i2", { loggers: new Loggers({ instance: "i2", maxCreated: 10 }) });
  const generations: number[] = [];
  for (let at = 0; at < 130; at++) generations.push(await one.fleet.setLevel(`n${at}`, "WARN"));
  const statuses = () => Promise.all(generations.map((each) => statusOf(one.fleet, each, "i2")));
  await soon(async () => (await statuses()).filter((each) => each?.status === "APPLYING")).toEqual([]);
  const found = await statuses();
  expect(found.filter((each) => each?.status === "APPLIED").length).toBeLessThanOrEqual(10);
  expect(found[20]).toMatchObject({
    status: "FAILED",
    reason: "20 more levels than are named have failed or were overruled here",
  });
});

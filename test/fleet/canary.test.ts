import { expect, onTestFinished, test } from "vitest";
import { chosen } from "../../src/fleet/canary.ts";
import { Fleet } from "../../src/fleet/fleet.ts";
import type { FleetInstance } from "../../src/fleet/instance.ts";
import { type Instance, instanceOf, TestServer } from "./support.ts";

const soon = <T>(actual: () => T | Promise<T>) => expect.poll(actual, { timeout: 20_000, interval: 20 });
const levelsIn = (all: readonly Instance[]) =>
  all.map(({ loggers }) => loggers.get("a")?.configuredLevel ?? "-").sort();

async function four(server = new TestServer()): Promise<readonly Instance[]> {
  const all = ["i1", "i2", "i3", "i4"].map((id) =>
    instanceOf(server, id, { labels: { zone: id === "i4" ? "us" : "eu" } }),
  );
  await soon(async () => (await all[0]!.fleet.instances()).length).toBe(4);
  return all;
}

test("a canary is set on some, then on all that were selected", async () => {
  const all = await four();
  const canary = await all[0]!.fleet.runCanary("a", "WARN", { instances: 2, selector: "zone=eu", reason: "try" });
  await soon(() => levelsIn(all)).toEqual(["-", "-", "WARN", "WARN"]);
  expect(canary.instances).toHaveLength(2);
  expect(canary.instances).not.toContain("i4");
  // Any instance can finish it.
  const generation = await all[3]!.fleet.finishCanary(canary.id, true, { actor: "ann" });
  await soon(() => levelsIn(all)).toEqual(["-", "WARN", "WARN", "WARN"]);
  await soon(() => canary.lease.end).toBe("RELEASED");
  expect(all[0]!.fleet.promotion(canary)).toBe(generation);
  expect(await all[1]!.fleet.levels()).toMatchObject([{ name: "a", selector: "zone=eu", actor: "ann", reason: "try" }]);
  await expect(all[0]!.fleet.finishCanary(canary.id, true)).rejects.toMatchObject({ reason: "CANARY_NOT_FOUND" });
});

test("a canary that is promoted for a time ends on all", async () => {
  const all = await four();
  const canary = await all[0]!.fleet.runCanary("a", "DEBUG", { instances: 1, ttlMs: 500 });
  await all[0]!.fleet.finishCanary(canary.id, true);
  await soon(() => levelsIn(all)).toEqual(["DEBUG", "DEBUG", "DEBUG", "DEBUG"]);
  await soon(() => levelsIn(all)).toEqual(["-", "-", "-", "-"]);
});

test("a canary is finished only by a caller who may change its logger", async () => {
  const all = await four();
  const canary = await all[0]!.fleet.runCanary("a", "WARN", { instances: 1 });
  const check = ({ name }: { readonly name: string }) => {
    throw new Error(`not ${name}`);
  };
  await expect(all[1]!.fleet.finishCanary(canary.id, true, { check })).rejects.toThrow("not a");
  expect(canary.lease.end).toBeUndefined();
});

test("a canary is run on instances that are there", () => {
  const instances = ["a", "b", "c"].map((id) => ({ id, isGone: id !== "b" }) as FleetInstance);
  expect(chosen(instances, "orders", 1)).toEqual(["b"]);
  expect(() => chosen(instances, "orders", 2)).toThrow(
    "The selector matches 1 instance, without 2 that are gone; the canary needs 2.",
  );
});

test("a canary for longer than the instance that finishes it allows is not promoted", async () => {
  const server = new TestServer();
  const one = instanceOf(server, "i1");
  const options = { engine: server.source(), name: "shop" };
  const strict = new Fleet(options, { name: "shop", startTime: 0, loggers: undefined, ttl: { maxTtlMs: 60_000 } });
  onTestFinished(() => strict.close());
  await soon(async () => (await one.fleet.instances("instance=i1")).length).toBe(1);
  const canary = await one.fleet.runCanary("a", "DEBUG", { instances: 1, ttlMs: 3_600_000, selector: "instance=i1" });
  await expect(strict.finishCanary(canary.id, true)).rejects.toMatchObject({ reason: "INVALID_TTL" });
  await expect(strict.finishCanary(canary.id, true, { reason: "\n" })).rejects.toMatchObject({
    reason: "INVALID_REASON",
  });
  expect(await strict.finishCanary(canary.id, false)).toBeUndefined();
});

test("a canary is taken back", async () => {
  const all = await four();
  const canary = await all[0]!.fleet.runCanary("a", "WARN", { instances: 3 });
  await soon(() => levelsIn(all)).toEqual(["-", "WARN", "WARN", "WARN"]);
  expect(await all[1]!.fleet.finishCanary(canary.id, false)).toBeUndefined();
  await soon(() => levelsIn(all)).toEqual(["-", "-", "-", "-"]);
  await soon(() => canary.lease.end).toBe("RELEASED");
  expect(all[0]!.fleet.promotion(canary)).toBeUndefined();
});

test("a canary ends with the instance that runs it, and when another level is set for all", async () => {
  const all = await four();
  const first = await all[0]!.fleet.runCanary("a", "WARN", { instances: 1 });
  await all[1]!.fleet.setLevel("a", "ERROR");
  await soon(() => first.lease.end).toBe("OVERRULED");
  await soon(() => levelsIn(all)).toEqual(["ERROR", "ERROR", "ERROR", "ERROR"]);
  const second = await all[2]!.fleet.runCanary("a", "FATAL", { instances: 2, selector: "instance=i1+i2" });
  await soon(() => levelsIn(all)).toEqual(["ERROR", "ERROR", "FATAL", "FATAL"]);
  await all[2]!.fleet.close();
  await soon(() => levelsIn(all.filter((_, at) => at !== 2))).toEqual(["ERROR", "ERROR", "ERROR"]);
  await expect(all[0]!.fleet.finishCanary(second.id, true)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test.each([
  [0, "INVALID_INSTANCES"],
  [1.5, "INVALID_INSTANCES"],
  [5, "TOO_FEW_INSTANCES"],
])("a canary on %s of four is refused", async (instances, reason) => {
  const [one] = await four();
  await expect(one!.fleet.runCanary("a", "WARN", { instances })).rejects.toMatchObject({ reason });
});

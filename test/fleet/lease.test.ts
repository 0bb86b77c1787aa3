import { beforeEach, describe, expect, test, vi } from "vitest";
import { type Instance, instanceOf, TestServer } from "./support.ts";

const levelsIn = ({ loggers }: Instance, ...names: string[]) => names.map((name) => loggers.get(name)?.configuredLevel);

/** Lets so much time pass; what waits for no timer is done in between. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    await vi.advanceTimersByTimeAsync(Math.min(left, 100));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
  return () => vi.useRealTimers();
});

async function two(server = new TestServer()): Promise<readonly [Instance, Instance]> {
  const both = [instanceOf(server, "i1"), instanceOf(server, "i2")] as const;
  await pass(200);
  return both;
}

describe("a lease of the fleet", () => {
  test("is renewed for as long as it is held, and released on all its names at once", async () => {
    const [one, other] = await two();
    const lease = await one.fleet.holdLevels(["a", "b"], "DEBUG");
    await pass(75_000);
    expect(levelsIn(other, "a", "b")).toEqual(["DEBUG", "DEBUG"]);
    await lease.release();
    await pass(100);
    expect(levelsIn(other, "a", "b")).toEqual([undefined, undefined]);
  });

  test("is over only when all its names have another level for good", async () => {
    const [one, other] = await two();
    const lease = await one.fleet.holdLevels(["a", "b"], "DEBUG");
    await other.fleet.setLevel("a", "WARN");
    await pass(45_000);
    expect(levelsIn(other, "a", "b")).toEqual(["WARN", "DEBUG"]);
    expect(lease.end).toBeUndefined();
    await other.fleet.setLevel("b", "WARN");
    await pass(100);
    expect(lease.end).toBe("OVERRULED");
  });

  test("outlasts an engine that is away for 14 seconds, whenever that begins", { timeout: 60_000 }, async () => {
    for (const delay of [0, 4_000, 8_000, 9_900]) {
      const server = new TestServer();
      const [one, other] = await two(server);
      const lease = await one.fleet.holdLevel("a", "DEBUG");
      await pass(delay);
      server.answers = "none";
      await pass(14_000);
      server.answers = "all";
      await pass(40_000);
      expect(levelsIn(other, "a"), `${delay}`).toEqual(["DEBUG"]);
      expect(lease.end).toBeUndefined();
    }
  });

  test("ends everywhere within 30 seconds if it cannot be renewed", async () => {
    const server = new TestServer();
    const [one, other] = await two(server);
    const lease = await one.fleet.holdLevel("a", "DEBUG");
    server.answers = "none";
    await pass(29_000);
    expect(levelsIn(other, "a")).toEqual(["DEBUG"]);
    await pass(1_100);
    expect(levelsIn(other, "a")).toEqual([undefined]);
    await pass(1_100);
    expect(lease.end).toBe("EXPIRED");
  });

  test("is released before the instance leaves, though the caller does not wait for it", async () => {
    const [one, other] = await two();
    const lease = await one.fleet.holdLevel("a", "DEBUG");
    void lease.release();
    await one.fleet.close();
    expect(levelsIn(other, "a")).toEqual([undefined]);
  });
});

test("an instance that leaves waits for no engine that is away, and no call fails for itself", async () => {
  const server = new TestServer();
  const [one] = await two(server);
  await one.fleet.holdLevel("a", "DEBUG");
  server.answers = "never";
  const closed = one.fleet.close();
  await pass(2_000);
  await closed;
  server.answers = "none";
  await expect(one.fleet.instances()).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringMatching(/has left the fleet/),
  });
});

test("an instance that had no answer for half a day takes the engine's word for everything", async () => {
  const server = new TestServer();
  const [one, other] = await two(server);
  await one.fleet.setLevel("a", "WARN");
  await pass(200);
  expect(levelsIn(other, "a")).toEqual(["WARN"]);
  // What the engine has then knows nothing of the level any longer.
  server.forget();
  server.ahead = 13 * 3_600_000;
  await pass(6_000);
  expect([levelsIn(one, "a"), levelsIn(other, "a")]).toEqual([[undefined], [undefined]]);
});

import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ActuatorError } from "../../../src/common/error.ts";
import { checkOptions } from "../../../src/common/options.ts";
import { Health, type HealthReport, sessionStoreCheck } from "../../../src/operations/health/health.ts";
import { HEALTH, type HealthCheck, type HealthOptions } from "../../../src/operations/health/health-options.ts";
import { aggregateStatus, type HealthStatus } from "../../../src/operations/health/health-status.ts";
import { MemorySessionStore } from "../../../src/sessions/memory-store.ts";
import { eventually } from "../../support/server-harness.ts";

const never: HealthCheck = () => new Promise(() => {});

function fails(error: unknown): HealthCheck {
  return () => Promise.reject(error);
}

async function reportOf(checks: NonNullable<HealthOptions["checks"]>, options: HealthOptions = {}) {
  const { status, components } = await new Health({ timeoutMs: 20, ...options, checks }).check();
  return { status, component: (name: string) => components.get(name) };
}

test("without options the health is UP at once, and has no components", () => {
  const health = new Health();
  expect(health.check()).toEqual({ status: "UP", components: new Map() });
  expect(health.hasChecks).toBe(false);
  health.status = "OUT_OF_SERVICE";
  expect(health.check()).toEqual({ status: "OUT_OF_SERVICE", components: new Map() });
});

test.each<[HealthStatus[], HealthStatus]>([
  [["UP", "UNKNOWN"], "UP"],
  [["UNKNOWN", "OUT_OF_SERVICE", "UP"], "OUT_OF_SERVICE"],
  [["UP", "OUT_OF_SERVICE", "DOWN"], "DOWN"],
  [["UNKNOWN"], "UNKNOWN"],
  [[], "UNKNOWN"],
])("%j together are %s, as in the original", (statuses, expected) => {
  expect(aggregateStatus(statuses)).toBe(expected);
});

class RedisError extends Error {
  override readonly name = "RedisError";
  readonly code = "ECONNREFUSED";
}

test.each<[string, HealthCheck, object]>([
  ["a promise that is fulfilled", async () => undefined, { status: "UP" }],
  ["an answer of any kind", () => ({ rows: [] }), { status: "UP" }],
  ["true", () => true, { status: "UP" }],
  ["false", () => false, { status: "DOWN" }],
  ["a status", async () => "OUT_OF_SERVICE", { status: "OUT_OF_SERVICE" }],
  ["UNKNOWN", () => "UNKNOWN", { status: "UNKNOWN" }],
  ["a text that is no status", () => "down", { status: "UP" }],
  [
    "a rejected promise",
    fails(new RedisError("redis://user:secret@10.0.0.1")),
    { status: "DOWN", error: "RedisError", code: "ECONNREFUSED" },
  ],
  [
    "a throw",
    () => {
      throw new TypeError("secret");
    },
    { status: "DOWN", error: "TypeError" },
  ],
  ["a throw of something else", fails("secret"), { status: "DOWN", error: "Error" }],
  [
    "an error with a name like a sentence",
    fails(Object.assign(new Error("x"), { name: "no secret here", code: "a b" })),
    { status: "DOWN", error: "Error" },
  ],
  ["no answer in time", never, { status: "DOWN", error: "Timeout" }],
])("a check that comes to %s", async (_, check, expected) => {
  const { component, status } = await reportOf({ redis: check });
  expect(component("redis")).toEqual(expected);
  expect(component("drain")).toEqual({ status: "UP" });
  expect(status).toBe((expected as { status: string }).status.replace("UNKNOWN", "UP"));
});

test("a check that is not answered in time has its signal aborted", async () => {
  let signal: AbortSignal | undefined;
  await reportOf({
    slow: (given) => {
      signal = given;
      return never(given);
    },
  });
  expect(signal?.aborted).toBe(true);
  expect(signal?.reason).toMatchObject({ name: "Timeout", message: "no answer within 20 ms" });
});

describe("a check", () => {
  test("runs once for all who ask at a time, and not again while its answer is good", async () => {
    let runs = 0;
    let answer: (() => void) | undefined;
    const slow = () =>
      new Promise<void>((resolve) => {
        runs++;
        answer = resolve;
      });
    const health = new Health({ checks: { slow }, timeoutMs: 60_000, cacheMs: 60_000 });
    expect(health.status).toBe("UNKNOWN");
    const asked = Array.from({ length: 50 }, () => health.check());
    await eventually(
      () => answer !== undefined,
      () => "the check never ran",
    );
    answer!();
    const statuses = new Set((await Promise.all(asked)).map(({ status }) => status));
    expect(statuses).toEqual(new Set(["UP"]));
    expect(health.check()).toMatchObject({ status: "UP" });
    expect(runs).toBe(1);
  });

  test("runs again when its answer is old", async () => {
    let runs = 0;
    const health = new Health({
      checks: {
        counting: () => {
          runs++;
        },
      },
      cacheMs: 0,
    });
    for (let index = 0; index < 3; index++) await health.check();
    expect(runs).toBe(3);
  });

  test("that hangs for ever is begun again a few times and no more, and recovers", async () => {
    const waiting: (() => void)[] = [];
    const hanging = () => new Promise<void>((resolve) => waiting.push(resolve));
    const health = new Health({ checks: { hanging }, timeoutMs: 5, cacheMs: 0 });
    for (let index = 0; index < 10; index++) expect((await health.check()).status).toBe("DOWN");
    expect(waiting).toHaveLength(4);
    const asked = () => health.check();
    for (const answer of waiting.splice(0)) answer();
    await new Promise((resolve) => setImmediate(resolve));
    const recovered = asked();
    await eventually(
      () => waiting.length === 1,
      () => `${waiting.length} runs`,
    );
    waiting[0]!();
    expect((await recovered).status).toBe("UP");
  });

  test("tells the operator why it fails when it begins to, and not each time", async () => {
    const heard: [unknown, string][] = [];
    let error: Error | undefined = new Error("the first");
    const checks = {
      db: () => {
        if (error !== undefined) throw error;
      },
    };
    const health = new Health({ checks, cacheMs: 0 }, { onError: (...told) => heard.push(told) });
    await health.check();
    await health.check();
    error = undefined;
    await health.check();
    error = new Error("the second");
    await health.check();
    expect(heard.map(([error, context]) => [String(error), context])).toEqual([
      ["Error: the first", "health of db"],
      ["Error: the second", "health of db"],
    ]);
  });

  test("of one component runs alone", async () => {
    const ran: string[] = [];
    const health = new Health({
      checks: {
        a: () => {
          ran.push("a");
        },
        b: () => {
          ran.push("b");
        },
      },
    });
    expect(await health.checkComponent("b")).toEqual({ status: "UP" });
    expect(ran).toEqual(["b"]);
    expect(health.checkComponent("drain")).toEqual({ status: "UP" });
    expect(health.checkComponent("toString")).toBeUndefined();
  });

  test("that is built in stands first, and can be replaced or left out", async () => {
    const builtIn = { sessions: () => "DOWN" };
    const names = async (checks: HealthOptions["checks"]) => {
      const { components } = await new Health({ checks }, { builtIn }).check();
      return Array.from(components, ([name, { status }]) => `${name} ${status}`);
    };
    expect(await names({ db: () => true })).toEqual(["drain UP", "sessions DOWN", "db UP"]);
    expect(await names({ sessions: () => "UP" })).toEqual(["drain UP", "sessions UP"]);
    expect(await names({ sessions: false })).toEqual(["drain UP"]);
    expect(new Health(undefined, { builtIn }).check()).toMatchObject({ status: "UP" });
  });
});

test("a drain counts at once and more than any check, none of which is asked any more", async () => {
  let runs = 0;
  const health = new Health({
    checks: {
      db: () => {
        runs++;
        return false;
      },
    },
    cacheMs: 0,
  });
  expect((await health.check()).status).toBe("DOWN");
  const heard: HealthStatus[] = [];
  const stop = health.onChange((status) => heard.push(status));
  health.status = "OUT_OF_SERVICE";
  expect(heard).toEqual(["OUT_OF_SERVICE"]);
  expect(health.status).toBe("OUT_OF_SERVICE");
  const report = health.check() as HealthReport;
  expect(Object.fromEntries(report.components)).toEqual({
    drain: { status: "OUT_OF_SERVICE" },
    db: { status: "DOWN" },
  });
  expect(health.checkComponent("db")).toEqual({ status: "DOWN" });
  expect(runs).toBe(1);
  stop();
});

test("a drain that begins while a check runs is what who asked hears", async () => {
  const health = new Health({ checks: { slow: never }, timeoutMs: 5 });
  const asked = health.check();
  health.status = "OUT_OF_SERVICE";
  expect((await asked).status).toBe("OUT_OF_SERVICE");
});

test("who watches hears of changes; the checks run for them, and only while they watch", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  let status = "UP";
  const health = new Health({ checks: { db: () => status }, cacheMs: 0, intervalMs: 10_000 });
  expect(vi.getTimerCount()).toBe(0);
  const heard: HealthStatus[] = [];
  const stops = [health.onChange((status) => heard.push(status)), health.onChange(() => {})];
  expect(vi.getTimerCount()).toBe(1);
  for (status of ["UP", "DOWN", "DOWN", "UP"]) {
    vi.advanceTimersByTime(10_000);
    await health.check();
  }
  expect(heard).toEqual(["UP", "DOWN", "UP"]);
  stops[0]!();
  expect(vi.getTimerCount()).toBe(1);
  stops[1]!();
  expect(vi.getTimerCount()).toBe(0);
});

test("a glance does not wait, and makes a later one newer", async () => {
  const health = new Health({ checks: { db: async () => true } });
  expect(health.glance()).toBe("UNKNOWN");
  await expect.poll(() => health.status).toBe("UP");
});

describe("the check of a store of sessions", () => {
  test("looks for a session that nobody has", async () => {
    const asked: string[] = [];
    const store = new MemorySessionStore();
    const check = sessionStoreCheck({
      findById: (id) => {
        asked.push(id);
        return store.findById(id);
      },
    });
    const signal = new AbortController().signal;
    expect(await check(signal)).toBe("UP");
    await check(signal);
    expect(new Set(asked).size).toBe(2);
  });

  test.each([
    ["UNAVAILABLE", { status: "DOWN", error: "ActuatorError", code: "UNAVAILABLE" }],
    ["UNIMPLEMENTED", { status: "UNKNOWN" }],
  ] as const)("of a store that answers %s", async (code, expected) => {
    const error = new ActuatorError(code, "REASON", "no");
    const { component } = await reportOf({ sessions: sessionStoreCheck({ findById: () => Promise.reject(error) }) });
    expect(component("sessions")).toEqual(expected);
  });
});

test.each<[unknown, string]>([
  [{ checks: [] }, "health.checks must be an object of functions"],
  [{ checks: { db: 1 } }, 'health.checks has a check "db" that is not a function'],
  [{ checks: { drain: () => {} } }, 'health.checks cannot have a check "drain"; that name is reserved'],
  [{ checks: { readiness: () => {} } }, 'health.checks cannot have a check "readiness"; that name is reserved'],
  [
    { checks: { "a/b": () => {} } },
    'health.checks has a check "a/b"; a name is a letter, then letters, digits, ".", "_" and "-"',
  ],
  [
    { checks: JSON.parse('{"__proto__": 1}') },
    'health.checks has a check "__proto__"; a name is a letter, then letters, digits, ".", "_" and "-"',
  ],
  [{ timeoutMs: 0 }, "health.timeoutMs must be a number of milliseconds above 0 and at most 2147483647"],
  [{ check: {} }, 'Unknown option "health.check"; did you mean "checks"?'],
])("the options %j are refused", (options, message) => {
  expect(() => checkOptions("health", options, HEALTH)).toThrow(message);
});

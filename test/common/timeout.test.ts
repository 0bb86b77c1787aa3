import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { ActuatorError } from "../../src/common/error.ts";
import { settlesWithin, withTimeout } from "../../src/common/timeout.ts";

const never = new Promise<never>(() => {});

describe("work with a timeout", () => {
  test.each([
    ["a promise", Promise.resolve(7)],
    ["a function", () => 7],
    ["an asynchronous function", async () => 7],
  ])("that is %s gives its value", async (_, work) => {
    expect(await withTimeout(work, 1_000, "The work")).toBe(7);
  });

  test("rejects with its own error, also if the function throws", async () => {
    const error = new Error("mine");
    await expect(withTimeout(Promise.reject(error), 1_000, "The work")).rejects.toBe(error);
    const thrower = () => {
      throw error;
    };
    await expect(withTimeout(thrower, 1_000, "The work")).rejects.toBe(error);
  });

  test("that takes too long is an error that says what and how long", async () => {
    const error = await withTimeout(never, 5, "The session store").catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ActuatorError);
    expect(error).toMatchObject({
      code: "UNAVAILABLE",
      reason: "TIMEOUT",
      message: "The session store did not answer within 5 ms.",
    });
  });

  test("that takes too long has its signal aborted with the same error", async () => {
    const late = new Error("late");
    let given: AbortSignal | undefined;
    const work = (signal: AbortSignal) => {
      given = signal;
      return never;
    };
    await expect(withTimeout(work, 5, () => late)).rejects.toBe(late);
    expect(given?.reason).toBe(late);
  });

  test("that fails after its time causes no unhandled rejection", async () => {
    const work = async () => {
      await delay(10);
      throw new Error("afterwards");
    };
    await expect(withTimeout(work, 1, "The work")).rejects.toThrow("did not answer");
    await delay(20);
  });

  test.each([Number.POSITIVE_INFINITY, 2 ** 31])("has no limit of %d ms, which no timer can wait", async (ms) => {
    expect(await withTimeout(delay(5, "done"), ms, "The work")).toBe("done");
  });
});

test("whether a promise settles in time is told", async () => {
  expect(await settlesWithin(Promise.resolve(), 1_000)).toBe(true);
  expect(await settlesWithin(never, 5)).toBe(false);
  await expect(settlesWithin(Promise.reject(new Error("mine")), 1_000)).rejects.toThrow("mine");
});

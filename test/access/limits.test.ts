import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RateLimit } from "../../src/access/rate-limit.ts";

describe("so many a minute", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());

  test("is never exceeded over any minute by more than what may come at once, however they come", () => {
    const steps = fc.array(fc.oneof(fc.constantFrom(0, 600_000), fc.integer({ min: 0, max: 20_000 })), {
      minLength: 1,
      maxLength: 120,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), steps, (perMinute, pauses) => {
        const limit = new RateLimit(perMinute);
        const times: number[] = [];
        for (const pause of pauses) {
          vi.advanceTimersByTime(pause);
          if (limit.waitSeconds("a") > 0) continue;
          limit.count("a");
          times.push(performance.now());
        }
        for (const [first, from] of times.entries()) {
          const within = times.slice(first).filter((time) => time < from + 60_000).length;
          if (within > 2 * perMinute) return false;
        }
        return true;
      }),
    );
  });

  test("the wait that is told is enough, and little more", () => {
    const limit = new RateLimit(7);
    for (let i = 0; i < 7; i++) limit.count("a");
    const wait = limit.waitSeconds("a");
    expect(wait).toBe(9);
    vi.advanceTimersByTime(wait * 1_000);
    expect(limit.waitSeconds("a")).toBe(0);
  });

  test("many at once that were let by together pay for it, but not for more than five minutes", () => {
    const limit = new RateLimit(10);
    for (let i = 0; i < 100_000; i++) limit.count("a");
    expect(limit.waitSeconds("a")).toBe(306);
    expect(limit.waitSeconds("b")).toBe(0);
  });

  test("a million addresses take no more room than twenty thousand, and those heard of last are the ones kept", () => {
    const limit = new RateLimit(1);
    limit.count("first");
    for (let i = 0; i < 9_998; i++) limit.count(`other ${i}`);
    expect(limit.waitSeconds("first")).toBeGreaterThan(0);
    limit.count("first");
    for (let i = 0; i < 10_000; i++) limit.count(`more ${i}`);
    expect(limit.waitSeconds("first")).toBeGreaterThan(0);
    for (let i = 0; i < 1_000_000; i++) {
      limit.count(`flood ${i}`);
      if (limit.size > 20_000) throw new Error(`${limit.size} are remembered`);
    }
    expect(limit.waitSeconds("first")).toBe(0);
  });
});

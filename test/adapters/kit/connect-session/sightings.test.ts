import { afterEach, describe, expect, it, vi } from "vitest";
import { Sightings } from "../../../../src/adapters/kit/connect-session/sightings.ts";

afterEach(() => void vi.restoreAllMocks());

const endless = {};
const over = { cookie: { expires: new Date(0) } };

function see(sightings: Sightings, count: number, record: object, prefix = ""): void {
  for (let number = 0; number < count; number++) sightings.see(`${prefix}${number}`, { ...record }, true);
}

describe("sightings at their limit", () => {
  it("forget those that were seen first", () => {
    const sightings = new Sightings(1_000);
    see(sightings, 3_000, endless);
    expect(sightings.size).toBe(1_000);
    expect(sightings.see("1999", endless, false).creationTime).toBeUndefined();
    expect(sightings.see("2999", endless, false).creationTime).toBeDefined();
  });

  it("are not walked through for each new session", () => {
    const sightings = new Sightings(1_000);
    const walks = vi.spyOn(Map.prototype, Symbol.iterator);
    see(sightings, 10_000, endless);
    expect(walks.mock.calls.length).toBeGreaterThan(0);
    expect(walks.mock.calls.length).toBeLessThanOrEqual(15);
  });

  it("forget those that have expired", () => {
    const sightings = new Sightings(1_000);
    see(sightings, 10_000, endless);
    see(sightings, 999, over, "over");
    see(sightings, 1_001, endless, "new");
    expect(sightings.size).toBeLessThanOrEqual(1_000);
    sightings.keepOnly((id) => id.startsWith("over"), Number.POSITIVE_INFINITY);
    expect(sightings.size).toBe(0);
  });
});

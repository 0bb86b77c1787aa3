import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Labels, matches, selectorOf } from "../../src/fleet/selector.ts";
import {
  amend,
  EMPTY_STATE,
  type FleetEntry,
  type FleetState,
  keyOf,
  lacking,
  merge,
  type NewEntry,
  nextExpiry,
  prune,
  stateOf,
  textOf,
  wanted,
} from "../../src/fleet/state.ts";
import { LEVELS, type Level } from "../../src/loggers/level.ts";

const NOW = 1_000_000_000;
const HOUR = 3_600_000;
const RUNS = { numRuns: 3_000 };

const here: Labels = new Map([
  ["application", "shop"],
  ["version", "1"],
  ["instance", "a"],
  ["zone", "eu"],
]);

/** Everything about an entry but its generation and its end follows from both, as with real ones: a generation is given once. */
const entryWith = (name: string, selector: string, slot: number, generation: number, renewed: boolean): FleetEntry => {
  const kind = (["lasting", "temporary", "lease:1"] as const)[slot]!;
  // No trace is older than a day: what was not seen for longer is taken from the engine.
  const setTime = NOW + (generation - 20) * HOUR;
  const seed = generation * 7 + name.length + selector.length;
  const level = seed % 4 === 0 && slot !== 1 ? null : LEVELS[seed % LEVELS.length]!;
  const ttl = slot === 1 ? (seed % 5) * HOUR + 1 : (renewed ? 6 : 5) * HOUR;
  const expires = slot === 0 ? {} : { expireTime: setTime + ttl };
  return { name, selector, slot: kind, level, generation, setTime, actor: "", reason: "", instance: "a", ...expires };
};

const entry = fc
  .tuple(fc.constantFrom("a", "bb"), fc.constantFrom("", "zone=eu", "zone=us"), fc.nat(2), fc.nat(39), fc.boolean())
  .map((args) => entryWith(...args));

const state = fc.array(entry, { maxLength: 12 }).map((entries): FleetState => {
  const generation = Math.max(0, ...entries.map((each) => each.generation));
  return entries.reduce<FleetState>((all, one) => merge(all, stateWith([one])), { generation, entries: new Map() });
});

function stateWith(entries: readonly FleetEntry[]): FleetState {
  const generation = Math.max(0, ...entries.map((each) => each.generation));
  return { generation, entries: new Map(entries.map((each) => [keyOf(each), each])) };
}

const plain = ({ generation, entries }: FleetState) => [
  generation,
  [...entries.keys()].sort().map((key) => entries.get(key)),
];
const levelsOf = (known: FleetState, now = NOW, labels = here) =>
  Object.fromEntries([...wanted(known, labels, now)].map(([name, { level }]) => [name, level]));

describe("states of a fleet", () => {
  test("merge in any order, any grouping and any number of times to the same", () => {
    fc.assert(
      fc.property(state, state, state, (a, b, c) => {
        expect(plain(merge(a, b))).toEqual(plain(merge(b, a)));
        expect(plain(merge(merge(a, b), c))).toEqual(plain(merge(a, merge(b, c))));
        expect(plain(merge(a, a))).toEqual(plain(a));
      }),
      RUNS,
    );
  });

  test("lose nothing that is wanted now or later when they are pruned", () => {
    fc.assert(
      fc.property(state, fc.nat(30), (a, hours) => {
        const later = NOW + hours * HOUR;
        expect(levelsOf(prune(a, NOW), later)).toEqual(levelsOf(a, later));
      }),
      RUNS,
    );
  });

  test("are the same whether they are pruned before they are merged or only after", () => {
    fc.assert(
      fc.property(state, state, (a, b) => {
        expect(plain(prune(merge(prune(a, NOW), b), NOW))).toEqual(plain(prune(merge(a, b), NOW)));
      }),
      RUNS,
    );
  });

  test("lack nothing once they are healed", () => {
    fc.assert(
      fc.property(state, state, (stored, known) => {
        const healed = prune(merge(stored, known), NOW);
        expect(lacking(healed, known, NOW)).toEqual([]);
        const missing = stateWith(lacking(stored, known, NOW));
        expect(levelsOf(merge(stored, missing))).toEqual(levelsOf(merge(stored, known)));
      }),
      RUNS,
    );
  });

  test("are read as they were written", () => {
    fc.assert(
      fc.property(state, (a) => {
        expect(plain(stateOf(textOf(a)))).toEqual(plain(a));
      }),
      RUNS,
    );
    expect(stateOf("")).toBe(EMPTY_STATE);
  });

  test.each(["{", "null", "[]", '{"format":1}', '{"format":1,"generation":1,"entries":[{}]}', '"x"'])(
    "%s is not the text of a state",
    (text) => expect(() => stateOf(text)).toThrow(/not written by connect-actuator/),
  );

  test("a text in a later format is said to be one", () => {
    expect(() => stateOf('{"format":2}')).toThrow(/later release/);
  });
});

describe("changes of a fleet", () => {
  /** Makes changes one after the other, a minute apart. */
  function after(...changes: readonly (Partial<NewEntry> & { level: Level | null; ttlMs?: number })[]): FleetState {
    return changes.reduce<FleetState>((known, { ttlMs, ...change }, index) => {
      const now = NOW + index * 60_000;
      const ends = ttlMs === undefined ? {} : { slot: "temporary" as const, expireTime: now + ttlMs };
      const base = { name: "a", selector: "", slot: "lasting" as const, actor: "", reason: "", instance: "i" };
      return amend(known, EMPTY_STATE, [{ ...base, ...ends, ...change }], now).state;
    }, EMPTY_STATE);
  }
  const soon = NOW + 3 * 60_000;
  const eu = { selector: "zone=eu" };

  test.each<[string, FleetState, Level | undefined, number?]>([
    ["a level for all", after({ level: "WARN" }), "WARN"],
    ["a later one replaces it", after({ level: "WARN" }, { level: "INFO" }), "INFO"],
    ["one that was cleared", after({ level: "WARN" }, { level: null }), undefined],
    ["a later one for some", after({ level: "WARN" }, { level: "DEBUG", ...eu }), "DEBUG"],
    ["one for all after one for some", after({ level: "DEBUG", ...eu }, { level: "ERROR" }), "ERROR"],
    ["one for some is cleared", after({ level: "WARN" }, { level: "DEBUG", ...eu }, { level: null, ...eu }), "WARN"],
    ["all are cleared", after({ level: "WARN" }, { level: "DEBUG", ...eu }, { level: null }), undefined],
    ["one for others", after({ level: "WARN" }, { level: "DEBUG", selector: "zone=us" }), "WARN"],
    ["one for a time", after({ level: "WARN" }, { level: "DEBUG", ttlMs: HOUR }), "DEBUG"],
    ["its time is over", after({ level: "WARN" }, { level: "DEBUG", ttlMs: HOUR }), "WARN", NOW + 2 * HOUR],
    ["one for good ends it", after({ level: "DEBUG", ttlMs: HOUR }, { level: "WARN" }), "WARN"],
    ["one for a time, cleared", after({ level: "DEBUG", ttlMs: HOUR, ...eu }, { level: null, ...eu }), undefined],
  ])("%s", (_, known, level, at = soon) => {
    expect(levelsOf(known, at)).toEqual(level === undefined ? {} : { a: level });
    expect(levelsOf(prune(known, at), at)).toEqual(level === undefined ? {} : { a: level });
  });

  test("have greater generations than those before, even after the engine lost everything or its clock went back", () => {
    const first = after({ level: "WARN" });
    expect(first.generation).toBe(NOW * 1_000);
    const back = amend(first, EMPTY_STATE, [], NOW - HOUR).state;
    expect(back.generation).toBe(NOW * 1_000 + 1);
    const lost = amend(EMPTY_STATE, EMPTY_STATE, [], NOW + 1).state;
    expect(lost.generation).toBeGreaterThan(back.generation);
  });

  test("are refused when there are too many levels, or too long ones", () => {
    const entryOf = (name: string, reason = ""): NewEntry => ({
      ...{ name, selector: "", slot: "lasting", level: "WARN", actor: "", reason, instance: "i" },
    });
    const many = Array.from({ length: 1_001 }, (_, index) => entryOf(`n${index}`));
    expect(() => amend(EMPTY_STATE, EMPTY_STATE, many, NOW)).toThrow(/at most 1,000/);
    expect(amend(EMPTY_STATE, EMPTY_STATE, many.slice(1), NOW).state.entries.size).toBe(1_000);
    const long = many.slice(1).map(({ name }) => entryOf(name, "x".repeat(1_000)));
    expect(() => amend(EMPTY_STATE, EMPTY_STATE, long, NOW)).toThrow(/too many levels/);
  });

  test("tell when the next level ends", () => {
    const known = after({ level: "WARN" }, { level: "DEBUG", ttlMs: HOUR }, { level: "INFO", ttlMs: 2 * HOUR, ...eu });
    expect(nextExpiry(known, NOW)).toBe(NOW + 60_000 + HOUR);
    expect(nextExpiry(known, NOW + 2 * HOUR)).toBe(NOW + 120_000 + 2 * HOUR);
    expect(nextExpiry(known, NOW + 4 * HOUR)).toBeUndefined();
  });
});

describe("selectors", () => {
  test.each([
    ["", ""],
    ["  ", ""],
    ["zone=eu", "zone=eu"],
    [" canary , zone = us + eu,canary", "canary,zone=eu+us"],
    ["instance=host:12+host:7", "instance=host:12+host:7"],
  ])("%s is written %s", (text, written) => expect(selectorOf(text)).toBe(written));

  test.each([",", "zone=", "=eu", "a=b=c", "zone=e u", "zone=eu++us", "zo ne", "x".repeat(1_001)])(
    "%s is none",
    (text) => expect(() => selectorOf(text)).toThrow(/cannot be read/),
  );

  test.each([
    ["", true],
    ["zone=eu", true],
    ["zone", true],
    ["zone=us", false],
    ["zone=eu+us,application=shop", true],
    ["zone=eu,canary", false],
    ["instance=a", true],
    ["instance=b+c", false],
  ])("%s: %s", (selector, expected) => expect(matches(selector, here)).toBe(expected));
});

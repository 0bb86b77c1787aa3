import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type FleetEntry, type FleetState, keyOf, type NewEntry } from "../../src/fleet/entry.ts";
import { type Labels, matches, selectorOf } from "../../src/fleet/selector.ts";
import { amend, EMPTY_STATE, isLacking, merge, nextExpiry, prune, wanted } from "../../src/fleet/state.ts";
import { stateOf, textOf } from "../../src/fleet/state-text.ts";
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

const reset = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(39));

const state = fc.tuple(fc.array(entry, { maxLength: 12 }), reset).map(([entries, forgotten]): FleetState => {
  const empty = { generation: forgotten, reset: forgotten, entries: new Map() };
  return entries.reduce<FleetState>((all, one) => merge(all, stateWith(one)), empty);
});

function stateWith(one: FleetEntry): FleetState {
  return { generation: one.generation, reset: 0, entries: new Map([[keyOf(one), one]]) };
}

const plain = ({ generation, reset, entries }: FleetState) => [
  generation,
  reset,
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
        expect(isLacking(healed, known, NOW)).toBe(false);
        if (!isLacking(stored, known, NOW)) expect(levelsOf(stored)).toEqual(levelsOf(merge(stored, known)));
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
    expect(stateOf("")).toEqual(EMPTY_STATE);
  });

  test.each([
    ...["{", "null", "[]", '{"format":1}', '{"format":1,"generation":1,"entries":[{}]}', '"x"'],
    '{"format":1,"generation":9007199254740991,"entries":[]}',
    '{"format":1,"generation":1,"reset":-1,"entries":[]}',
    `{"format":1,"generation":1,"entries":[],"x":"${"x".repeat(2 ** 20)}"}`,
  ])("%.60s is not the text of a state", (text) =>
    expect(() => stateOf(text)).toThrow(/not written by connect-actuator/),
  );

  test.each([
    { name: "" },
    { name: "a\u0000" },
    { name: "a:b" },
    { selector: "zone=" },
    { selector: "b,a" },
    { slot: "lease:" },
    { slot: "other" },
    { level: "LOUD" },
    { reason: "\n" },
    { reason: "x".repeat(1_001) },
    { actor: "x".repeat(20_000) },
    { actor: 1 },
    { generation: -1 },
    { setTime: 1e15 },
    { expireTime: "soon" },
    { canary: { selector: 1 } },
    { canary: { selector: "", ttlMs: -1 } },
  ])("an entry with %j is refused", (wrong) => {
    const [one] = stateWith(entryWith("a", "", 1, 30, false)).entries.values();
    const text = JSON.stringify({ format: 1, generation: 30, entries: [{ ...one, ...wrong }] });
    expect(() => stateOf(text)).toThrow(/not written by connect-actuator/);
  });

  test("keep nothing that they do not know", () => {
    const [one] = stateWith(entryWith("a", "", 1, 30, false)).entries.values();
    const canary = { selector: "", ttlMs: 5, x: 1 };
    const text = JSON.stringify({ format: 1, generation: 30, entries: [{ ...one, x: [[[]]], canary }], x: 1 });
    expect([...stateOf(text).entries.values()]).toEqual([{ ...one, canary: { selector: "", ttlMs: 5 } }]);
  });

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
      return amend(known, EMPTY_STATE, { entries: [{ ...base, ...ends, ...change }] }, now).state;
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
    const back = amend(first, EMPTY_STATE, { entries: [] }, NOW - HOUR).state;
    expect(back.generation).toBe(NOW * 1_000 + 1);
    const lost = amend(EMPTY_STATE, EMPTY_STATE, { entries: [] }, NOW + 1).state;
    expect(lost.generation).toBeGreaterThan(back.generation);
  });

  test("are refused when there are too many levels, or too long ones", () => {
    const entryOf = (name: string, reason = ""): NewEntry => ({
      ...{ name, selector: "", slot: "lasting", level: "WARN", actor: "", reason, instance: "i" },
    });
    const many = Array.from({ length: 1_001 }, (_, index) => entryOf(`n${index}`));
    expect(() => amend(EMPTY_STATE, EMPTY_STATE, { entries: many }, NOW)).toThrow(/at most 1,000/);
    const full = amend(EMPTY_STATE, EMPTY_STATE, { entries: many.slice(1) }, NOW).state;
    expect(full.entries.size).toBe(1_000);
    expect(() => amend(full, full, { entries: many.slice(0, 1) }, NOW)).toThrow(/at most 1,000/);
    const long = many.slice(1).map(({ name }) => entryOf(name, "x".repeat(1_000)));
    expect(() => amend(EMPTY_STATE, EMPTY_STATE, { entries: long }, NOW)).toThrow(/too many levels/);
    // A reset makes room, and what was before it does not come back.
    const { state, changed } = amend(full, full, { entries: [], isReset: true }, NOW);
    expect(state.entries.size).toBe(0);
    const after = amend(state, state, { entries: many.slice(0, 1) }, NOW).state;
    expect([...merge(after, full).entries.keys()]).toEqual(["n0||lasting"]);
    expect(merge(full, stateOf(textOf(changed))).entries.size).toBe(0);
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

  test.each([",", "zone=", "=eu", "a=b=c", "zone=e u", "zone=eu++us", "zo ne", "zone=a|b", "x".repeat(10_001)])(
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

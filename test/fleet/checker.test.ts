// @module-tag slow
import { describe, expect, test } from "vitest";
import { requirement } from "../support/requirement.ts";
import { checkFleet } from "./checker/checker.ts";
import { ENGINES } from "./checker/engines.ts";
import { type Change, disorders, faultOf } from "./checker/history.ts";

const seed = Number(process.env.PROPERTY_SEED ?? Math.floor(Math.random() * 1e9));

for (const [name, { tool, isFound, start, urlAt }] of Object.entries(ENGINES)) {
  describe.runIf(requirement(tool, isFound))(`${name}, while processes, networks and the server fail`, () => {
    test(`loses no acknowledged change, seed ${seed}`, { timeout: 180_000 }, async () => {
      const server = await start();
      try {
        const checked = await checkFleet({ server, urlAt, instances: 6, seconds: 14, seed });
        console.log(name, JSON.stringify(checked));
        expect(checked.violations).toEqual([]);
        expect(checked.acknowledged).toBeGreaterThan(20);
      } finally {
        await server.stop();
      }
    });
  });
}

describe("the checker", () => {
  const change = (level: string | undefined, selector = "", more: Partial<Change> = {}): Change => {
    return { name: "a", selector, level, life: "lasting", began: 0, ended: 1, generation: 1, ...more };
  };
  const both = (odd: string, even = odd) => [
    { zone: "odd", level: odd },
    { zone: "even", level: even },
  ];

  test.each<[string, readonly Change[], string, string]>([
    ["nothing", [], "info", "info"],
    ["a level for all", [change("warn")], "warn", "warn"],
    ["one for some, then for all", [change("debug", "zone=odd"), change("warn")], "warn", "warn"],
    ["one for all, then for some", [change("warn"), change("debug", "zone=odd")], "debug", "warn"],
    ["a clear for all", [change("debug", "zone=odd"), change(undefined)], "info", "info"],
    ["one that is over", [change("warn"), change("debug", "", { life: "short" })], "warn", "warn"],
  ])("knows what %s should give, and when it is not so", (_, changes, odd, even) => {
    expect(faultOf(changes, both(odd, even))).toBeUndefined();
    expect(faultOf(changes, both(odd, "fatal"))).toContain("should be");
  });

  test("lets a change without an answer be or not be, but the same for all", () => {
    const changes = [change("warn"), { ...change("debug"), ended: undefined as never }];
    expect(faultOf(changes, both("warn"))).toBeUndefined();
    expect(faultOf(changes, both("debug"))).toBeUndefined();
    expect(faultOf(changes, both("debug", "warn"))).toContain("should be");
  });

  test("finds a later change with a smaller generation", () => {
    const early = change("warn", "", { began: 0, ended: 1, generation: 5 });
    expect(disorders([early, change("warn", "", { began: 2, ended: 3, generation: 4 })])).toHaveLength(1);
    expect(disorders([early, change("warn", "", { began: 0.5, ended: 3, generation: 4 })])).toEqual([]);
  });
});

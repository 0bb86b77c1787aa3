import { expect, test } from "vitest";
import { Warnings } from "../../src/loggers/registry.ts";

test("a warning is shown once, until it is removed", () => {
  let changes = 0;
  const warnings = new Warnings(() => changes++);
  warnings.add("orders", "one");
  warnings.add("orders", "one");
  warnings.add("orders", "two");
  expect({ changes, of: warnings.of("orders") }).toEqual({ changes: 2, of: ["one", "two"] });
  warnings.delete("orders", "one");
  warnings.delete("orders", "never there");
  warnings.delete("stock", "one");
  expect({ changes, of: warnings.of("orders") }).toEqual({ changes: 3, of: ["two"] });
  warnings.delete("orders", "two");
  expect(warnings.of("orders")).toEqual([]);
});

test("warnings are limited, which ROOT shows, and do not hide those of ROOT", () => {
  const warnings = new Warnings(() => undefined);
  for (let each = 0; each < 2_000; each++) warnings.add(`logger${each}`, "a warning");
  warnings.add("ROOT", "the whole is in trouble");
  expect(warnings.of("logger999")).toHaveLength(1);
  expect(warnings.of("logger1000")).toEqual([]);
  expect(warnings.of("ROOT")).toEqual([
    "more than 1000 warnings of loggers: the rest is not shown",
    "the whole is in trouble",
  ]);
  warnings.delete("logger0", "a warning");
  warnings.add("logger1000", "a warning");
  expect(warnings.of("logger1000")).toHaveLength(1);
  for (let each = 0; each < 2_000; each++) warnings.add("ROOT", `warning ${each}`);
  expect(warnings.of("ROOT")).toHaveLength(1_000);
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GENERATED } from "../../scripts/options.ts";

const root = join(import.meta.dirname, "..", "..");

test.each(Object.entries(GENERATED))("%s is current; otherwise run node scripts/options.ts", (file, content) => {
  expect(readFileSync(join(root, file), "utf8")).toBe(content());
});

test("every option of the reference is described", () => {
  const rows = GENERATED["docs/reference/options.md"]!()
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  expect(rows.length).toBeGreaterThan(250);
  expect(rows.filter((row) => row.endsWith("|  |"))).toEqual([]);
});

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root, textOf } from "./pages.ts";

const page = textOf("docs/architecture.md");

/** The table of where things live: what somebody looks for, the places, and what to begin with there. */
const rows = page
  .split("\n")
  .map((line) => line.split(" | "))
  .filter((cells) => cells.length === 3)
  .map(([what, places, first]) => ({ what: what!.replace("| ", ""), places: codeIn(places!), first: codeIn(first!) }))
  .filter(({ places }) => places.length > 0);

test("there is a table", () => expect(rows.length).toBeGreaterThan(40));

test.each(rows)("somebody who looks for $what finds it where the table says", ({ places, first }) => {
  const isThere = (path: string) => existsSync(join(root, path));
  const files = first.filter((name) => /^[\w/-]+(\.ts|\.md|\/)$/.test(name));
  const isFound = (file: string) => places.some((place) => place.endsWith(file) || isThere(join(place, file)));
  expect(places.filter((place) => !isThere(place))).toEqual([]);
  expect(files.filter((file) => !isThere(file) && !isFound(file))).toEqual([]);
});

test("every file right below src is in the table", () => {
  const files = readdirSync(join(root, "src")).filter((name) => name.endsWith(".ts"));
  const named = rows.flatMap(({ places }) => places);
  expect(files.filter((name) => !named.includes(`src/${name}`))).toEqual([]);
});

function codeIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
}

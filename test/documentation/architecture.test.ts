import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root, textOf } from "./pages.ts";

const page = textOf("docs/architecture.md");

/** The rows of "Where things live": what a reader looks for, its folders, and the files to begin with. */
const rows = page
  .split("\n")
  .map((line) => line.split(" | "))
  .filter((cells) => cells.length === 3)
  .map(([what, folders, first]) => ({
    what: what!.replace("| ", ""),
    folders: codeIn(folders!),
    first: codeIn(first!),
  }))
  .filter(({ folders }) => folders.length > 0);

const isThere = (path: string) => existsSync(join(root, path));

test("there is a table", () => expect(rows.length).toBeGreaterThan(30));

test.each(rows)("the row about $what names folders and files that exist", ({ folders, first }) => {
  const files = first.filter((name) => /^[\w-]+\.ts$/.test(name));
  expect(folders.filter((folder) => !isThere(folder))).toEqual([]);
  expect(files.filter((file) => !folders.some((folder) => isThere(join(folder, file))))).toEqual([]);
});

test("every room below src is named", () => {
  const rooms = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(rooms.map(({ name }) => `src/${name}`).filter((room) => !page.includes(room))).toEqual([]);
});

function codeIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
}

import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { sourceFiles, sourceOf } from "./support/source-files.ts";

/** What applications import: it hands on what other files define. */
const isEntry = (file: string) => posix.basename(file) === "index.ts";

const entries = sourceFiles.filter(isEntry);

describe("what applications can import says what it promises", () => {
  test.each(entries)("%s", (entry) => {
    const silent = [...handedOn(entry), ...definedIn(entry)].filter(({ file, name }) => !isDescribed(file, name));
    expect(
      silent.map(({ file, name }) => `${name} in src/${file}`),
      "these have no doc comment",
    ).toEqual([]);
  });
});

/** The entries of the package, of those of rooms. */
const { exports: subpaths } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const published = entries.filter((entry) => JSON.stringify(subpaths).includes(`./dist/${entry.replace(/ts$/, "js")}`));

test.each(published)("every function that applications can import from %s has an example", (entry) => {
  const functions = [...handedOn(entry), ...definedIn(entry)].filter(({ file, name }) => isFunction(file, name));
  const without = functions.filter(({ file, name }) => !hasExample(file, name));
  expect(without.map(({ file, name }) => `${name} in src/${file}`)).toEqual([]);
});

test("nobody else hands on what another file defines", () => {
  const others = sourceFiles.filter((file) => !isEntry(file) && !file.startsWith("gen/"));
  const found = others.flatMap((file) => handedOn(file).map(({ name }) => `${name} by src/${file}`));
  expect(found, "import these from where they are at home").toEqual([]);
});

interface Export {
  readonly file: string;
  readonly name: string;
}

/** What a file exports from others, where it is defined. */
function handedOn(file: string): Export[] {
  const clauses = sourceOf(file).matchAll(/^export\s+(?:type\s+)?\{(?<names>[^}]*)\}\s*from\s+"(?<from>\.[^"]+)"/gm);
  return [...clauses].flatMap(({ groups }) => {
    const from = posix.join(posix.dirname(file), groups!.from!);
    const names = groups!.names!.split(",").map(
      (name) =>
        name
          .trim()
          .replace(/^type /, "")
          .split(" as ")[0]!,
    );
    return names.filter((name) => name !== "").map((name) => ({ file: from, name }));
  });
}

const DEFINITION = /^export (?:abstract )?(?:async )?(?:function\*?|class|const|interface|type) (?<name>\w+)/;

function definedIn(file: string): Export[] {
  const names = sourceOf(file)
    .split("\n")
    .flatMap((line) => DEFINITION.exec(line)?.groups?.name ?? []);
  return names.map((name) => ({ file, name }));
}

/** Whether a doc comment ends right before the definition. */
function isDescribed(file: string, name: string): boolean {
  const lines = sourceOf(file).split("\n");
  const at = lines.findIndex((line) => DEFINITION.exec(line)?.groups?.name === name);
  return lines[at - 1]?.trimEnd().endsWith("*/") ?? false;
}

function isFunction(file: string, name: string): boolean {
  return new RegExp(`^export (?:async )?function\\*? ${name}\\b`, "m").test(sourceOf(file));
}

/** Whether the doc comment right before the function has an `@example`; that of its first overload counts. */
function hasExample(file: string, name: string): boolean {
  const text = sourceOf(file);
  const before = text.slice(0, text.search(new RegExp(`^export (?:async )?function\\*? ${name}\\b`, "m")));
  const comment = before.slice(before.lastIndexOf("/**"));
  return comment.trimEnd().endsWith("*/") && comment.includes("@example");
}

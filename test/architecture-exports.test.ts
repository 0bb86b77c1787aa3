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

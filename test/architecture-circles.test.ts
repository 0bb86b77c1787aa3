import { expect, test } from "vitest";
import { importsOf, sourceFiles } from "./support/source-files.ts";

/** Who imports whom, types included: an arrow in the types is an arrow in the design. */
const files = new Map(
  sourceFiles.map((file) => {
    const known = importsOf(file).map(({ what }) => what);
    return [file, new Set(known.filter((what) => what.endsWith(".ts")))] as const;
  }),
);

test("no file imports itself by way of others", () => {
  expect(circles(files), "these import each other in a ring").toEqual([]);
});

test("no folder imports itself by way of others", () => {
  const folders = new Map<string, Set<string>>();
  // An actuator without an application is made of the public interface, which offers the configuration that knows its options.
  for (const [file, known] of files) {
    if (file === "index.ts") continue;
    const folder = folderOf(file);
    const others = [...known].filter((each) => each !== "index.ts").map(folderOf);
    folders.set(folder, new Set([...(folders.get(folder) ?? []), ...others.filter((each) => each !== folder)]));
  }
  expect(circles(folders), "these import each other in a ring").toEqual([]);
});

test("a ring is seen, and what only leads to it is not taken for one", () => {
  const known = Object.entries({ a: ["b"], b: ["c", "d"], c: ["a"], d: ["e"], e: ["e"], f: ["a"], g: [] });
  expect(circles(new Map(known.map(([name, others]) => [name, new Set(others)])))).toEqual(["a → b → c → a", "e → e"]);
});

function folderOf(file: string): string {
  return file.split("/", 1)[0]!;
}

/** One ring for each group that hangs together, as `a → b → a`. */
function circles(knows: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const way: string[] = [];
  const walk = (at: string) => {
    const begin = way.indexOf(at);
    if (begin >= 0) found.push([...way.slice(begin), at].join(" → "));
    if (begin >= 0 || done.has(at)) return;
    way.push(at);
    for (const next of knows.get(at) ?? []) walk(next);
    way.pop();
    done.add(at);
  };
  for (const each of knows.keys()) walk(each);
  return found;
}

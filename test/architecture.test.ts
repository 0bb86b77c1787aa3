import { expect, test } from "vitest";
import { importsOf, sourceFiles } from "./support/source-files.ts";

const imports = new Map(sourceFiles.filter((file) => !file.startsWith("gen/")).map((file) => [file, importsOf(file)]));
const roomOf = (file: string) => file.split("/", 1)[0]!;

const LOGGERS = "loggers/(adapter|level|name)";
const SESSIONS = "sessions/(principal|session|session-id|store)";
const GRAPH = "integration-graph/(adapter|declaration|link-type|node|node-id|pattern|properties|source)";
const FLEET = "fleet/engine";
const METRICS = "operations/metrics/(conventions|metric|metrics)";
const INNER =
  "((loggers|logs|fleet|sessions|integration-graph|access|http|server|operations|gen)/|client/watched-graph\\.ts)";

/** What files may import besides `common` and their own folder. The first rule that fits counts; other files may import all. */
const RULES: readonly (readonly [files: RegExp, imports: string])[] = [
  [/^(logs|fleet)\//, "loggers/"],
  [/^(common|loggers|sessions|integration-graph)\//, "nothing"],
  [/^http\/otlp\//, `${INNER}|adapters/graph/opentelemetry/`],
  [/^http\/mcp\//, `${INNER}|mcp/`],
  [/^mcp\//, "(gen/|access/permission\\.ts)"],
  [/^(access|http|server|operations)\//, INNER],
  [/^client\//, "(gen/|loggers/name\\.ts)"],
  [/^dashboard\//, "(gen/|client/|integration-graph/(export/|node-id\\.ts|snapshot\\.ts)|loggers/name\\.ts)"],
  [/^attach\//, "(auto|processes|operations/audit)/"],
  [/^adapters\/kit\//, `(${LOGGERS}|${SESSIONS}|${GRAPH}|${FLEET})\\.ts`],
  [/^adapters\/loggers\/[^/]+\//, `adapters/kit/|${LOGGERS}\\.ts`],
  [/^adapters\/sessions\/[^/]+\//, `adapters/kit/|${SESSIONS}\\.ts`],
  [/^adapters\/graph\/[^/]+\//, `adapters/kit/|${GRAPH}\\.ts`],
  [/^adapters\/fleet\/serve\//, `adapters/kit/|${FLEET}\\.ts|gen/|peers/`],
  [/^adapters\/fleet\/[^/]+\//, `adapters/kit/|${FLEET}\\.ts`],
  [/^adapters\/metrics\/[^/]+\//, `adapters/kit/|${METRICS}\\.ts`],
];

test("the arrows point inward", () => {
  const wrong = [...imports].flatMap(([file, all]) => {
    const [files, allowed] = RULES.find(([each]) => each.test(file)) ?? [/^/, ""];
    const own = files.exec(file)![0];
    const may = new RegExp(`^(common/|${own}|${allowed})`);
    return all.filter(({ what }) => /\.tsx?$/.test(what) && !may.test(what)).map(({ what }) => `${file} → ${what}`);
  });
  expect(wrong).toEqual([]);
});

test("domains know no library, and adapters load theirs only when it is used", () => {
  const wrong = [...imports].flatMap(([file, all]) => {
    const libraries = all.filter(({ what }) => !what.endsWith(".ts") && !what.startsWith("node:"));
    const loaded = libraries.filter(({ typeOnly, dynamic }) => !typeOnly && !dynamic);
    if (/^(common|loggers|logs|sessions|integration-graph|fleet)\//.test(file))
      return libraries.map(({ what }) => `${file} → ${what}`);
    return file.startsWith("adapters/") ? loaded.map(({ what }) => `${file} → ${what}`) : [];
  });
  expect(wrong.filter((each) => each !== "integration-graph/export/layout.ts → @dagrejs/dagre")).toEqual([]);
});

test("tabs have no connect, which the worker has once for all of them", () => {
  const ofTabs = [...imports].filter(([file]) => /^dashboard\/(?!link\/)/.test(file));
  const loaded = ofTabs.flatMap(([file, all]) =>
    all.filter(({ typeOnly }) => !typeOnly).map(({ what }) => ({ file, what })),
  );
  const wrong = loaded.filter(({ what }) => /^@(connectrpc|bufbuild)\//.test(what));
  expect(wrong.map(({ file, what }) => `${file} → ${what}`)).toEqual([]);
});

test.each([
  ["file", (file: string) => file],
  [
    "folder",
    (file: string) =>
      /^(http|operations|adapters|common)\//.test(file)
        ? file.split("/").slice(0, -1).slice(0, 3).join("/")
        : roomOf(file),
  ],
  ["room", (file: string) => (file.includes("/") ? roomOf(file) : file)],
])("no %s imports itself by way of others", (_, groupOf) => {
  const knows = new Map<string, Set<string>>();
  for (const [file, all] of imports) {
    const others = all.filter(({ what }) => what.endsWith(".ts")).map(({ what }) => groupOf(what));
    const known = [...(knows.get(groupOf(file)) ?? []), ...others];
    // A room may know itself.
    knows.set(groupOf(file), new Set(known.filter((other) => other !== groupOf(file))));
  }
  // Who knows none of the others, or is known by none, is in no ring: without these, again and again, only rings stay.
  for (let size = -1; size !== knows.size; ) {
    size = knows.size;
    for (const [group, known] of knows) {
      const isKnown = [...knows.values()].some((others) => others.has(group));
      if (!isKnown || ![...known].some((other) => knows.has(other))) knows.delete(group);
    }
  }
  expect([...knows.keys()], "these import each other in a ring").toEqual([]);
});

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { WatchedLoggers } from "../../src/client/watched-loggers.ts";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { WatchLoggersResponseSchema } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { importsOf, sourceFiles } from "../support/source-files.ts";

const event = (init: MessageInitShape<typeof WatchLoggersResponseSchema>) => create(WatchLoggersResponseSchema, init);
const snapshot = event({
  event: {
    case: "snapshot",
    value: {
      loggers: [
        { name: "ROOT", configuredLevel: Level.INFO, effectiveLevel: Level.INFO },
        { name: "a", effectiveLevel: Level.INFO },
        { name: "a:b", configuredLevel: Level.WARN, effectiveLevel: Level.WARN },
        { name: "a.b/c", effectiveLevel: Level.WARN },
        { name: "ab", effectiveLevel: Level.INFO },
      ],
      groups: [{ name: "g", members: ["a"] }],
    },
  },
  revision: 1n,
});

function known() {
  const watched = new WatchedLoggers();
  watched.apply(snapshot);
  const levels = () =>
    Object.fromEntries([...watched.loggers.values()].map((each) => [each.name, each.effectiveLevel]));
  return { watched, levels };
}

test("a snapshot replaces everything, and a change has what was before", () => {
  const { watched } = known();
  const change = watched.apply(
    event({
      event: { case: "change", value: { loggers: [{ name: "a", kind: "pino" }, { name: "new" }], removed: ["ab"] } },
      revision: 2n,
    }),
  )!;
  expect([[...change.loggers.keys()], [...change.removed], change.before.get("a")?.kind]).toEqual([
    ["a", "new"],
    ["ab"],
    "",
  ]);
  expect([...watched.loggers.keys()]).toEqual(["ROOT", "a", "a:b", "a.b/c", "new"]);
  const again = watched.apply(snapshot)!;
  expect([again.isSnapshot, again.loggers.size, again.before.has("new"), watched.loggers.has("new")]).toEqual([
    true,
    5,
    true,
    false,
  ]);
  expect([...watched.groups.keys()]).toEqual(["g"]);
});

test("a level reaches what inherits it, whatever separates the names", () => {
  const { watched, levels } = known();
  const change = watched.apply(
    event({
      event: {
        case: "change",
        value: {
          inherited: [
            { name: "ROOT", level: Level.DEBUG },
            { name: "a:b", level: Level.ERROR },
          ],
          loggers: [{ name: "ab", effectiveLevel: Level.TRACE }],
        },
      },
    }),
  )!;
  const { DEBUG, ERROR, TRACE } = Level;
  expect(levels()).toEqual({ ROOT: DEBUG, a: DEBUG, "a:b": ERROR, "a.b/c": ERROR, ab: TRACE });
  expect(change.loggers.size).toBe(5);
  expect(change.before.get("a.b/c")?.effectiveLevel).toBe(Level.WARN);
  expect(change.loggers.get("a:b")?.configuredLevel).toBe(Level.WARN);
});

test("an event in pieces is told at its end, and a heartbeat is nothing", () => {
  const { watched } = known();
  const piece = (name: string, more: boolean) =>
    watched.apply(event({ event: { case: "change", value: { loggers: [{ name }] } }, revision: 2n, more }));
  expect(piece("x", true)).toBeUndefined();
  expect(watched.apply(event({ event: { case: "heartbeat", value: {} } }))).toBeUndefined();
  const change = piece("y", false)!;
  expect([[...change.loggers.keys()], change.revision]).toEqual([["x", "y"], 2n]);
});

test("it needs nothing of Node.js", () => {
  const seen = new Set(sourceFiles.filter((file) => file.startsWith("client/")));
  expect(seen.size).toBeGreaterThan(0);
  for (const file of seen) {
    for (const { what, typeOnly } of importsOf(file)) {
      expect(what, file).not.toMatch(/^node:/);
      if (what.endsWith(".ts") && !typeOnly) seen.add(what);
    }
  }
});

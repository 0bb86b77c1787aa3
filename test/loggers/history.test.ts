import { describe, expect, test } from "vitest";
import type { LoggerHandle, LoggerHost } from "../../src/loggers/adapter.ts";
import type { LevelChange } from "../../src/loggers/history.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { LoggersOptions } from "../../src/loggers/options.ts";
import { nativeHandle } from "../support/native-handle.ts";

function application(options: LoggersOptions = {}) {
  const loggers = new Loggers(options);
  let host: LoggerHost | undefined;
  loggers.attach({
    kind: "test",
    attach: (given) => {
      host = given;
      return () => {};
    },
  });
  const born = (name: string, level?: "ERROR" | "WARN"): LoggerHandle => {
    const handle = nativeHandle(level);
    host!.discovered(name, handle, level);
    return handle;
  };
  return { loggers, born, host: host! };
}

const told = ({ name, previousLevel, level, kind }: LevelChange): string =>
  `${name} ${previousLevel ?? "-"}>${level ?? "-"} ${kind}`;

describe("the baseline", () => {
  test("is what the application configured, even if an operator changes the level", () => {
    const { loggers, born, host } = application();
    const handle = born("a", "ERROR");
    loggers.setLevel("a", "DEBUG");
    host.changedOutside(handle, "WARN");
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "WARN", baselineLevel: "ERROR", override: undefined });
  });

  test("comes back by a restore; a clear inherits", () => {
    const { loggers, born } = application();
    born("a", "ERROR");
    expect(loggers.setLevel("a", undefined).result).toMatchObject({ effectiveLevel: "INFO" });
    expect(loggers.restoreLevel("a").result).toMatchObject({ configuredLevel: "ERROR", override: undefined });
  });

  test("of every member comes back when a group is restored, which then shows none", () => {
    const { loggers, born } = application({ groups: { g: ["a", "b"] } });
    born("a", "ERROR");
    born("b");
    loggers.setLevel("g", "DEBUG");
    const outcome = loggers.restoreLevel("g");
    expect(outcome).toMatchObject({ previousLevel: "DEBUG", result: { configuredLevel: undefined, mixed: true } });
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "ERROR" });
    expect(loggers.get("b")).toMatchObject({ configuredLevel: undefined });
  });

  test("of everything comes back at once, and the answer counts what changed", () => {
    const { loggers, born } = application({ groups: { g: ["b"] } });
    born("a", "ERROR");
    born("b");
    born("untouched", "WARN");
    loggers.setLevel("a", "DEBUG");
    loggers.setLevel("g", "TRACE");
    loggers.setLevel("ROOT", "WARN");
    expect(loggers.restoreAllLevels()).toMatchObject({ restored: 3 });
    expect(loggers.list().loggers.map(({ configuredLevel }) => configuredLevel)).toEqual([
      "INFO",
      "ERROR",
      undefined,
      "WARN",
    ]);
    expect(loggers.get("g")).toMatchObject({ configuredLevel: undefined });
    expect(loggers.restoreAllLevels()).toMatchObject({ restored: 0 });
  });

  test("of an unknown name cannot be restored", () => {
    const { loggers } = application();
    expect(() => loggers.restoreLevel("nope")).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
  });
});

describe("the history", () => {
  test("lists every change, newest first, with its author", () => {
    const { loggers, born, host } = application({ instance: "i" });
    const handle = born("a", "ERROR");
    loggers.setLevel("a", "DEBUG", { actor: "ann", reason: "why" });
    host.changedOutside(handle, "WARN");
    loggers.setLevel("a", undefined, { actor: "ben" });
    loggers.restoreLevel("a");
    const changes = loggers.history({ limit: 10 });
    expect(changes.map(told)).toEqual([
      "a ->WARN RESTORED",
      "a WARN>- CLEARED",
      "a DEBUG>WARN APPLICATION",
      "a ERROR>DEBUG SET",
    ]);
    expect(changes.map(({ override }) => override?.actor)).toEqual(["", "ben", undefined, "ann"]);
    expect(changes[3]).toMatchObject({ override: { reason: "why", instance: "i" }, revision: expect.any(Number) });
  });

  test("does not list a level that the application sets again", () => {
    const { loggers, born, host } = application();
    host.changedOutside(born("a", "ERROR"), "ERROR");
    expect(loggers.history({ limit: 10 })).toEqual([]);
  });

  test("lists a group and its members", () => {
    const { loggers } = application({ groups: { g: ["a", "b"] } });
    loggers.setLevel("g", "DEBUG");
    expect(loggers.history({ limit: 10 }).map(told)).toEqual(["g ->DEBUG SET", "b ->DEBUG SET", "a ->DEBUG SET"]);
  });

  test("can be read by name and in pages", () => {
    const { loggers } = application();
    for (const level of ["DEBUG", "INFO", "WARN"] as const)
      for (const name of ["a", "b"]) loggers.setLevel(name, level);
    const first = loggers.history({ name: "a", limit: 2 });
    expect(first.map(({ level }) => level)).toEqual(["WARN", "INFO"]);
    expect(loggers.history({ name: "a", limit: 2, before: first[1]!.sequence }).map(({ level }) => level)).toEqual([
      "DEBUG",
    ]);
  });

  test("keeps a bounded number", () => {
    const { loggers } = application({ maxHistory: 3 });
    for (let index = 0; index < 10; index++) loggers.setLevel(`a${index}`, "DEBUG");
    expect(loggers.history({ limit: 100 }).map(({ name }) => name)).toEqual(["a9", "a8", "a7"]);
    expect(application({ maxHistory: 0 }).loggers.history({ limit: 1 })).toEqual([]);
  });

  test("of many members does not displace earlier changes", () => {
    const members = Array.from({ length: 20 }, (_, index) => `m${index}`);
    const { loggers } = application({ groups: { g: members }, maxHistory: 5 });
    loggers.setLevel("a", "WARN", { actor: "ann" });
    loggers.setLevel("g", "DEBUG");
    const changes = loggers.history({ limit: 100 });
    expect(changes.filter(({ group }) => group === undefined).map(told)).toEqual(["g ->DEBUG SET", "a ->WARN SET"]);
    expect(changes.filter(({ group }) => group === "g")).toHaveLength(5);
    expect(changes.map(({ sequence }) => sequence)).toEqual(
      changes.map(({ sequence }) => sequence).sort((a, b) => b - a),
    );
  });

  test("is reported to listeners at once", () => {
    const { loggers } = application();
    const heard: string[] = [];
    const stop = loggers.onChange((change) => heard.push(told(change)));
    loggers.setLevel("a", "DEBUG");
    stop();
    loggers.setLevel("a", "WARN");
    expect(heard).toEqual(["a ->DEBUG SET"]);
  });
});

import { describe, expect, test } from "vitest";
import type { LoggerHost } from "../../src/loggers/adapter.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { Logger } from "../../src/loggers/view.ts";
import { nativeHandle } from "../support/native-handle.ts";

const shown = (loggers: Loggers, name: string): string => {
  const { configuredLevel, effectiveLevel } = loggers.get(name) as Logger;
  return `${configuredLevel ?? "-"}/${effectiveLevel}`;
};

describe("one logger", () => {
  test("is created by setting a level, with its ancestors", () => {
    const loggers = new Loggers();
    expect(loggers.get("a.b.c")).toBeUndefined();
    const change = loggers.setLevel("a.b.c", "DEBUG");
    expect(change.previousLevel).toBeUndefined();
    expect(loggers.list().loggers.map(({ name }) => name)).toEqual(["ROOT", "a", "a.b", "a.b.c"]);
    expect(shown(loggers, "a.b.c")).toBe("DEBUG/DEBUG");
    expect(shown(loggers, "a.b")).toBe("-/INFO");
  });

  test("inherits from its nearest configured ancestor, and again when cleared", () => {
    const loggers = new Loggers();
    const attach = (host: LoggerHost) => {
      host.discovered("a.b.c", nativeHandle());
      return () => {};
    };
    loggers.attach({ kind: "test", attach });
    loggers.setLevel("a", "WARN");
    expect(shown(loggers, "a.b.c")).toBe("-/WARN");
    loggers.setLevel("a.b", "TRACE");
    expect(shown(loggers, "a.b.c")).toBe("-/TRACE");
    expect(loggers.setLevel("a.b", undefined).previousLevel).toBe("TRACE");
    expect(shown(loggers, "a.b.c")).toBe("-/WARN");
  });

  test("is found under any separator and ROOT in any case", () => {
    const loggers = new Loggers();
    loggers.setLevel("express:router", "ERROR");
    expect(shown(loggers, "express/router")).toBe("ERROR/ERROR");
    loggers.setLevel("rOOt", "WARN");
    expect(shown(loggers, "root")).toBe("WARN/WARN");
  });

  test("may be called what JavaScript objects inherit, or a number", () => {
    const loggers = new Loggers();
    for (const name of ["__proto__", "constructor", "42"]) loggers.setLevel(name, "DEBUG");
    expect(loggers.list().loggers.map(({ name }) => name)).toEqual(["ROOT", "42", "__proto__", "constructor"]);
  });

  test("ROOT is cleared to the level the application started with", () => {
    const loggers = new Loggers();
    loggers.attach({
      kind: "test",
      attach: (host) => {
        host.discovered("ROOT", nativeHandle("WARN"), "WARN");
        return () => {};
      },
    });
    loggers.setLevel("ROOT", "TRACE");
    expect(loggers.setLevel("ROOT", undefined)).toMatchObject({ previousLevel: "TRACE" });
    expect(shown(loggers, "ROOT")).toBe("WARN/WARN");
  });
});

describe("the order of the list", () => {
  test("is ROOT, then by UTF-16 code unit, later names included", () => {
    const loggers = new Loggers();
    for (const name of ["b", "a", "€", "Z", "_", "\u{1F600}", "\uFFFD"]) loggers.setLevel(name, "INFO");
    loggers.list();
    loggers.setLevel("aa", "INFO");
    expect(loggers.list().loggers.map(({ name }) => name)).toEqual([
      "ROOT",
      "Z",
      "_",
      "a",
      "aa",
      "b",
      "€",
      "\u{1F600}",
      "\uFFFD",
    ]);
  });
});

describe("a group", () => {
  const groups = { web: ["http", "lib/router"], empty: [] };

  test("sets and clears every member, and shows the last level set through it", () => {
    const loggers = new Loggers({ groups });
    const change = loggers.setLevel("web", "DEBUG");
    expect(change.result).toMatchObject({
      type: "group",
      name: "web",
      configuredLevel: "DEBUG",
      members: ["http", "lib.router"],
    });
    loggers.setLevel("http", "ERROR");
    expect(loggers.get("web")).toMatchObject({ configuredLevel: "DEBUG" });
    expect(loggers.setLevel("web", undefined).previousLevel).toBe("DEBUG");
    expect([shown(loggers, "http"), shown(loggers, "lib.router")]).toEqual(["-/INFO", "-/INFO"]);
  });

  test("wins over a logger of the same name", () => {
    const loggers = new Loggers({ groups });
    loggers.setLevel("web.x", "TRACE");
    loggers.setLevel("web", "WARN");
    expect(loggers.get("web")).toMatchObject({ type: "group" });
    expect(loggers.list().loggers.find(({ name }) => name === "web")?.configuredLevel).toBeUndefined();
  });

  test("without members is written to as a logger", () => {
    const loggers = new Loggers({ groups });
    expect(loggers.setLevel("empty", "DEBUG").result).toMatchObject({ type: "logger", name: "empty" });
    expect(loggers.get("empty")).toMatchObject({ type: "group", configuredLevel: "DEBUG" });
  });

  test("with an invalid member is refused when it is configured", () => {
    expect(() => new Loggers({ groups: { web: ["a\n"] } })).toThrow(/group "web".*control character/);
  });
});

describe("bounds", () => {
  test("loggers that exist only because a level was set on them are limited, including ancestors", () => {
    const loggers = new Loggers({ maxCreated: 3 });
    loggers.setLevel("a.b", "DEBUG");
    expect(() => loggers.setLevel("c.d", "DEBUG")).toThrow(expect.objectContaining({ code: "RESOURCE_EXHAUSTED" }));
    expect(loggers.get("c")).toBeUndefined();
    loggers.setLevel("c", "DEBUG");
    loggers.setLevel("a.b", "WARN");
    expect(loggers.list().loggers).toHaveLength(4);
  });

  test("a created logger no longer counts once an adapter has found it", () => {
    const loggers = new Loggers({ maxCreated: 2 });
    loggers.setLevel("a.b", "DEBUG");
    loggers.attach({
      kind: "test",
      attach: (host) => {
        host.discovered("a.b", nativeHandle());
        return () => {};
      },
    });
    loggers.setLevel("c.d", "DEBUG");
    expect(shown(loggers, "c.d")).toBe("DEBUG/DEBUG");
  });

  test("loggers found beyond the limit are not managed, which ROOT shows", () => {
    const loggers = new Loggers({ maxLoggers: 2 });
    const taken: boolean[] = [];
    loggers.attach({
      kind: "test",
      attach: (host) => {
        for (const name of ["a", "b", "bad\n"]) taken.push(host.discovered(name, nativeHandle()));
        return () => {};
      },
    });
    expect(taken).toEqual([true, false, false]);
    expect((loggers.get("ROOT") as Logger).warnings).toHaveLength(2);
  });
});

describe("the revision", () => {
  test("grows with every change, and the list is made once for each", () => {
    const loggers = new Loggers();
    const first = loggers.list();
    expect(loggers.list()).toBe(first);
    const { revision } = loggers.setLevel("a", "DEBUG");
    expect(revision).toBeGreaterThan(first.revision);
    expect(loggers.list()).not.toBe(first);
  });

  test("makes a change conditional", () => {
    const loggers = new Loggers();
    const { revision } = loggers.setLevel("a", "DEBUG");
    loggers.setLevel("b", "DEBUG", { ifRevision: revision });
    expect(() => loggers.setLevel("a", "WARN", { ifRevision: revision })).toThrow(
      expect.objectContaining({ code: "FAILED_PRECONDITION" }),
    );
    expect(shown(loggers, "a")).toBe("DEBUG/DEBUG");
  });
});

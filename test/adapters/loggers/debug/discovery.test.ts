import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { afterEach, describe, expect, test } from "vitest";
import { debugLoggers } from "../../../../src/adapters/loggers/debug/index.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { debugCopy } from "./debug-copy.ts";

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});
const names = (loggers: Loggers): string[] => loggers.list().loggers.map(({ name }) => name);

function attach(...[debug, options]: Parameters<typeof debugLoggers>): { loggers: Loggers; detach: () => void } {
  const loggers = new Loggers();
  const detach = loggers.attach(debugLoggers(debug, options));
  cleanups.push(detach);
  return { loggers, detach };
}

describe("namespaces are found", () => {
  test("when a logger is made, by whatever reference to debug, and when one is extended", () => {
    const { debug } = debugCopy();
    const kept = debug;
    const early = debug("early");
    const { loggers } = attach(debug);
    kept("a:b");
    early.extend("sub");
    early.extend("sub", "/");
    expect(names(loggers)).toEqual(["ROOT", "a", "a:b", "early", "early:sub"]);
  });

  test("at their next call, on or off, if they were made before", () => {
    const { debug, written } = debugCopy("on");
    const [on, off] = [debug("on"), debug("off")];
    on("kept before");
    off("kept before");
    const { loggers } = attach(debug);
    expect(names(loggers)).toEqual(["ROOT"]);
    on("1");
    off("no");
    expect(names(loggers)).toEqual(["ROOT", "off", "on"]);
    loggers.setLevel("off", "DEBUG");
    loggers.setLevel("on", "OFF");
    on("no");
    off("2");
    expect(written).toEqual(["on kept before", "on 1", "off 2"]);
  });

  test("at once, if they were made before and the heap is searched", () => {
    const { debug, written } = debugCopy();
    const kept = [debug("off"), debug("off:below")];
    const { loggers } = attach(debug, { findExisting: true });
    expect(names(loggers)).toEqual(["ROOT", "off", "off:below"]);
    expect(kept.map(({ enabled }) => enabled)).toEqual([false, false]);
    expect(written).toEqual([]);
  });

  test("at their next call with a level that was set for the name before", () => {
    const { debug, written } = debugCopy();
    const log = debug("old:one");
    const { loggers } = attach(debug);
    loggers.setLevel("old", "DEBUG");
    log("yes");
    expect(written).toEqual(["old:one yes"]);
  });

  test("under names of the application's own, or left to debug's patterns", () => {
    const { debug, written } = debugCopy("mine,theirs");
    const nameOf = (namespace: string) => (namespace === "theirs" ? undefined : `debug.${namespace}`);
    const { loggers } = attach(debug, { nameOf });
    const [mine, theirs] = [debug("mine"), debug("theirs")];
    loggers.setLevel("debug", "OFF");
    loggers.setLevel("debug.mine", undefined);
    mine!("no");
    theirs!("yes");
    debug.disable();
    theirs!("no");
    theirs!.enabled = true;
    expect(names(loggers)).toEqual(["ROOT", "debug", "debug.mine"]);
    theirs!("yes");
    debug("theirs")("no");
    expect(written).toEqual(["theirs yes", "theirs yes"]);
  });

  test("in several copies of debug, as packages bring them along", () => {
    const [one, other] = [debugCopy(), debugCopy()];
    const { loggers } = attach([one.debug, other.debug]);
    const logs = [one.debug("a"), other.debug("a")];
    loggers.setLevel("a", "DEBUG");
    for (const log of logs) log("yes");
    expect([one.written, other.written]).toEqual([["a yes"], ["a yes"]]);
  });

  test("up to the limit of names; the rest keeps to debug's patterns", () => {
    const { debug, written } = debugCopy("*");
    const loggers = new Loggers({ maxLoggers: 2 });
    cleanups.push(loggers.attach(debugLoggers(debug)));
    const [taken, beyond] = [debug("taken"), debug("beyond")];
    loggers.setLevel("taken", "OFF");
    taken!("no");
    beyond!("yes");
    expect(names(loggers)).toEqual(["ROOT", "taken"]);
    expect(written).toEqual(["beyond yes"]);
  });

  test("however many share a name", () => {
    const { debug, written } = debugCopy();
    const { loggers } = attach(debug);
    const logs = Array.from({ length: 300 }, () => debug("request"));
    loggers.setLevel("request", "DEBUG");
    for (const log of [logs[0]!, logs[299]!]) log("yes");
    expect(written).toEqual(["request yes", "request yes"]);
    logs[0]!.enabled = false;
    expect(loggers.get("request")).toMatchObject({ configuredLevel: "OFF" });
  });

  test("by two actuators at once, which agree", () => {
    const { debug, written } = debugCopy();
    const [one, other] = [attach(debug).loggers, attach(debug).loggers];
    const log = debug("a");
    one.setLevel("a", "TRACE");
    expect(other.get("a")).toMatchObject({ configuredLevel: "DEBUG", effectiveLevel: "DEBUG" });
    other.setLevel("a", "WARN");
    log("no");
    expect(one.get("a")).toMatchObject({ configuredLevel: "OFF" });
    expect(written).toEqual([]);
  });
});

describe("a copy after detaching", () => {
  const cases = [undefined, "a,b:*,-b:c"] as const;
  test.each(cases)("has its properties and its pattern again (DEBUG=%s)", (pattern) => {
    const { debug } = debugCopy(pattern);
    const early = debug("a");
    const before = Object.getOwnPropertyDescriptors(debug);
    const first = attach(debug);
    const second = attach(debug);
    early("line");
    debug("b:x");
    first.detach();
    debug("seen:by:the:other");
    expect(names(first.loggers)).not.toContain("seen:by:the:other");
    expect(names(second.loggers)).toContain("seen:by:the:other");
    second.detach();
    expect(Object.getOwnPropertyDescriptors(debug)).toEqual(before);
  });

  test("keeps the levels of the loggers found, and takes part again later", () => {
    const { debug, written } = debugCopy("b");
    const { loggers, detach } = attach(debug);
    const [a, b, c] = [debug("a"), debug("b"), debug("c")];
    loggers.setLevel("a", "DEBUG");
    loggers.setLevel("b", "OFF");
    detach();
    a!("1");
    b!("no");
    debug.enable("b,c");
    c!("2");
    const again = attach(debug).loggers;
    expect(["a", "b", "c"].map((name) => again.get(name))).toMatchObject([
      { configuredLevel: "DEBUG", baselineLevel: "DEBUG" },
      { configuredLevel: "OFF" },
      { configuredLevel: "DEBUG" },
    ]);
    again.setLevel("a", "OFF");
    again.setLevel("b", "DEBUG");
    a!("no");
    b!("3");
    expect(written).toEqual(["a 1", "c 2", "b 3"]);
  });

  test("keeps wrappers that the application added meanwhile", () => {
    const { debug, written } = debugCopy();
    const { loggers, detach } = attach(debug);
    const [x, own] = [debug("x"), debug("own")];
    const { enabled, enable } = debug;
    const wrapped = { enabled: (name: string) => enabled(name), enable: (pattern: string) => enable(pattern) };
    Object.assign(debug, wrapped);
    detach();
    own.enabled = true;
    debug.enable("x");
    x("1");
    own("2");
    debug("y")("no");
    expect(written).toEqual(["x 1", "own 2"]);
    expect({ enabled: debug.enabled, enable: debug.enable }).toEqual(wrapped);
    expect(names(loggers)).toEqual(["ROOT"]);
  });
});

test("a process writes to stderr what the levels say, and DEBUG= what it says", () => {
  const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const program = `
    import debug from "debug";
    import { debugLoggers } from ${url("../../../../src/adapters/loggers/debug/index.ts")};
    import { Loggers } from ${url("../../../../src/loggers/loggers.ts")};
    const before = debug("before");
    const loggers = new Loggers();
    loggers.attach(debugLoggers(debug));
    const [a, b] = [debug("a"), debug("b")];
    for (const log of [before, a, b]) log("first");
    loggers.setLevel("a", "OFF");
    loggers.setLevel("b", "DEBUG");
    loggers.setLevel("before", "DEBUG");
    for (const log of [before, a, b]) log("second");
    console.log(process.env.DEBUG);
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: import.meta.dirname,
    env: { ...process.env, DEBUG: "a", DEBUG_HIDE_DATE: "yes", NO_COLOR: "1" },
    encoding: "utf8",
  });
  expect(stderr.trim().split("\n")).toEqual(["a first", "before second", "b second"]);
  expect(stdout.trim()).toBe("a");
});

test("a value that is not debug, or an old version, is refused", () => {
  const requireNested = createRequire(createRequire(import.meta.url).resolve("express-session"));
  const old = requireNested("debug") as never;
  for (const value of [undefined, null, {}, () => {}, console, "debug", old]) {
    expect(() => debugLoggers(value as never)).toThrow(/debug 4\.3 or newer/);
  }
});

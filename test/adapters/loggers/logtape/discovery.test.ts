import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { getLogger } from "@logtape/logtape";
import { afterEach, describe, expect, test } from "vitest";
import { logtapeLoggers } from "../../../../src/adapters/loggers/logtape/index.ts";
import type { Loggers } from "../../../../src/loggers/loggers.ts";
import { LogTapeApplication } from "./logtape-application.ts";

const application = new LogTapeApplication();
const { written } = application.all;
afterEach(() => application.end());

const names = (loggers: Loggers): string[] =>
  loggers
    .list()
    .loggers.map(({ name }) => name)
    .filter((name) => !name.startsWith("logtape"));
/** LogTape holds loggers weakly. */
const held: unknown[] = [];
const use = (...category: string[]) => held.push(getLogger(category));
const root = (globalThis as Record<symbol, unknown>)[Symbol.for("logtape.rootLogger")] as object;

describe("loggers are found", () => {
  test("that were there before, and as they are made", () => {
    use("found", "early");
    const { loggers } = application.attach();
    use("found", "later", "below");
    expect(names(loggers).filter((name) => name.startsWith("found"))).toEqual([
      "found",
      "found.early",
      "found.later",
      "found.later.below",
    ]);
    expect(loggers.get("found.later")).toMatchObject({ kind: "logtape" });
  });

  test("made by another copy of LogTape, which shares the tree", () => {
    application.configure([{ category: [], sinks: ["all"], lowestLevel: "info" }]);
    const { loggers } = application.attach();
    const copy = createRequire(import.meta.url)("@logtape/logtape") as { getLogger: typeof getLogger };
    expect(copy.getLogger).not.toBe(getLogger);
    const log = copy.getLogger(["copy", "a"]);
    loggers.setLevel("copy", "DEBUG");
    log.debug("yes");
    expect(written).toEqual(["copy.a debug: yes"]);
  });

  test("under names of the application's own, or left to LogTape", () => {
    application.configure([{ category: [], sinks: ["all"], lowestLevel: "info" }]);
    const nameOf = (category: readonly string[]) =>
      category[0] === "theirs" ? undefined : ["logtape", ...category].join(".");
    const { loggers } = application.attach({ nameOf });
    const [mine, theirs] = [getLogger("mine"), getLogger("theirs")];
    loggers.setLevel("ROOT", "OFF");
    loggers.setLevel("logtape", "DEBUG");
    mine.debug("1");
    theirs.debug("2");
    expect(loggers.get("logtape")).toMatchObject({ baselineLevel: "INFO", kind: "logtape" });
    expect(loggers.get("theirs")).toBeUndefined();
    expect(written).toEqual(["mine debug: 1", "theirs debug: 2"]);
  });

  test("by two actuators at once, which agree", () => {
    application.configure([{ category: [], sinks: ["all"], lowestLevel: "info" }]);
    const log = getLogger("both");
    const [one, other] = [application.attach().loggers, application.attach().loggers];
    expect(other.get("both")).toMatchObject({ configuredLevel: undefined });
    one.setLevel("both", "TRACE");
    expect(other.get("both")).toMatchObject({ configuredLevel: "TRACE" });
    other.setLevel("both", "WARN");
    log.info("no");
    expect(one.get("both")).toMatchObject({ configuredLevel: "WARN" });
    expect(written).toEqual([]);
  });

  test("and forgotten when the application has no reference any more", async () => {
    setFlagsFromString("--expose-gc");
    const gc = runInNewContext("gc") as () => void;
    let gone = 0;
    const host = {
      discovered: () => true,
      gone: () => gone++,
      changedOutside: () => {},
      reachChanged: () => {},
      older: () => {},
      levelAbove: () => "INFO" as const,
      pushing: false,
      warn: () => {},
      retract: () => {},
    };
    const detach = logtapeLoggers().attach(host);
    for (let index = 0; index < 100; index++) getLogger(["request", `${index}`]);
    const collected = () => {
      gc();
      return gone;
    };
    await expect.poll(collected).toBeGreaterThan(90);
    detach();
  });

  test("again when they are used again, with the level of their name", async () => {
    application.configure([{ category: [], sinks: ["all"], lowestLevel: "info" }]);
    const { loggers } = application.attach();
    loggers.setLevel("again", "TRACE");
    const gc = runInNewContext("gc") as () => void;
    const first = new WeakRef(getLogger("again"));
    await expect
      .poll(() => {
        gc();
        return first.deref() === undefined;
      })
      .toBe(true);
    getLogger("again").trace("yes");
    expect(written).toEqual(["again trace: yes"]);
  });
});

describe("a tree after detaching", () => {
  const state = (categories: readonly string[][]) =>
    categories.map((category) => {
      const { lowestLevel, parentSinks, sinks } = getLogger(category) as unknown as Record<string, unknown>;
      return { lowestLevel, parentSinks, sinks: [...(sinks as unknown[])] };
    });

  test("is as it was if no level was changed", () => {
    application.configure([
      { category: [], sinks: ["all"], lowestLevel: "info" },
      { category: ["kept", "a"], sinks: ["other"], lowestLevel: "debug" },
    ]);
    const categories = [[], ["kept"], ["kept", "a"], ["kept", "a", "b"], ["kept", "c"]];
    for (const category of categories) use(...category);
    const prototype = Object.getPrototypeOf(root) as object;
    const before = [Object.getOwnPropertyDescriptors(prototype), state(categories)];
    const first = application.attach();
    const second = application.attach();
    first.loggers.setLevel("kept", "TRACE");
    first.loggers.setLevel("kept", undefined);
    second.loggers.setLevel("kept", undefined);
    first.detach();
    use("seen-by-the-other");
    expect(names(first.loggers)).not.toContain("seen-by-the-other");
    expect(names(second.loggers)).toContain("seen-by-the-other");
    second.detach();
    expect([Object.getOwnPropertyDescriptors(prototype), state(categories)]).toEqual(before);
  });

  test("keeps levels that were set", () => {
    application.configure([
      { category: [], sinks: ["all"], lowestLevel: "info" },
      { category: "left", lowestLevel: "warning" },
    ]);
    const [left, below] = [getLogger("left"), getLogger(["left", "below"])];
    const { loggers, detach } = application.attach();
    loggers.setLevel("left", "DEBUG");
    loggers.setLevel("left.below", "TRACE");
    detach();
    left.debug("1");
    left.trace("no");
    below.trace("2");
    const again = application.attach().loggers;
    expect(again.get("left")).toMatchObject({ configuredLevel: "DEBUG" });
    expect(again.get("left.below")).toMatchObject({ configuredLevel: "TRACE" });
    expect(written).toEqual(["left debug: 1", "left.below trace: 2"]);
  });
});

test("without LogTape in the process the error says what to do", () => {
  const url = JSON.stringify(new URL("../../../../src/adapters/loggers/logtape/index.ts", import.meta.url).href);
  const program = `
    import { logtapeLoggers } from ${url};
    try { logtapeLoggers(); } catch ({ code, message }) { console.log(code, message); }
  `;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  expect(stdout.trim()).toMatch(/FAILED_PRECONDITION .*import @logtape\/logtape/);
});

import type { Debugger } from "debug";
import { afterEach, describe, expect, test } from "vitest";
import { debugLoggers } from "../../../../src/adapters/loggers/debug/index.ts";
import { LEVELS } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import type { Logger } from "../../../../src/loggers/view.ts";
import { debugCopy } from "./debug-copy.ts";

const detaches: (() => void)[] = [];
afterEach(() => {
  for (const detach of detaches.splice(0)) detach();
});

function application(pattern?: string) {
  const { debug, written } = debugCopy(pattern);
  const loggers = new Loggers({ groups: { web: ["http", "http.router"] } });
  detaches.push(loggers.attach(debugLoggers(debug)));
  return { debug, written, loggers };
}

describe("the level of a namespace", () => {
  test.each(LEVELS)("%s switches on or off, and shows which", (level) => {
    const { debug, written, loggers } = application();
    const log = debug("app:http");
    const { result } = loggers.setLevel("app.http", level);
    log("line");
    const on = level === "DEBUG" || level === "TRACE";
    expect(result).toMatchObject({ configuredLevel: level, effectiveLevel: on ? "DEBUG" : "OFF", kind: "debug" });
    expect(written).toEqual(on ? ["app:http line"] : []);
    expect([log.enabled, debug.enabled("app:http")]).toEqual([on, on]);
  });

  test("is inherited along the dotted name, and given back when cleared", () => {
    const { debug, written, loggers } = application();
    const [app, http, router] = ["app", "app:http", "app:http:router"].map((name) => debug(name));
    loggers.setLevel("app", "DEBUG");
    app!("1");
    router!("2");
    loggers.setLevel("app.http", "INFO");
    http!("no");
    router!("no");
    loggers.setLevel("app.http", undefined);
    router!("3");
    loggers.setLevel("app", undefined);
    app!("no");
    router!("no");
    expect(written).toEqual(["app 1", "app:http:router 2", "app:http:router 3"]);
  });

  test("comes from ROOT in the end: off at INFO, on at DEBUG", () => {
    const { debug, written, loggers } = application();
    const log = debug("app");
    log("no");
    loggers.setLevel("ROOT", "DEBUG");
    log("yes");
    debug("later")("yes");
    loggers.setLevel("ROOT", "INFO");
    log("no");
    expect(written).toEqual(["app yes", "later yes"]);
    expect(loggers.get("app")).toMatchObject({ configuredLevel: undefined, effectiveLevel: "OFF" });
  });

  test("set before there is such a namespace applies when it appears", () => {
    const { debug, written, loggers } = application();
    loggers.setLevel("late", "TRACE");
    debug("late:one")("yes");
    expect(written).toEqual(["late:one yes"]);
  });

  test("reaches every logger of the name, and what was extended from it by name", () => {
    const { debug, written, loggers } = application();
    const [one, other] = [debug("a"), debug("a")];
    const below = one.extend("b");
    loggers.setLevel("a", "DEBUG");
    for (const log of [one, other, below]) log("yes");
    expect(written).toEqual(["a yes", "a yes", "a:b yes"]);
  });

  test("is changed by groups", () => {
    const { debug, written, loggers } = application();
    const log = debug("http:router");
    loggers.setLevel("web", "DEBUG");
    log("yes");
    loggers.setLevel("web", undefined);
    log("no");
    expect(written).toEqual(["http:router yes"]);
  });
});

describe("what DEBUG says at the start", () => {
  const cases: readonly {
    readonly pattern: string;
    readonly namespace: string;
    readonly configured: string | undefined;
    readonly why: string;
  }[] = [
    { pattern: "*", namespace: "a:b", configured: "DEBUG", why: "named" },
    { pattern: "a:*", namespace: "a:b:c", configured: "DEBUG", why: "named" },
    { pattern: "a:*", namespace: "a", configured: undefined, why: "not named" },
    { pattern: "a:*,-a:b", namespace: "a:b", configured: "OFF", why: "excluded" },
    { pattern: "-a", namespace: "a", configured: "OFF", why: "excluded" },
    { pattern: "a", namespace: "a:b", configured: "OFF", why: "only its ancestor named" },
    { pattern: "x", namespace: "a", configured: undefined, why: "not named" },
  ];
  test.each(cases)("DEBUG=$pattern configures $configured on $namespace: $why", (row) => {
    const { pattern, namespace, configured } = row;
    const { debug, written, loggers } = application(pattern);
    const natively = debugCopy(pattern).debug.enabled(namespace);
    for (const length of [1, 3, 5]) debug(namespace.slice(0, length));
    debug(namespace)("line");
    expect(written.length > 0).toBe(natively);
    expect(loggers.get(namespace)).toMatchObject({
      configuredLevel: configured,
      baselineLevel: configured,
      effectiveLevel: natively ? "DEBUG" : "OFF",
    });
  });

  test("is what a logger goes back to when it is restored, and inherits instead when it is cleared", () => {
    const { debug, written, loggers } = application("a");
    const log = debug("a");
    loggers.setLevel("a", "OFF");
    log("no");
    loggers.restoreLevel("a");
    log("yes");
    loggers.setLevel("a", undefined);
    log("no");
    expect(written).toEqual(["a yes"]);
  });
});

describe("what the application does meanwhile", () => {
  test("debug.enable() is adopted at once: what it names is on, and nothing else", () => {
    const { debug, written, loggers } = application("a:*");
    const logs = ["a:b", "c:d", "c", "e"].map((name) => debug(name));
    loggers.setLevel("e", "DEBUG");
    debug.enable("c,x:*");
    for (const log of logs) log("line");
    debug("x:y")("line");
    expect(written).toEqual(["c line", "x:y line"]);
    expect(loggers.list().loggers.map(({ name, configuredLevel }) => `${name}:${configuredLevel}`)).toEqual([
      "ROOT:INFO",
      "a:undefined",
      "a:b:OFF",
      "c:DEBUG",
      "c:d:OFF",
      "e:OFF",
      "x:undefined",
      "x:y:DEBUG",
    ]);
  });

  test("debug.disable() is adopted at once and answers what was enabled", () => {
    const { debug, written, loggers } = application();
    debug.enable("a,b:*,-b:c");
    const [a, b] = [debug("a"), debug("b:d")];
    expect(debug.disable()).toBe("a,b:*,-b:c");
    a!("no");
    b!("no");
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "OFF" });
    loggers.setLevel("a", "DEBUG");
    a!("yes");
    expect(written).toEqual(["a yes"]);
  });

  test.each([
    ["at the next call", (log: Debugger) => log("yes")],
    ["at the next listing", () => {}],
  ] as const)("a call of a stored reference to enable() is noticed %s", (_, call) => {
    const { debug: copy, written } = debugCopy();
    const [log, { enable }] = [copy("a"), copy];
    const loggers = new Loggers();
    detaches.push(loggers.attach(debugLoggers(copy)));
    log("no");
    enable("a");
    call(log);
    expect(written).toHaveLength(call.length);
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "DEBUG" });
  });

  test.each([
    { set: true, before: "INFO", configured: "DEBUG" },
    { set: false, before: "DEBUG", configured: "OFF" },
  ] as const)("enabled = $set on one logger is adopted at the next listing, for that one", (row) => {
    const { set, before, configured } = row;
    const { debug, written, loggers } = application();
    const [one, other] = [debug("a"), debug("a")];
    loggers.setLevel("a", before);
    one.enabled = set;
    expect(loggers.get("a")).toMatchObject({ configuredLevel: configured });
    other("line");
    expect(written).toEqual([]);
    loggers.setLevel("a", before);
    expect([one.enabled, other.enabled]).toEqual([!set, !set]);
    loggers.restoreLevel("a");
    expect([one.enabled, other.enabled]).toEqual([set, false]);
    debug.enable("a");
    expect([one.enabled, other.enabled]).toEqual([set, true]);
  });

  test("process.env.DEBUG is not changed", () => {
    const { debug, loggers } = application();
    const before = process.env.DEBUG;
    debug("a");
    loggers.setLevel("a", "DEBUG");
    loggers.setLevel("ROOT", "DEBUG");
    expect(process.env.DEBUG).toBe(before);
    debug.enable("b");
    expect(process.env.DEBUG).toBe("b");
    loggers.setLevel("a", "OFF");
    debug.disable();
    expect(process.env.DEBUG).toBeUndefined();
  });

  test("debug.namespaces still reads as what enable() was called with", () => {
    const { debug, loggers } = application();
    debug("a");
    debug.enable("b,c");
    loggers.setLevel("a", "DEBUG");
    expect(`${(debug as { namespaces?: unknown }).namespaces}`).toBe("b,c");
  });
});

test("effective levels of several namespaces are read from debug itself", () => {
  const { debug, loggers } = application("on:*");
  for (const name of ["on:1", "off:1"]) debug(name);
  const seen = (name: string) => (loggers.get(name) as Logger).effectiveLevel;
  expect([seen("on.1"), seen("off.1"), seen("ROOT")]).toEqual(["DEBUG", "OFF", "INFO"]);
});

import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fastify from "fastify";
import { afterEach, describe, expect, test, vi } from "vitest";
import { pinoLoggers } from "../../../../src/adapters/loggers/pino/index.ts";
import type { PinoAdapter } from "../../../../src/adapters/loggers/pino/pino-adapter.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import type { Logger } from "../../../../src/loggers/view.ts";
import { messages, PINO_VERSIONS } from "../../../support/pino-versions.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});
const names = (loggers: Loggers): string[] => loggers.list().loggers.map(({ name }) => name);

describe.each(PINO_VERSIONS)("pino %s loggers are found", (version, pino) => {
  test("from the moment pinoLoggers is called, before anything is attached", () => {
    const root = pino({}, messages());
    const adapter = pinoLoggers(root);
    root.child({ name: "early" }, { level: "debug" });
    const loggers = new Loggers();
    cleanups.push(loggers.attach(adapter));
    expect(names(loggers)).toEqual(["ROOT", "early"]);
  });

  test("by the first name among their bindings, or by one of the application's own", () => {
    const root = pino({}, messages());
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(root)));
    root.child({ name: "n", module: "m" });
    root.child({ component: 7, name: "only-text" });
    root.child({ reqId: 1 });
    expect(names(loggers)).toEqual(["ROOT", "m", "only-text"]);

    const own = new Loggers();
    cleanups.push(
      own.attach(pinoLoggers(root, { nameOf: ({ area }) => (typeof area === "string" ? area : undefined) })),
    );
    root.child({ name: "n", area: "billing" });
    expect(names(own)).toEqual(["ROOT", "billing"]);
  });

  test("as second roots, if they are given, and each keeps its own level", () => {
    const main = pino({}, messages());
    const given = pino({ name: "given", level: "error" }, messages());
    const unnamed = pino({ level: "warn" }, messages());
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers([main, given, unnamed])));
    expect(loggers.list().loggers.map(({ name, configuredLevel }) => `${name}:${configuredLevel}`)).toEqual([
      "ROOT:undefined",
      "given:ERROR",
    ]);
    expect([main, given, unnamed].map(({ level }) => level)).toEqual(["info", "error", "warn"]);
    expect((loggers.get("ROOT") as Logger).warnings).toEqual([expect.stringMatching(/differ: pino INFO, pino WARN/)]);
    loggers.setLevel("ROOT", "DEBUG");
    expect([main, given, unnamed].map(({ level }) => level)).toEqual(["debug", "error", "debug"]);
    loggers.setLevel("ROOT", undefined);
    expect([main, given, unnamed].map(({ level }) => level)).toEqual(["info", "error", "warn"]);
  });

  test("only if they descend from a root that was given: two actuators with separate roots do not see each other's", () => {
    const out = messages();
    const [one, other] = [pino({}, out), pino({}, out)];
    const [ofOne, ofOther] = [new Loggers(), new Loggers()];
    cleanups.push(ofOne.attach(pinoLoggers(one)), ofOther.attach(pinoLoggers(other)));
    const trail = pino({ name: "security-trail" }, out);
    one.child({ name: "orders" });
    other.child({ name: "users" });
    trail.child({ name: "audit" }).level = "warn";
    expect([names(ofOne), names(ofOther)]).toEqual([
      ["ROOT", "orders"],
      ["ROOT", "users"],
    ]);
    ofOne.setLevel("ROOT", "OFF");
    ofOne.setLevel("security-trail", "OFF");
    ofOne.setLevel("users", "OFF");
    trail.info("trail");
    trail.child({ name: "audit" }).info("audit");
    other.child({ name: "users" }).info("users");
    expect(out.written).toEqual(["trail", "audit", "users"]);
    expect(other.level).toBe("info");
  });

  test("through a proxy that the application put around the root, as for its asynchronous context", () => {
    const out = messages();
    const root = pino({}, out);
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(root)));
    const proxy = new Proxy(root, { get: (target, key, receiver) => Reflect.get(target, key, receiver) as unknown });
    const child = proxy.child({ name: "orders" });
    loggers.setLevel("orders", "DEBUG");
    child.debug("yes");
    loggers.setLevel("orders", undefined);
    child.debug("no");
    expect(out.written).toEqual(["yes"]);
  });

  test("as a child that is given in the place of a root, with a warning", () => {
    const out = messages();
    const parent = pino({}, out);
    const given = parent.child({ name: "app" });
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(given)));
    parent.child({ name: "sibling" });
    given.child({ name: "orders" });
    expect(names(loggers)).toEqual(["ROOT", "orders"]);
    expect((loggers.get("ROOT") as Logger).warnings).toEqual([
      expect.stringMatching(/child of one that is not managed/),
    ]);
    loggers.setLevel("ROOT", "DEBUG");
    parent.debug("no");
    given.debug("yes");
    loggers.setLevel("ROOT", undefined);
    given.debug("no");
    expect(out.written).toEqual(["yes"]);
    loggers.setLevel("ROOT", "ERROR");
    parent.level = "warn";
    // Before pino 10 a child does not follow its parent.
    const expected = version === "10" ? "WARN" : "ERROR";
    expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: expected, effectiveLevel: expected });
  });

  test("although they are older than the adapter, once they make a child or are given a level, with a warning", () => {
    const out = messages();
    const root = pino({}, out);
    const [maker, set, unseen] = ["maker", "set", "unseen"].map((name) => root.child({ name }));
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(root)));
    expect(names(loggers)).toEqual(["ROOT"]);
    maker!.child({ reqId: 1 });
    set!.level = "warn";
    unseen!.info("x");
    expect(loggers.list().loggers.map(({ name, configuredLevel }) => `${name}:${configuredLevel}`)).toEqual([
      "ROOT:INFO",
      "maker:undefined",
      "set:WARN",
    ]);
    for (const name of ["maker", "set"]) {
      expect((loggers.get(name) as Logger).warnings).toEqual([expect.stringMatching(/was made before the adapter/)]);
    }
    loggers.setLevel("maker", "DEBUG");
    maker!.debug("yes");
    expect(out.written).toEqual(["x", "yes"]);
  });

  test("although they are older than the adapter, at once and without a warning, if the heap is searched", () => {
    const out = messages();
    const root = pino({}, out);
    const other = pino({}, messages());
    const orders = root.child({ name: "orders" });
    const kept = [
      orders,
      orders.child({ name: "orders.items" }, { level: "warn" }),
      orders.child({ reqId: 1 }),
      other.child({ name: "foreign" }),
      Object.create(root) as typeof root,
    ];
    root.child({ name: "collected" });
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(root, { findExisting: true })));
    expect(loggers.list().loggers.map(({ name, configuredLevel }) => `${name}:${configuredLevel}`)).toEqual([
      "ROOT:INFO",
      "orders:undefined",
      // pino 8 and 9 give every child a level of its own.
      version === "10" ? "orders.items:WARN" : "orders.items:undefined",
    ]);
    loggers.setLevel("orders", "DEBUG");
    for (const logger of kept) logger.debug("yes");
    expect(out.written).toHaveLength(version === "10" ? 2 : 3);
    kept[0]!.level = "warn";
    for (const { warnings } of loggers.list().loggers as readonly Logger[]) expect(warnings).toEqual([]);
  });

  test("one by one, and without a warning if all others that exist are given as well", () => {
    const root = pino({}, messages());
    const [first, second] = ["first", "second"].map((name) => root.child({ name }));
    const adapter = pinoLoggers(root) as PinoAdapter;
    const loggers = new Loggers();
    cleanups.push(loggers.attach(adapter));
    adapter.add(first!, () => undefined);
    adapter.add(second!, () => undefined, { isEachFound: true });
    const warned = ["first", "second"].map((name) => (loggers.get(name) as Logger).warnings.length);
    expect(warned).toEqual([1, 0]);
  });

  test("under the name that setBindings gives them", () => {
    const out = messages();
    const root = pino({}, out);
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(root)));
    const first = root.child({ name: "first" });
    const nameless = root.child({ reqId: 1 });
    loggers.setLevel("first", "TRACE");
    loggers.setLevel("first", undefined);
    first.setBindings({ name: "renamed" });
    nameless.setBindings({ name: "named" });
    nameless.setBindings({ user: 1 });
    expect(names(loggers)).toEqual(["ROOT", "named", "renamed"]);
    loggers.setLevel("renamed", "DEBUG");
    loggers.setLevel("named", "TRACE");
    loggers.setLevel("first", "TRACE");
    first.debug("1");
    first.trace("no");
    nameless.trace("2");
    expect(out.written).toEqual(["1", "2"]);
    const [one, two] = [root.child({ name: "many" }), root.child({ name: "many" })];
    loggers.setLevel("many", "TRACE");
    one.setBindings({ name: "apart" });
    one.debug("no");
    two.debug("3");
    expect(out.written).toEqual(["1", "2", "3"]);
    expect(names(loggers)).toContain("apart");
  });

  test("and released: a detached copy is as it was", () => {
    const root = pino({}, messages());
    const prototype = Object.getPrototypeOf(Object.getPrototypeOf(root)) as object;
    const before = Object.getOwnPropertyDescriptors(prototype);
    const loggers = new Loggers();
    const other = new Loggers();
    const detaches = [loggers.attach(pinoLoggers(root)), other.attach(pinoLoggers(root))];
    detaches[0]!();
    root.child({ name: "seen-by-the-other" });
    expect([names(loggers), names(other)]).toEqual([["ROOT"], ["ROOT", "seen-by-the-other"]]);
    detaches[1]!();
    expect(Object.getOwnPropertyDescriptors(prototype)).toEqual(before);
  });

  test("once, although the application wrapped a method of a copy that was released and is watched again", () => {
    const root = pino({}, messages());
    const prototype = Object.getPrototypeOf(Object.getPrototypeOf(root)) as { child: unknown };
    const { child } = prototype;
    cleanups.push(() => Object.assign(prototype, { child }));
    const detach = new Loggers().attach(pinoLoggers(root));
    const inner = prototype.child as typeof root.child;
    prototype.child = function (this: unknown, ...values: unknown[]) {
      return Reflect.apply(inner, this, values);
    };
    detach();
    const loggers = new Loggers();
    cleanups.unshift(loggers.attach(pinoLoggers(root)));
    root.child({ name: "orders" });
    expect(names(loggers)).toEqual(["ROOT", "orders"]);
    expect(loggers.list().loggers.flatMap(({ warnings }) => warnings)).toEqual([]);
  });

  test("without a limit for one name: what went up comes back, in each of 5,000", () => {
    const out = messages();
    const root = pino({}, out);
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(root)));
    const requests = Array.from({ length: 2_500 }, (_, reqId) => root.child({ reqId }));
    const children = requests.flatMap((log) => [log.child({ name: "orders" }), log.child({ name: "orders" }, {})]);
    const levels = () => [...new Set(children.map(({ level }) => level))];
    loggers.setLevel("orders", "DEBUG");
    expect([levels(), loggers.get("orders")]).toMatchObject([["debug"], { effectiveLevel: "DEBUG" }]);
    loggers.setLevel("orders", undefined);
    expect(levels()).toEqual(["info"]);
    loggers.setLevel("ROOT", "ERROR");
    expect(levels()).toEqual(["error"]);
    loggers.setLevel("ROOT", undefined);
    expect(levels()).toEqual(["info"]);
  });

  test("by two actuators at once, which agree", () => {
    const out = messages();
    const root = pino({}, out);
    const [one, other] = [new Loggers(), new Loggers()];
    for (const loggers of [one, other]) cleanups.push(loggers.attach(pinoLoggers(root)));
    const child = root.child({ name: "a" });
    one.setLevel("a", "TRACE");
    expect(other.get("a")).toMatchObject({ configuredLevel: "TRACE" });
    other.setLevel("a", "WARN");
    child.info("no");
    expect(one.get("a")).toMatchObject({ configuredLevel: "WARN" });
  });
});

describe("limits of a destination are shown on the logger", () => {
  const warningsOf = (loggers: Loggers, name: string) => (loggers.get(name) as Logger).warnings;

  test.each(PINO_VERSIONS)("pino %s: multistream entries with levels of their own", (_, pino) => {
    const [all, errors] = [messages(), messages()];
    const root = pino(
      {},
      pino.multistream([
        { stream: all, level: "info" },
        { stream: errors, level: "error" },
      ]),
    );
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(root)));
    expect(warningsOf(loggers, "ROOT")).toEqual([expect.stringMatching(/multistream.*info, error/)]);
    loggers.setLevel("ROOT", "DEBUG");
    root.debug("dropped by the stream, as the warning says");
    expect(all.written).toEqual([]);
  });

  test.each(PINO_VERSIONS)("pino %s: transport targets in a worker", (_, pino) => {
    const transport = pino.transport({
      targets: [
        { target: "pino/file", level: "error", options: { destination: "/dev/null" } },
        { target: "pino/file", options: { destination: "/dev/null" } },
      ],
    });
    cleanups.push(() => transport.end());
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(pino({}, transport))));
    expect(warningsOf(loggers, "ROOT")).toEqual([expect.stringMatching(/pino\.transport.*levels of their own/)]);
  });

  test.each(PINO_VERSIONS)("pino %s: an ordinary destination has none", (_, pino) => {
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(pino({}, messages()))));
    expect(warningsOf(loggers, "ROOT")).toEqual([]);
  });
});

test("fastify's loggers of single requests are never managed, and follow a change while the request is in flight", async () => {
  const out: string[] = [];
  const app = fastify({ logger: { level: "info", stream: { write: (line: string) => void out.push(line) } } });
  cleanups.push(() => app.close());
  const loggers = new Loggers();
  cleanups.push(loggers.attach(pinoLoggers(app.log)));
  app.get("/", async (request) => {
    request.log.debug("before");
    loggers.setLevel("ROOT", "DEBUG");
    request.log.debug("after");
    return {};
  });
  await app.inject("/");
  await app.inject("/");
  const written = out.map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(written.filter((text) => text === "before" || text === "after")).toEqual(["after", "before", "after"]);
  expect(loggers.list().loggers.map(({ name }) => name)).toEqual(["ROOT"]);
});

describe.each(PINO_VERSIONS)("pino %s: loggers made for one request are collected", (_, pino) => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  const collect = async () => {
    await turn();
    gc();
    await turn();
  };

  test("and their names leave the list, unless a level is set on them", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    cleanups.push(() => vi.useRealTimers());
    const root = pino({}, messages());
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(root)));
    const kept = root.child({ name: "kept" });
    for (let index = 0; index < 50; index++) root.child({ reqId: index }).child({ name: `unique-${index}` });
    expect(names(loggers)).toHaveLength(52);
    loggers.setLevel("unique-7", "DEBUG");
    await collect();
    vi.advanceTimersByTime(1_000);
    expect(names(loggers)).toEqual(["ROOT", "kept", "unique-7"]);
    expect(kept.level).toBe("info");
  });

  test("and until then a level that is set for the next ones is in effect", async () => {
    const root = pino({}, messages());
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(root)));
    root.child({ name: "orders" });
    await collect();
    expect(loggers.effectiveLevel("orders")).toBe("INFO");
    expect(loggers.setLevel("orders", "DEBUG")).toMatchObject({ notices: [], result: { effectiveLevel: "DEBUG" } });
    expect(root.child({ name: "orders" }).level).toBe("debug");
  });

  test("without an operator who looks, as further ones are made", async () => {
    const root = pino({}, messages());
    let present = 0;
    const detach = pinoLoggers(root).attach({
      discovered: () => ++present > 0,
      gone: () => present--,
      changedOutside: () => {},
      reachChanged: () => {},
      levelAbove: () => "INFO",
      older: () => {},
      pushing: false,
      warn: () => {},
      retract: () => {},
    });
    cleanups.push(detach);
    for (let round = 0; round < 20; round++) {
      for (let index = 0; index < 100; index++) root.child({ name: `unique-${round}-${index}` });
      await collect();
    }
    expect(present).toBeLessThan(500);
  });
});

test.each([undefined, null, {}, { level: "info" }, console, "logger"])(
  "%j is refused: it is not a pino logger",
  (value) => {
    expect(() => pinoLoggers(value as never)).toThrow(/pino 8, 9 or 10/);
  },
);

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fastify from "fastify";
import { afterEach, describe, expect, test } from "vitest";
import { pinoLoggers } from "../../../../src/adapters/loggers/pino/index.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import type { Logger } from "../../../../src/loggers/view.ts";
import { messages, PINO_VERSIONS } from "../../../support/pino-versions.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});
const names = (loggers: Loggers): string[] => loggers.list().loggers.map(({ name }) => name);

describe.each(PINO_VERSIONS)("pino %s loggers are found", (_, pino) => {
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

  test("as second roots, given or made later", () => {
    const main = pino({}, messages());
    const given = pino({ name: "given", level: "error" }, messages());
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers([main, given])));
    pino({ name: "later", level: "debug" }, messages());
    pino({ level: "debug" }, messages());
    expect(loggers.list().loggers.map(({ name, configuredLevel }) => `${name}:${configuredLevel}`)).toEqual([
      "ROOT:INFO",
      "given:ERROR",
      "later:DEBUG",
    ]);
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
    cleanups.unshift(loggers.attach(pinoLoggers(root, { maxPerName: 1 })));
    root.child({ name: "orders" });
    expect(names(loggers)).toEqual(["ROOT", "orders"]);
    expect(loggers.list().loggers.flatMap(({ warnings }) => warnings)).toEqual([]);
  });

  test("up to a maximum for one name, of which the oldest are dropped first", () => {
    const out = messages();
    const root = pino({}, out);
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(root, { maxPerName: 2 })));
    const [oldest, middle, newest] = [1, 2, 3].map(() => root.child({ name: "orders" }));
    loggers.setLevel("orders", "DEBUG");
    oldest!.debug("no");
    middle!.debug("1");
    newest!.debug("2");
    expect(out.written).toEqual(["1", "2"]);
    loggers.setLevel("ROOT", "WARN");
    oldest!.info("no");
    expect(out.written).toHaveLength(2);
    expect((loggers.get("orders") as Logger).warnings).toEqual([
      "more than 2 loggers have this name: the oldest keep the level they have",
    ]);
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

test("a logger made for one request is collected with the request", async () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  const { default: pino } = await import("pino");
  const root = pino({}, messages());
  let gone = 0;
  const adapter = pinoLoggers(root, { maxPerName: 1_000 });
  const detach = adapter.attach({
    discovered: () => true,
    gone: () => gone++,
    changedOutside: () => {},
    reachChanged: () => {},
    older: () => {},
    levelAbove: () => "INFO",
    retract: () => {},
    pushing: false,
    warn: () => {},
  });
  cleanups.push(detach);
  for (let index = 0; index < 100; index++) root.child({ name: "request" });
  await expect
    .poll(() => {
      gc();
      return gone;
    })
    .toBeGreaterThan(90);
});

test.each([undefined, null, {}, { level: "info" }, console, "logger"])(
  "%j is refused: it is not a pino logger",
  (value) => {
    expect(() => pinoLoggers(value as never)).toThrow(/pino 8, 9 or 10/);
  },
);

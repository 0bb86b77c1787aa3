import { describe, expect, test } from "vitest";
import type { Level } from "../../../../src/loggers/level.ts";
import type { Logger as LoggerView } from "../../../../src/loggers/view.ts";
import { NEST_VERSIONS, type Nest } from "../../../support/nest-versions.ts";
import { callAll, managed, messages } from "./application.ts";

const WRITTEN: readonly (readonly [Level, readonly string[]])[] = [
  ["OFF", []],
  ["FATAL", ["fatal"]],
  ["ERROR", ["fatal", "error"]],
  ["WARN", ["fatal", "error", "warn"]],
  ["INFO", ["fatal", "error", "warn", "log"]],
  ["DEBUG", ["fatal", "error", "warn", "log", "debug"]],
  ["TRACE", ["fatal", "error", "warn", "log", "debug", "verbose"]],
];

/** Levels for the loggers that a caller makes, as Nest takes them. */
type Own = { logLevels?: ("warn" | "log")[] };

/** Every way in which an application writes under the context "Orders". */
const CALLERS: readonly (readonly [name: string, call: (nest: Nest, own: Own) => void])[] = [
  ["a Logger of the context", ({ Logger }) => callAll(new Logger("Orders"))],
  ["a Logger of the context, before a service of Nest's own", serving((nest) => callAll(new nest.Logger("Orders")))],
  ["a Logger without a context", ({ Logger }) => callAll(new Logger(), "Orders")],
  ["a Logger without a context, before a service", serving((nest) => callAll(new nest.Logger(), "Orders"))],
  [
    "a Logger that is the service",
    (nest) => {
      nest.Logger.overrideLogger(new nest.Logger());
      callAll(new nest.Logger("Orders"));
    },
  ],
  ["the static methods", ({ Logger }) => callAll(Logger, "Orders")],
  ["the static methods, before a service", serving((nest) => callAll(nest.Logger, "Orders"))],
  [
    "the static methods, before a Logger that is the service",
    (nest) => {
      nest.Logger.overrideLogger(new nest.Logger());
      callAll(nest.Logger, "Orders");
    },
  ],
  ["the service itself", serving((_, service) => callAll(service, "Orders"))],
  ["a ConsoleLogger of the application", ({ ConsoleLogger }, own) => callAll(new ConsoleLogger("Orders", own))],
  [
    "a subclass of ConsoleLogger that is injected and told its context",
    ({ ConsoleLogger }, own) => {
      class MyLogger extends ConsoleLogger {
        override log(message: unknown, ...rest: [string?]): void {
          super.log(message, ...rest);
        }
      }
      const logger = new MyLogger("", own);
      logger.setContext("Orders");
      callAll(logger);
    },
  ],
  [
    "a subclass of Logger",
    ({ Logger }) => {
      class MyLogger extends Logger {
        override warn(message: unknown): void {
          super.warn(message);
        }
      }
      callAll(new MyLogger("Orders"));
    },
  ],
];

function serving(call: (nest: Nest, service: object) => void): (nest: Nest, own: Own) => void {
  return (nest, own) => {
    const service = new nest.ConsoleLogger("", own);
    nest.Logger.overrideLogger(service);
    call(nest, service);
  };
}

describe.each(NEST_VERSIONS)("Nest %s writes what the levels say", (version, nest) => {
  const { Logger, ConsoleLogger } = nest;

  describe.each(CALLERS)("%s", (_, call) => {
    test.each(
      WRITTEN.flatMap(([level, written]) => [
        [level, written, "everything", {} as Own] as const,
        [level, written, "warnings", { logLevels: ["warn"] } as Own] as const,
      ]),
    )("%s: %j, while Nest itself lets through %s", (level, written, _, own) => {
      const { loggers, lines } = managed(nest);
      if (own.logLevels !== undefined) Logger.overrideLogger(own.logLevels);
      loggers.list();
      loggers.setLevel("Orders", level);
      call(nest, own);
      expect(messages(lines, "Orders")).toEqual(written);
      expect(lines).toHaveLength(written.length);
      expect(loggers.get("Orders")).toMatchObject({ configuredLevel: level, effectiveLevel: level, kind: "nestjs" });
    });

    test("follows ROOT, in both directions, unless it has a level of its own", () => {
      const { loggers, lines } = managed(nest);
      loggers.list();
      for (const [level, expected] of [
        ["INFO", 4],
        ["TRACE", 6],
        ["OFF", 0],
        ["DEBUG", 5],
      ] as const) {
        loggers.setLevel("ROOT", level);
        lines.length = 0;
        call(nest, {});
        expect(lines, level).toHaveLength(expected);
      }
      loggers.setLevel("Orders", "WARN");
      loggers.setLevel("ROOT", "TRACE");
      lines.length = 0;
      call(nest, {});
      expect(lines).toHaveLength(3);
    });
  });

  test("one context at a time: the others stay as they are", () => {
    const { loggers, lines } = managed(nest);
    const [orders, payment] = [new Logger("Orders"), new Logger("Payment")];
    loggers.list();
    loggers.setLevel("ROOT", "WARN");
    loggers.setLevel("Payment", "DEBUG");
    for (const logger of [orders, payment]) callAll(logger);
    expect(messages(lines, "Orders")).toEqual(["fatal", "error", "warn"]);
    expect(messages(lines, "Payment")).toEqual(["fatal", "error", "warn", "log", "debug"]);
    loggers.setLevel("Payment", undefined);
    lines.length = 0;
    for (const logger of [orders, payment]) callAll(logger);
    expect(messages(lines)).toEqual(["fatal", "error", "warn", "fatal", "error", "warn"]);
  });

  test("dots, colons and slashes make a hierarchy, also for levels set before a context is used", () => {
    const { loggers, lines } = managed(nest);
    loggers.list();
    loggers.setLevel("shop", "ERROR");
    loggers.setLevel("shop.orders.audit", "TRACE");
    for (const context of ["shop.orders", "shop:orders", "shop/orders"]) callAll(new Logger(context));
    expect(messages(lines)).toEqual(Array(3).fill(["fatal", "error"]).flat());
    lines.length = 0;
    callAll(new Logger("shop.orders.audit"));
    expect(lines).toHaveLength(6);
  });

  test("a context that is not a string is ignored", () => {
    const { loggers, lines } = managed(nest, { prefix: "nest" });
    loggers.list();
    loggers.setLevel("nest", "ERROR");
    callAll(new Logger(class {} as never));
    expect(lines.filter((line) => /^(WARN|LOG|DEBUG|VERBOSE) /.test(line))).toEqual([]);
    expect(loggers.list().loggers.map(({ name }) => name)).toEqual(["ROOT", "nest"]);
  });

  test("groups change their members", () => {
    const { loggers, lines } = managed(nest);
    loggers.setLevel("web", "ERROR");
    callAll(new Logger("Router"));
    expect(messages(lines)).toEqual(["fatal", "error"]);
  });

  test("records without a context go by ROOT", () => {
    const { loggers, lines } = managed(nest);
    loggers.list();
    loggers.setLevel("ROOT", "ERROR");
    callAll(new Logger());
    callAll(Logger);
    expect(messages(lines)).toEqual(["fatal", "error", "fatal", "error"]);
    loggers.setLevel("ROOT", "TRACE");
    lines.length = 0;
    callAll(new Logger());
    callAll(Logger);
    expect(lines).toHaveLength(12);
  });

  test.each([
    ["Logger", (logger: object) => logger],
    ["Logger, static", () => Logger],
  ])("the stack of an error is not a context, and is written: %s", (_, of) => {
    const { loggers, lines } = managed(nest);
    loggers.list();
    const stack = new Error("lost").stack!;
    const logger = of(new Logger()) as InstanceType<typeof Logger>;
    logger.error("failed", stack);
    logger.error("failed", stack, "Orders");
    expect(lines.filter((line) => line.startsWith("ERROR"))).toEqual(["ERROR failed", "ERROR [Orders] failed"]);
    expect(lines.filter((line) => line === "Error: lost")).toHaveLength(2);
    expect(loggers.list().loggers.map(({ name }) => name)).toEqual(["ROOT", "Orders"]);
    loggers.setLevel("Orders", "FATAL");
    lines.length = 0;
    logger.error("failed", stack, "Orders");
    // Since Nest 12 the stack may come last.
    if (Number(version) >= 12) logger.error("failed", "Orders", stack);
    expect(lines).toEqual([]);
  });

  test("isLevelEnabled is true if any context lets the level through, or the logger's own context if it has one", () => {
    const { loggers } = managed(nest);
    const service = new ConsoleLogger();
    Logger.overrideLogger(service);
    const [orders, payment] = [new ConsoleLogger("Orders"), new ConsoleLogger("Payment")];
    const enabled = (level: "debug" | "log") => [
      Logger.isLevelEnabled(level),
      service.isLevelEnabled(level),
      orders.isLevelEnabled(level),
      payment.isLevelEnabled(level),
    ];
    loggers.list();
    expect(enabled("debug")).toEqual([true, true, true, true]);
    loggers.setLevel("ROOT", "INFO");
    for (const logger of [orders, payment]) logger.log("x");
    expect(enabled("debug")).toEqual([false, false, false, false]);
    expect(enabled("log")).toEqual([true, true, true, true]);
    loggers.setLevel("Orders", "DEBUG");
    expect(enabled("debug")).toEqual([true, true, true, false]);
    Logger.overrideLogger(false);
    expect(Logger.isLevelEnabled("log")).toBe(false);
  });

  test("the effective level shows methods that the service lacks, and a warning shows that it filters again", () => {
    const { loggers } = managed(nest);
    class Terse {
      log(): void {}
      error(): void {}
      warn(): void {}
    }
    Logger.overrideLogger(new Terse());
    new Logger("Orders").log("x");
    const reached = (level: Level) => (loggers.setLevel("Orders", level).result as LoggerView).effectiveLevel;
    expect((["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"] as const).map(reached)).toEqual(
      "OFF ERROR ERROR WARN INFO INFO INFO".split(" "),
    );
    expect((loggers.get("ROOT") as LoggerView).warnings).toEqual([expect.stringMatching(/^Terse may keep a level/)]);
  });
});

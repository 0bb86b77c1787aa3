import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { nestjsLoggers } from "../../../../src/adapters/loggers/nestjs/index.ts";
import { pinoLoggers } from "../../../../src/adapters/loggers/pino/index.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import type { Logger as LoggerView } from "../../../../src/loggers/view.ts";
import { collectLines } from "../../../support/nest-lines.ts";
import { borrowNest, NEST_VERSIONS } from "../../../support/nest-versions.ts";
import { callAll, METHODS, managed, messages } from "./application.ts";

const names = (loggers: Loggers): string[] => loggers.list().loggers.map(({ name }) => name);

describe.each(NEST_VERSIONS)("Nest %s: contexts are found", (_, nest) => {
  const { Logger, ConsoleLogger } = nest;

  test("at their first use, from any code and at any level", () => {
    const { loggers } = managed(nest);
    const early = new Logger("Early");
    expect(names(loggers)).toEqual(["ROOT"]);
    early.verbose("x");
    Logger.warn("x", "Static");
    new Logger().log("x", "Argument");
    new ConsoleLogger("Own").log("x");
    loggers.setLevel("ROOT", "OFF");
    new Logger("Silent").debug("x");
    expect(names(loggers)).toEqual(["ROOT", "Argument", "Early", "Own", "Silent", "Static"]);
  });

  test("but not in parts of a message", () => {
    const { loggers, lines } = managed(nest);
    const logger = new Logger();
    const parts = ["4711", "ada@example.test", "what happened?", "a\nb", "x".repeat(101), "", "{}", "1.2.3"];
    for (const part of parts) logger.log("part", part);
    expect(names(loggers)).toEqual(["ROOT"]);
    expect(lines.length).toBeGreaterThanOrEqual(parts.length);
  });

  test("under a prefix, beside another library that has ROOT", () => {
    const out: string[] = [];
    const root = pino({ level: "warn" }, { write: (line: string) => void out.push(line) });
    const { loggers, lines } = managed(nest, { prefix: "nest" });
    onTestFinished(loggers.attach(pinoLoggers(root)));
    new Logger("Orders").debug("1");
    expect(loggers.list().loggers.map(({ name, configuredLevel, kind }) => [name, configuredLevel, kind])).toEqual([
      ["ROOT", "WARN", "pino"],
      ["nest", "TRACE", "nestjs"],
      ["nest.Orders", undefined, "nestjs"],
    ]);
    loggers.setLevel("nest", undefined);
    new Logger("Orders").log("no");
    loggers.setLevel("ROOT", "DEBUG");
    new Logger("Orders").debug("2");
    root.debug("3");
    expect([messages(lines), out.length]).toEqual([["1", "2"], 1]);
  });

  test("in a bounded number; the rest follows ROOT", () => {
    const { loggers, lines } = managed(nest);
    loggers.list();
    loggers.setLevel("ROOT", "ERROR");
    for (let id = 0; id < 10_100; id++) new Logger(`Order ${id}`).log("no");
    expect(loggers.list().loggers.length).toBe(10_001);
    expect((loggers.get("ROOT") as LoggerView).warnings).toEqual([expect.stringMatching(/too many contexts/)]);
    lines.length = 0;
    callAll(new Logger("Order 10099"));
    expect(messages(lines)).toEqual(["fatal", "error"]);
    lines.length = 0;
    callAll(new ConsoleLogger("Order 10099", { logLevels: ["warn"] }));
    expect(messages(lines)).toEqual(["fatal", "error", "warn"]);
    loggers.setLevel("Order 10099", "TRACE");
    loggers.setLevel("ROOT", "FATAL");
    lines.length = 0;
    callAll(new Logger("Order 10099"));
    expect(messages(lines)).toEqual(["fatal"]);
  });

  test("by two actuators at once, which agree", () => {
    const { loggers: one } = managed(nest);
    new Logger("Early").log("x");
    const other = new Loggers();
    onTestFinished(other.attach(nestjsLoggers(nest)));
    new Logger("Late").log("x");
    one.setLevel("Early", "WARN");
    other.setLevel("Late", "ERROR");
    new Logger("Inheriting").log("x");
    one.setLevel("ROOT", "DEBUG");
    for (const loggers of [one, other]) {
      expect(loggers.list().loggers.map(({ name, configuredLevel }) => `${name} ${configuredLevel}`)).toEqual([
        "ROOT DEBUG",
        "Early WARN",
        "Inheriting undefined",
        "Late ERROR",
      ]);
    }
  });
});

describe.each(NEST_VERSIONS)("Nest %s is restored", (_, nest) => {
  const { Logger, ConsoleLogger } = nest;
  const owners = [Logger, Logger.prototype, ConsoleLogger.prototype];
  const descriptors = () => owners.map((owner) => Object.getOwnPropertyDescriptors(owner));
  const methodsOf = () =>
    descriptors().map(({ staticInstanceRef, logLevels, ...rest }: Record<string, PropertyDescriptor>) => rest);

  test("as it was, by the last of two", () => {
    borrowNest(nest);
    collectLines();
    const before = descriptors();
    const [one, other] = [new Loggers(), new Loggers()];
    const detaches = [one.attach(nestjsLoggers(nest)), other.attach(nestjsLoggers(nest))];
    expect(methodsOf()).not.toEqual(before);
    detaches[0]!();
    detaches[0]!();
    new Logger("Orders").debug("x");
    expect(names(other)).toEqual(["ROOT", "Orders"]);
    expect(names(one)).toEqual(["ROOT"]);
    detaches[1]!();
    expect(descriptors()).toEqual(before);
  });

  test.each([
    ["a service", () => Logger.overrideLogger(new ConsoleLogger("", { logLevels: ["log"] }))],
    ["no service", () => Logger.overrideLogger(["log"])],
    ["a Logger for a service", () => Logger.overrideLogger(new Logger())],
  ])("and has ROOT's level then, for all contexts: %s", (_, prepare) => {
    const { loggers, lines, detach } = managed(nest);
    prepare();
    const before = methodsOf();
    const logger = new Logger("Orders");
    logger.log("x");
    loggers.setLevel("Orders", "TRACE");
    loggers.setLevel("ROOT", "WARN");
    detach();
    expect(methodsOf()).not.toEqual(before);
    lines.length = 0;
    for (const context of ["Orders", "Later"]) callAll(new Logger(context));
    expect(messages(lines)).toEqual(["fatal", "error", "warn", "fatal", "error", "warn"]);
  });

  test("except for a wrapper that the application added meanwhile", () => {
    const { log } = Logger.prototype;
    onTestFinished(() => {
      Logger.prototype.log = log;
    });
    const { loggers, lines, detach } = managed(nest);
    const before = Logger.prototype.log;
    const heard: unknown[] = [];
    Logger.prototype.log = function (this: object, ...args: [unknown]) {
      heard.push(args[0]);
      return Reflect.apply(before, this, args);
    };
    const wrapper = Logger.prototype.log;
    new Logger("Orders").log("1");
    loggers.setLevel("Orders", "OFF");
    detach();
    expect(Logger.prototype.log).toBe(wrapper);
    new Logger("Orders").log("2");
    new Logger("New").log("3");
    expect([heard, messages(lines)]).toEqual([
      ["1", "2", "3"],
      ["1", "2", "3"],
    ]);
  });

  test("and can be managed again", () => {
    const { loggers, detach } = managed(nest);
    loggers.list();
    loggers.setLevel("ROOT", "WARN");
    detach();
    const again = new Loggers();
    onTestFinished(again.attach(nestjsLoggers(nest)));
    const lines = collectLines();
    callAll(new Logger("Orders"));
    expect(again.get("ROOT")).toMatchObject({ configuredLevel: "WARN", baselineLevel: "WARN" });
    expect(messages(lines)).toEqual(METHODS.slice(0, 3));
    detach();
    const third = new Loggers();
    onTestFinished(third.attach(nestjsLoggers(nest)));
    again.setLevel("Orders", "ERROR");
    expect(third.get("Orders")).toMatchObject({ configuredLevel: "ERROR" });
  });

  test("with its default levels as undecided as they were", () => {
    const { loggers, detach } = managed(nest);
    const services = [new ConsoleLogger(), new ConsoleLogger("Own")] as unknown as {
      options: { logLevels: unknown };
    }[];
    const before = structuredClone(services.map(({ options }) => options.logLevels));
    Logger.overrideLogger(services[0] as never);
    callAll(services[1]!);
    loggers.list();
    detach();
    expect(services.map(({ options }) => options.logLevels)).toEqual(before);
  });
});

describe("what is refused", () => {
  const [, nest] = NEST_VERSIONS[0]!;
  test.each([undefined, null, {}, { Logger: nest.Logger }, { Logger: console, ConsoleLogger: class {} }, nest.Logger])(
    "%j: it is not Nest",
    (value) => {
      expect(() => nestjsLoggers(value as never)).toThrow(
        /\{ Logger, ConsoleLogger \} of @nestjs\/common 10, 11 or 12/,
      );
    },
  );

  test.each(["", "a\u0000b", "x".repeat(513)])("an invalid prefix: %j", (prefix) => {
    expect(() => nestjsLoggers(nest, { prefix })).toThrow(/name/);
  });
});

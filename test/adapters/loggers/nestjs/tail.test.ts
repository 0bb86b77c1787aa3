import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { nestjsLoggers } from "../../../../src/adapters/loggers/nestjs/index.ts";
import { LEVELS, type Level, levelVerbosity } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { type Heard, hear } from "../../../support/heard.ts";
import { NEST_VERSIONS, type Nest } from "../../../support/nest-versions.ts";
import { callAll, METHODS, managed } from "./application.ts";

const LEVEL_OF = {
  fatal: "FATAL",
  error: "ERROR",
  warn: "WARN",
  log: "INFO",
  debug: "DEBUG",
  verbose: "TRACE",
} as const;

/** As Nest writes it. */
const line = ({ logger, nativeLevel, message }: Heard) =>
  `${nativeLevel.toUpperCase()} ${logger === "ROOT" ? "" : `[${logger}] `}${message}`;

/** Every way from a call to a line. */
const CALLERS: readonly (readonly [name: string, call: (nest: Nest) => void])[] = [
  ["a Logger of the context", ({ Logger }) => callAll(new Logger("Orders"))],
  [
    "a Logger before a service of Nest's own",
    ({ Logger, ConsoleLogger }) => {
      Logger.overrideLogger(new ConsoleLogger());
      callAll(new Logger("Orders"));
    },
  ],
  ["a Logger without a context", ({ Logger }) => callAll(new Logger(), "Orders")],
  ["the static methods", ({ Logger }) => callAll(Logger, "Orders")],
  ["a ConsoleLogger of the application", ({ ConsoleLogger }) => callAll(new ConsoleLogger("Orders"))],
];

describe.each(NEST_VERSIONS)("the records of Nest %s", (version, nest) => {
  const { Logger, ConsoleLogger } = nest;

  /** A measured application whose root is at INFO, with one context. */
  function application() {
    const { loggers, lines } = managed(nest);
    new Logger("Orders").log("first");
    loggers.setLevel("ROOT", "TRACE");
    loggers.setLevel("Orders", "INFO");
    lines.length = 0;
    return { loggers, lines };
  }

  test.each(CALLERS)("are what was written, and hidden ones were not: %s", (_name, call) => {
    const { loggers, lines } = application();
    call(nest);
    const before = lines.splice(0);
    const { heard } = hear(loggers, { hidden: "DEBUG" });
    call(nest);
    const records = heard();
    expect(lines).toEqual(before);
    expect(records.filter(({ hidden }) => !hidden).map(line)).toEqual(before);
    expect(records.filter(({ hidden }) => hidden).map(line)).toEqual(["DEBUG [Orders] debug"]);
    expect(records.map(({ level }) => level)).toEqual(["FATAL", "ERROR", "WARN", "INFO", "DEBUG"]);
  });

  test("have objects as fields and the error with its stack, which a hidden one does not print either", () => {
    const { loggers, lines } = application();
    loggers.setLevel("Orders", "OFF");
    const { heard } = hear(loggers, { hidden: "INFO" });
    const logger = new Logger("Orders");
    const { stack } = new TypeError("because");
    const order = { id: 7 };
    logger.log("paid", order);
    order.id = 8;
    logger.error("failed", stack);
    logger.fatal("fatal", stack);
    expect(lines).toEqual([]);
    const [paid, failed] = heard();
    loggers.setLevel("Orders", "ERROR");
    logger.error("worse", stack);
    const [worse] = heard();
    const error = { type: "TypeError", message: "because", stack };
    expect(failed).toMatchObject({ hidden: true, message: "failed", fields: {}, error });
    expect(worse).toMatchObject({ hidden: false, message: "worse", error });
    expect(paid).toMatchObject({ hidden: true, message: "paid", fields: { id: 7 } });
    expect(lines.filter((text) => text.includes("because"))).toHaveLength(1);
  });

  test("hold an error that is the message, and messages that are functions, called once", () => {
    const { loggers, lines } = application();
    const { heard } = hear(loggers, { hidden: "DEBUG" });
    const logger = new Logger("Orders");
    let calls = 0;
    logger.log(() => `call ${++calls}`);
    logger.debug(() => {
      logger.log("from within");
      logger.debug("not from within");
      return `call ${++calls}`;
    });
    logger.log(class Named {});
    logger.error(new RangeError("far"));
    const records = heard();
    expect(records.slice(0, 3).map(({ message }) => message)).toEqual(["call 1", "call 2", "Named"]);
    expect(records[3]).toMatchObject({ message: "far", error: { type: "RangeError", message: "far" } });
    expect(lines.slice(0, 3)).toEqual(["call 1", "from within", "Named"].map((text) => `LOG [Orders] ${text}`));
  });

  test("change nothing in what is printed as JSON, where Nest 11 leaves functions out", () => {
    const { loggers, lines } = application();
    Logger.overrideLogger(new ConsoleLogger({ json: true, colors: false } as object));
    loggers.setLevel("Orders", "INFO");
    const logger = new Logger("Orders");
    const written = () => {
      for (const message of [() => () => "lazy", class Named {}, "text", { id: 7 }]) logger.log(message);
      return lines.splice(0).map((text) => text.replace(/"timestamp":\d+/, ""));
    };
    const before = written();
    const { heard } = hear(loggers, { hidden: "DEBUG" });
    expect(written()).toEqual(before);
    const isLeftOut = version === "11";
    const messages = heard().map(({ message }) => message);
    expect(messages).toEqual(isLeftOut ? ["", "", "text", ""] : ["lazy", "Named", "text", ""]);
  });

  test("only of wanted loggers and levels", () => {
    const { loggers } = application();
    const { heard } = hear(loggers, { names: ["Orders"], level: "WARN" });
    for (const context of ["Orders", "Users"]) callAll(new Logger(context));
    expect(heard().map(({ message }) => message)).toEqual(["fatal", "error", "warn"]);
  });

  test("are not hidden from a service that may do something else, which is not called", () => {
    const { loggers, lines } = application();
    const called: unknown[] = [];
    class MyLogger extends ConsoleLogger {
      override debug(message: unknown, ...rest: [string?]): void {
        called.push(message);
        super.debug(message, ...rest);
      }
    }
    Logger.overrideLogger(new MyLogger());
    loggers.setLevel("Orders", "INFO");
    const { heard } = hear(loggers, { hidden: "TRACE" });
    callAll(new Logger("Orders"));
    expect([called, lines.length]).toEqual([[], 4]);
    expect(heard().filter(({ hidden }) => hidden)).toMatchObject([{ message: "verbose" }]);
    const other = {
      log: (text: string) => called.push(text),
      warn: () => {},
      error: () => {},
      debug: () => called.push("no"),
    };
    Logger.overrideLogger(other);
    callAll(new Logger("Orders"));
    expect([called, heard()]).toEqual([["log"], []]);
  });

  test("that Nest buffers are heard when they are printed", () => {
    const { loggers, lines } = application();
    const { heard } = hear(loggers, { hidden: "DEBUG" });
    Logger.attachBuffer();
    callAll(new Logger("Orders"));
    expect([lines, heard()]).toEqual([[], []]);
    Logger.flush();
    expect(
      heard()
        .filter(({ hidden }) => !hidden)
        .map(line),
    ).toEqual(lines);
    expect(lines).toHaveLength(4);
  });

  test("written are the same with hidden ones, whatever happens meanwhile", () => {
    const level = fc.constantFrom<Level>(...LEVELS);
    const step = fc.record({
      context: fc.constantFrom("Orders", "Http", "Users"),
      method: fc.constantFrom(...METHODS),
      level,
      way: fc.constantFrom("logger", "static", "console"),
      act: fc.constantFrom("write", "write", "write", "application", "operator", "hear"),
    });
    const { loggers, lines } = application();
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const run = (hears: boolean) => {
          for (const name of ["ROOT", "Orders", "Http", "Users"]) loggers.setLevel(name, "INFO");
          lines.length = 0;
          let border: Level = "OFF";
          let ears = hears ? hear(loggers) : undefined;
          const expected: string[] = [];
          const told: string[] = [];
          for (const [at, { context, method, level, way, act }] of steps.entries()) {
            if (act === "application") Logger.overrideLogger(level === "OFF" ? [] : [method]);
            else if (act === "operator") loggers.setLevel(context, level);
            else if (act === "hear") {
              border = level;
              ears?.stop();
              ears = hears ? hear(loggers, { hidden: level }) : undefined;
            } else {
              const before = lines.length;
              const logger = way === "console" ? new ConsoleLogger(context) : new Logger(context);
              if (way === "static") Logger[method](`${at}`, context);
              else logger[method](`${at}`);
              const isHidden = lines.length === before;
              if (!isHidden || levelVerbosity(LEVEL_OF[method]) <= levelVerbosity(border))
                expected.push(`${at} ${isHidden}`);
            }
            told.push(...(ears?.heard() ?? []).map(({ message, hidden }) => `${message} ${hidden}`));
          }
          ears?.stop();
          return { lines: lines.splice(0), expected, told };
        };
        const [without, heard] = [run(false), run(true)];
        expect(heard.lines).toEqual(without.lines);
        expect(heard.told).toEqual(heard.expected);
      }),
      { numRuns: 60 },
    );
  });

  test("cause nothing in the application, also if a sink logs and throws", () => {
    const { loggers, lines } = application();
    const logger = new Logger("Orders");
    const take = () => {
      logger.log("from the sink");
      throw new Error("sink");
    };
    const { heard } = hear(loggers, { take, hidden: "DEBUG" });
    logger.log("one");
    logger.debug("two");
    expect(heard().map(({ message }) => message)).toEqual(["one", "two"]);
    expect(lines).toEqual(["from the sink", "one", "from the sink"].map((text) => `LOG [Orders] ${text}`));
  });

  test("leave no trace after 50 rounds, also of two actuators", () => {
    const { loggers } = application();
    const other = new Loggers();
    onTestFinished(other.attach(nestjsLoggers(nest)));
    const owners = [Logger, Logger.prototype, ConsoleLogger, ConsoleLogger.prototype];
    const state = () =>
      owners.map((owner) => {
        // These two Nest changes itself, with each record.
        const {
          lastTimestampAt: _,
          staticInstanceRef: __,
          ...rest
        } = Object.getOwnPropertyDescriptors(owner) as Record<string, PropertyDescriptor>;
        return [rest, Reflect.ownKeys(owner)];
      });
    const before = state();
    for (let round = 0; round < 50; round++) {
      const [one, two] = [hear(loggers, { hidden: "DEBUG" }), hear(other)];
      expect(state()).not.toEqual(before);
      callAll(new Logger("Orders"));
      expect([one.heard().length, two.heard().length]).toEqual([5, 4]);
      one.stop();
      callAll(new Logger("Orders"));
      expect([one.heard().length, two.heard().length]).toEqual([0, 4]);
      two.stop();
      expect(state()).toEqual(before);
    }
  });

  test("leave no trace with a measurement that ends later", () => {
    const { loggers } = application();
    const owners = [Logger, Logger.prototype, ConsoleLogger.prototype];
    const state = () => owners.map((owner) => METHODS.map((name) => Object.getOwnPropertyDescriptor(owner, name)));
    const before = state();
    const { stop } = hear(loggers);
    const measurement = loggers.measure();
    stop();
    measurement.end();
    expect(state()).toEqual(before);
  });

  test.each(version === "12" ? ["redact"] : [])("keep the secrets that Nest's own option %s hides", (option) => {
    const { loggers, lines } = application();
    Logger.overrideLogger(new ConsoleLogger({ [option]: ["iban", "buyer.name"], json: true } as object));
    loggers.setLevel("Orders", "INFO");
    const { heard } = hear(loggers, { hidden: "DEBUG" });
    for (const level of ["log", "debug"] as const)
      new Logger("Orders")[level]("paid", { iban: "DE1", buyer: { name: "Ann" } });
    const records = JSON.stringify(heard());
    expect(records).toMatch(/"hidden":false.*"hidden":true/);
    for (const text of [records, lines.join()]) expect(text).not.toMatch(/DE1|Ann/);
  });
});

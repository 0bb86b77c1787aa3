import { describe, expect, onTestFinished, test } from "vitest";
import { nestjsLoggers } from "../../../../src/adapters/loggers/nestjs/index.ts";
import { LEVELS, type Level } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import type { CallReport } from "../../../../src/loggers/measurement.ts";
import { NEST_VERSIONS, type Nest } from "../../../support/nest-versions.ts";
import { callAll, managed } from "./application.ts";

/** The levels with calls of each logger: `emitted+suppressed`. */
function counts({ loggers }: CallReport): Record<string, Partial<Record<Level, string>>> {
  const found: Record<string, Partial<Record<Level, string>>> = {};
  for (const { name, emitted, suppressed } of loggers) {
    const calls = LEVELS.map((level, at) => [level, `${emitted[at]}+${suppressed[at]}`] as const);
    found[name] = Object.fromEntries(calls.filter(([, count]) => count !== "0+0"));
  }
  return found;
}

function measure(loggers: Loggers, namePrefix = "") {
  const measurement = loggers.measure({ namePrefix });
  onTestFinished(() => measurement.end());
  return measurement;
}

const AT_INFO = { FATAL: "1+0", ERROR: "1+0", WARN: "1+0", INFO: "1+0", DEBUG: "0+1", TRACE: "0+1" };

function serving(call: (nest: Nest, service: object) => void): (nest: Nest) => void {
  return (nest) => {
    const service = new nest.ConsoleLogger();
    nest.Logger.overrideLogger(service);
    call(nest, service);
  };
}

/** Every way from a call to a line, with one method of Nest's or several on it. */
const CALLERS: readonly (readonly [name: string, call: (nest: Nest) => void])[] = [
  ["a Logger of the context", ({ Logger }) => callAll(new Logger("Orders"))],
  ["a Logger, before a service of Nest's own", serving(({ Logger }) => callAll(new Logger("Orders")))],
  ["a Logger without a context", ({ Logger }) => callAll(new Logger(), "Orders")],
  ["the static methods", ({ Logger }) => callAll(Logger, "Orders")],
  [
    "the static methods, before a Logger that is the service",
    ({ Logger }) => {
      Logger.overrideLogger(new Logger());
      callAll(Logger, "Orders");
    },
  ],
  ["the service itself", serving((_, service) => callAll(service, "Orders"))],
  ["a ConsoleLogger of the application", ({ ConsoleLogger }) => callAll(new ConsoleLogger("Orders"))],
  [
    "a subclass of ConsoleLogger that changes the message",
    ({ Logger, ConsoleLogger }) => {
      class MyLogger extends ConsoleLogger {
        override warn(message: unknown, ...rest: [string?]): void {
          super.warn(`careful: ${message}`, ...rest);
        }
      }
      Logger.overrideLogger(new MyLogger());
      callAll(new Logger("Orders"));
    },
  ],
];

describe.each(NEST_VERSIONS)("a measurement of Nest %s", (_, nest) => {
  const { Logger, ConsoleLogger } = nest;

  test.each(CALLERS)("counts each record once, and leaves the lines alone: %s", (_name, call) => {
    const { loggers, lines } = managed(nest);
    call(nest);
    loggers.setLevel("ROOT", "TRACE");
    loggers.setLevel("Orders", "INFO");
    lines.length = 0;
    call(nest);
    const written = lines.splice(0);
    expect(written).toHaveLength(4);
    const measurement = measure(loggers);
    call(nest);
    expect(lines).toEqual(written);
    expect(counts(measurement.report())).toEqual({ Orders: AT_INFO });
  });

  test("counts contexts found meanwhile, records without a context, and only names with the prefix", () => {
    const { loggers } = managed(nest);
    loggers.setLevel("ROOT", "INFO");
    const measurement = measure(loggers);
    new Logger("Late").debug("x");
    new Logger().log("no context at all");
    expect(counts(measurement.report())).toEqual({ ROOT: { INFO: "1+0" }, Late: { DEBUG: "0+1" } });
    measurement.end();
    const ofOrders = measure(loggers, "Orders");
    for (const context of ["Orders", "OrdersLater", "Users"]) new Logger(context).warn("x");
    expect(Object.keys(counts(ofOrders.report()))).toEqual(["Orders", "OrdersLater"]);
  });

  test("goes by the name with its prefix", () => {
    const { loggers } = managed(nest, { prefix: "nest" });
    const measurement = measure(loggers);
    new Logger("Orders").warn("x");
    new Logger().warn("x");
    expect(counts(measurement.report())).toEqual({ nest: { WARN: "1+0" }, "nest.Orders": { WARN: "1+0" } });
  });

  test("does not count a ConsoleLogger that keeps its own levels", () => {
    const { loggers, lines } = managed(nest);
    const measurement = measure(loggers);
    new ConsoleLogger().warn("x");
    expect([lines.length, counts(measurement.report())]).toEqual([1, {}]);
  });

  test("counts a record within a record if it has another context", () => {
    const { loggers } = managed(nest);
    const inner = new Logger("Audit");
    Logger.overrideLogger({
      log: (_message: string, context: string) => {
        if (context === "Orders") inner.log("seen");
      },
      warn: () => {},
      error: () => {},
    });
    const measurement = measure(loggers);
    new Logger("Orders").log("x");
    // The service has no method for it: nothing can be written, whatever the level.
    new Logger("Orders").verbose("x");
    expect(counts(measurement.report())).toEqual({ Orders: { INFO: "1+0", TRACE: "0+1" }, Audit: { INFO: "1+0" } });
  });

  test("stays right when operators and the application change levels meanwhile", () => {
    const { loggers, lines } = managed(nest);
    const logger = new Logger("Orders");
    loggers.setLevel("ROOT", "INFO");
    const measurement = measure(loggers);
    logger.debug("suppressed");
    loggers.setLevel("Orders", "DEBUG");
    logger.debug("emitted");
    loggers.setLevel("Orders", undefined);
    logger.debug("suppressed");
    Logger.overrideLogger(["debug", "log"]);
    logger.debug("emitted");
    Logger.overrideLogger(false);
    logger.debug("suppressed");
    expect(counts(measurement.report())).toEqual({ Orders: { DEBUG: "2+3" } });
    expect(lines).toEqual(["DEBUG [Orders] emitted", "DEBUG [Orders] emitted"]);
  });

  test("counts a record that Nest buffers once, also if a service throws", () => {
    const { loggers, lines } = managed(nest);
    loggers.setLevel("ROOT", "INFO");
    const logger = new Logger("Orders");
    const measurement = measure(loggers);
    Logger.attachBuffer();
    logger.log("kept back");
    logger.debug("withheld");
    expect(lines).toEqual([]);
    Logger.flush();
    expect(lines).toEqual(["LOG [Orders] kept back"]);
    const failing = () => {
      throw new Error("full");
    };
    Logger.overrideLogger({ log: failing, warn: failing, error: failing });
    expect(() => logger.log("x")).toThrow("full");
    expect(() => logger.log("x")).toThrow("full");
    expect(counts(measurement.report())).toEqual({ Orders: { INFO: "3+0", DEBUG: "0+1" } });
  });

  test("leaves no trace: the classes have what they had", () => {
    const { loggers } = managed(nest);
    new Logger("Orders").log("x");
    const owners = [Logger, Logger.prototype, ConsoleLogger, ConsoleLogger.prototype];
    const state = () =>
      owners.map((owner) => {
        const {
          lastTimestampAt: _,
          staticInstanceRef: __,
          ...rest
        } = Object.getOwnPropertyDescriptors(owner) as Record<string, PropertyDescriptor>;
        // Those two Nest changes itself, with each record.
        return rest;
      });
    const keys = () => owners.map((owner) => Reflect.ownKeys(owner));
    const [before, order] = [state(), keys()];
    const measurement = measure(loggers);
    expect(state()).not.toEqual(before);
    callAll(new Logger("Orders"));
    measurement.end();
    expect(state()).toEqual(before);
    expect(keys()).toEqual(order);
    new Logger("Orders").log("x");
    expect(counts(measurement.report())).toEqual({ Orders: { ...AT_INFO, DEBUG: "1+0", TRACE: "1+0" } });
  });

  test("keeps methods that the application put there meanwhile, which count no more", () => {
    const { loggers, lines } = managed(nest);
    const own = Object.getOwnPropertyDescriptor(Logger.prototype, "log")!;
    onTestFinished(() => void Object.defineProperty(Logger.prototype, "log", own));
    const measurement = measure(loggers);
    const inner = Logger.prototype.log;
    Logger.prototype.log = function (this: object, ...values: unknown[]) {
      Reflect.apply(inner, this, values);
    };
    const replaced = Logger.prototype.log;
    measurement.end();
    new Logger("Orders").log("x");
    expect(Logger.prototype.log).toBe(replaced);
    expect([lines, counts(measurement.report())]).toEqual([["LOG [Orders] x"], {}]);
    const again = measure(loggers);
    new Logger("Orders").log("x");
    expect(counts(again.report())).toEqual({ Orders: { INFO: "1+0" } });
  });

  test("is separate for each actuator, and ends with the adapter", () => {
    const { loggers, detach } = managed(nest);
    const other = new Loggers();
    onTestFinished(other.attach(nestjsLoggers(nest)));
    const before = Object.getOwnPropertyDescriptors(Logger.prototype);
    const [one, two] = [measure(loggers), measure(other)];
    new Logger("Orders").log("x");
    detach();
    new Logger("Orders").log("x");
    expect([counts(one.report()), counts(two.report())]).toEqual([
      { Orders: { INFO: "1+0" } },
      { Orders: { INFO: "2+0" } },
    ]);
    two.end();
    expect(Object.getOwnPropertyDescriptors(Logger.prototype)).toEqual(before);
  });
});

import { describe, expect, onTestFinished, test } from "vitest";
import { nestjsLoggers } from "../../../../src/adapters/loggers/nestjs/index.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import type { Logger as LoggerView } from "../../../../src/loggers/view.ts";
import { collectLines } from "../../../support/nest-lines.ts";
import { borrowNest, NEST_VERSIONS, type Nest } from "../../../support/nest-versions.ts";
import { callAll, METHODS, managed, messages } from "./application.ts";

/** What applications do about logging. A function in return writes more lines, as often as it is called. */
const APPLICATIONS: readonly (readonly [name: string, make: (nest: Nest) => unknown])[] = [
  ["nothing", () => () => {}],
  ["levels for all", ({ Logger }) => Logger.overrideLogger(["warn"])],
  ["no levels for all", ({ Logger }) => Logger.overrideLogger([])],
  ["levels with a gap", ({ Logger }) => Logger.overrideLogger(["error", "verbose"])],
  ["no logging", ({ Logger }) => Logger.overrideLogger(false)],
  ["a service", ({ Logger, ConsoleLogger }) => Logger.overrideLogger(new ConsoleLogger())],
  [
    "a service with levels",
    ({ Logger, ConsoleLogger }) => Logger.overrideLogger(new ConsoleLogger("App", { logLevels: ["log", "debug"] })),
  ],
  [
    "a service with levels, changed",
    ({ Logger, ConsoleLogger }) => {
      const service = new ConsoleLogger("", { logLevels: ["log", "debug"] });
      Logger.overrideLogger(service);
      service.setLogLevels(["fatal"]);
    },
  ],
  ["a Logger for a service", ({ Logger }) => Logger.overrideLogger(new Logger())],
  [
    "levels for all and a Logger for a service",
    ({ Logger }) => {
      Logger.overrideLogger(["warn"]);
      Logger.overrideLogger(new Logger());
    },
  ],
  [
    "levels for all and a service that obeys them",
    ({ Logger }) => {
      Logger.overrideLogger(obedient());
      Logger.overrideLogger(["warn"]);
    },
  ],
  [
    "a service around a quieter one",
    ({ Logger, ConsoleLogger }) => {
      for (const inner of [
        new ConsoleLogger("", { logLevels: ["warn"] }),
        new ConsoleLogger("Inner", { logLevels: ["warn"] }),
      ]) {
        const call =
          (method: "log" | "warn" | "error") =>
          (...args: [unknown]) =>
            inner[method](...args);
        Logger.overrideLogger({ log: call("log"), warn: call("warn"), error: call("error") });
      }
    },
  ],
  [
    "loggers of its own with other levels than the rest",
    ({ Logger, ConsoleLogger }) => {
      Logger.overrideLogger(new ConsoleLogger("", { logLevels: ["log"] }));
      const loggers = [
        new ConsoleLogger("Verbose", { logLevels: ["verbose"] }),
        new ConsoleLogger("Quiet", { logLevels: ["fatal"] }),
        new ConsoleLogger("Default"),
        new ConsoleLogger("", { logLevels: ["error"] }),
      ];
      return () => {
        for (const logger of loggers) callAll(logger);
        callAll(loggers[3]!, "Orders");
      };
    },
  ],
];

/** A service of the application that takes levels, and writes lines of its own. */
function obedient() {
  let levels: readonly string[] = METHODS;
  const write = (level: string) => (message: unknown) => {
    if (levels.includes(level)) process.stdout.write(`${message}\n`);
  };
  return {
    ...({ log: write("log"), error: write("error"), warn: write("warn"), debug: write("debug") } as const),
    setLogLevels: (names: readonly string[]) => {
      levels = names;
    },
  };
}

describe.each(NEST_VERSIONS)("Nest %s with", (_, nest) => {
  const { Logger } = nest;
  const write = (more: () => void) => {
    more();
    callAll(new Logger("Orders"));
    callAll(new Logger());
    callAll(new Logger(), "Payment");
    callAll(Logger, "Orders");
    callAll(Logger);
  };

  test.each(APPLICATIONS)("%s writes the same lines when the adapter comes, and when it has gone", (_, make) => {
    borrowNest(nest);
    const lines = collectLines();
    const more = (make(nest) ?? (() => {})) as () => void;
    write(more);
    const bare = lines.splice(0);
    const loggers = new Loggers();
    const detach = loggers.attach(nestjsLoggers(nest));
    onTestFinished(detach);
    write(more);
    expect(lines.splice(0)).toEqual(bare);
    loggers.list();
    write(more);
    expect(lines.splice(0)).toEqual(bare);
    detach();
    write(more);
    expect(lines).toEqual(bare);
  });
});

describe.each(NEST_VERSIONS)("Nest %s: what the application sets is adopted", (version, nest) => {
  const { Logger, ConsoleLogger } = nest;
  const rootOf = (loggers: Loggers) => loggers.get("ROOT") as LoggerView;

  test.each<[name: string, act: (service: InstanceType<Nest["ConsoleLogger"]>) => unknown, level: string]>([
    ["levels for all", () => Logger.overrideLogger(["warn", "error"]), "WARN"],
    ["levels with a gap", () => Logger.overrideLogger(["debug", "error"]), "DEBUG"],
    ["no levels", () => Logger.overrideLogger([]), "OFF"],
    ["levels of the service", (service) => service.setLogLevels(["log"]), "INFO"],
    ["another service", () => Logger.overrideLogger(new ConsoleLogger("", { logLevels: ["error"] })), "ERROR"],
    ["a Logger for a service", () => Logger.overrideLogger(new Logger()), "TRACE"],
    ["no logging", () => Logger.overrideLogger(false), "OFF"],
    ["a service whose levels cannot be known", () => Logger.overrideLogger({ ...console }), "DEBUG"],
    ["another service with the levels that the first one had", () => Logger.overrideLogger(quiet()), "DEBUG"],
    [
      "levels for all if the service takes them",
      () => {
        Logger.overrideLogger(obedient());
        Logger.overrideLogger(["error"]);
      },
      "ERROR",
    ],
    [
      "levels for all if the service takes none",
      () => {
        Logger.overrideLogger({ ...console });
        // Nest 10 fails here.
        if (Number(version) >= 11) Logger.overrideLogger(["error"]);
      },
      "DEBUG",
    ],
    [
      "levels for all if a Logger is the service",
      () => {
        Logger.overrideLogger(new Logger());
        if (Number(version) >= 11) Logger.overrideLogger(["fatal"]);
        else Logger.overrideLogger(new ConsoleLogger("", { logLevels: ["fatal"] }));
      },
      "FATAL",
    ],
    ["the same service again", (service) => Logger.overrideLogger(service), "DEBUG"],
  ])("%s", (_, act, level) => {
    const { loggers } = managed(nest);
    const service = quiet();
    Logger.overrideLogger(service);
    expect(rootOf(loggers)).toMatchObject({ configuredLevel: "WARN", baselineLevel: "WARN" });
    loggers.setLevel("ROOT", "DEBUG");
    act(service);
    expect(rootOf(loggers)).toMatchObject({ configuredLevel: level, baselineLevel: "WARN" });
  });

  function quiet(): InstanceType<Nest["ConsoleLogger"]> {
    return new ConsoleLogger("", { logLevels: ["warn"] });
  }

  test("once, however many methods Nest calls for it", () => {
    const { loggers } = managed(nest);
    loggers.list();
    const before = loggers.revision;
    Logger.overrideLogger(["error"]);
    expect(loggers.revision).toBe(before + 1);
    Logger.overrideLogger(["error"]);
    expect(loggers.revision).toBe(before + 1);
  });

  test("also levels that the service took before the first record", () => {
    const { loggers } = managed(nest);
    Logger.overrideLogger(obedient());
    Logger.overrideLogger(["warn"]);
    expect(rootOf(loggers)).toMatchObject({ configuredLevel: "WARN", baselineLevel: "WARN" });
  });

  test("levels of all reach the contexts that inherit, and no others", () => {
    const { loggers, lines } = managed(nest);
    const [orders, payment] = [new Logger("Orders"), new Logger("Payment")];
    callAll(orders);
    loggers.setLevel("Payment", "DEBUG");
    Logger.overrideLogger(["error"]);
    lines.length = 0;
    callAll(orders);
    expect(messages(lines)).toEqual(["fatal", "error"]);
    expect(loggers.get("Orders")).toMatchObject({ configuredLevel: undefined, effectiveLevel: "ERROR" });
    lines.length = 0;
    callAll(payment);
    expect(lines).toHaveLength(5);
  });

  test("levels of a logger of the application's own are those of its context", () => {
    const { loggers, lines } = managed(nest);
    const audit = new ConsoleLogger("Audit", { logLevels: ["error"] });
    callAll(audit);
    expect(loggers.get("Audit")).toMatchObject({ configuredLevel: "ERROR", baselineLevel: "ERROR" });
    loggers.setLevel("Audit", "INFO");
    lines.length = 0;
    callAll(audit);
    expect(lines).toHaveLength(4);
    audit.setLogLevels(["fatal"]);
    expect(loggers.get("Audit")).toMatchObject({ configuredLevel: "FATAL", baselineLevel: "ERROR" });
    loggers.setLevel("Audit", undefined);
    lines.length = 0;
    callAll(audit);
    expect(lines).toHaveLength(6);
  });

  test("levels with a gap are kept until others are set, and come back with the level", () => {
    const { loggers, lines } = managed(nest);
    Logger.overrideLogger(["error", "debug"]);
    const written = (level?: "INFO" | "DEBUG") => {
      if (level !== undefined) loggers.setLevel("ROOT", level);
      lines.length = 0;
      callAll(new Logger("Orders"));
      return messages(lines);
    };
    expect(written()).toEqual(["fatal", "error", "debug"]);
    expect(written("INFO")).toEqual(["fatal", "error", "warn", "log"]);
    expect(written("DEBUG")).toEqual(["fatal", "error", "debug"]);
    loggers.setLevel("Orders", "DEBUG");
    expect(written()).toEqual(["fatal", "error", "warn", "log", "debug"]);
  });

  test("logging that is switched off reaches no level until it is back", () => {
    const { loggers, lines } = managed(nest);
    const logger = new Logger("Orders");
    callAll(logger);
    callAll(new Logger("Cleared"));
    loggers.setLevel("Cleared", "FATAL");
    loggers.setLevel("Cleared", undefined);
    loggers.setLevel("Orders", "DEBUG");
    Logger.overrideLogger(false);
    expect(loggers.get("Orders")).toMatchObject({ configuredLevel: "DEBUG", effectiveLevel: "OFF" });
    expect(rootOf(loggers).warnings).toEqual([expect.stringMatching(/switched off/)]);
    lines.length = 0;
    callAll(logger);
    expect(lines).toEqual([]);
    Logger.overrideLogger(new ConsoleLogger("", { logLevels: ["warn"] }));
    expect(loggers.get("Orders")).toMatchObject({ configuredLevel: "DEBUG", effectiveLevel: "DEBUG" });
    expect(loggers.get("Cleared")).toMatchObject({ configuredLevel: undefined, effectiveLevel: "WARN" });
    callAll(logger);
    expect(lines).toHaveLength(5);
    loggers.setLevel("ROOT", "ERROR");
    lines.length = 0;
    callAll(new Logger("Cleared"));
    expect(lines).toHaveLength(2);
  });
});

describe.each(NEST_VERSIONS)("Nest %s: the service of the application stays in place", (version, nest) => {
  const { Logger, ConsoleLogger } = nest;

  class Shouting extends ConsoleLogger {
    #shouted = 0;
    override log(message: unknown, ...rest: unknown[]): void {
      this.#shouted++;
      super.log(`${String(message).toUpperCase()}${this.#shouted}`, ...rest);
    }
  }

  type Row = readonly [name: string, service: () => InstanceType<Nest["ConsoleLogger"]>, line: RegExp];
  const since11: readonly Row[] = [
    ["its prefix", () => new ConsoleLogger({ prefix: "Shop" }), /^Shop LOG \[Orders\] paid$/],
    ["JSON", () => new ConsoleLogger({ json: true }), /^\{"level":"log",.*"message":"paid","context":"Orders"\}$/],
  ];

  test.each<Row>([
    ["a subclass with private fields", () => new Shouting(), /^LOG \[Orders\] PAID1$/],
    ["its time since the record before", () => new ConsoleLogger("", { timestamp: true }), /^LOG \[Orders\] paid/],
    ...(Number(version) >= 11 ? since11 : []),
  ])("%s", (_, service, line) => {
    const { loggers, lines } = managed(nest);
    Logger.overrideLogger(service());
    loggers.list();
    loggers.setLevel("ROOT", "OFF");
    new Logger("Orders").log("paid");
    expect(lines).toEqual([]);
    loggers.setLevel("Orders", "INFO");
    new Logger("Orders").log("paid");
    expect(lines).toEqual([expect.stringMatching(line)]);
  });

  test("a service other than ConsoleLogger is called only for what the context lets through", () => {
    const { loggers } = managed(nest);
    const calls: unknown[][] = [];
    const call =
      (level: string) =>
      (...args: unknown[]) =>
        void calls.push([level, ...args]);
    Logger.overrideLogger({ log: call("log"), error: call("error"), warn: call("warn"), debug: call("debug") });
    loggers.setLevel("Orders", "DEBUG");
    loggers.setLevel("Payment", "WARN");
    for (const context of ["Orders", "Payment"]) {
      const logger = new Logger(context);
      logger.debug("d", { id: 1 });
      logger.warn("w");
    }
    expect(calls).toEqual([
      ["debug", "d", { id: 1 }, "Orders"],
      ["warn", "w", "Orders"],
      ["warn", "w", "Payment"],
    ]);
  });

  test.each<[name: string, service: () => unknown]>([
    ["none", () => ["log"]],
    ["a ConsoleLogger", () => new ConsoleLogger()],
    ["a subclass of it", () => new Shouting()],
    ["a Logger", () => new Logger()],
  ])("a service without levels of its own shows no warning: %s", (_, service) => {
    const { loggers } = managed(nest);
    Logger.overrideLogger(service() as never);
    expect((loggers.list().loggers[0] as LoggerView).warnings).toEqual([]);
  });

  test("a service that decides by itself what is enabled shows a warning", () => {
    const { loggers } = managed(nest);
    class Stubborn extends ConsoleLogger {
      override isLevelEnabled(): boolean {
        return false;
      }
    }
    Logger.overrideLogger(new Stubborn());
    expect((loggers.list().loggers[0] as LoggerView).warnings).toEqual([expect.stringMatching(/^Stubborn/)]);
  });

  test("buffered records are judged when the buffer is flushed, in their order", () => {
    const { loggers, lines } = managed(nest);
    Logger.overrideLogger(["warn"]);
    loggers.list();
    Logger.attachBuffer();
    onTestFinished(() => Logger.detachBuffer());
    const logger = new Logger("Orders");
    for (const method of ["warn", "debug", "log"] as const) logger[method](method);
    Logger.debug("debug", "Payment");
    loggers.setLevel("Payment", "WARN");
    Logger.overrideLogger(new ConsoleLogger("", { logLevels: ["debug"] }));
    expect(lines).toEqual([]);
    Logger.flush();
    expect(lines).toEqual(["WARN [Orders] warn", "DEBUG [Orders] debug", "LOG [Orders] log"]);
  });
});

/** What a call of log4js, LogTape, NestJS, debug and the console costs before, while and after a tail is open, beside it as it is. */
import { Console } from "node:console";
import { Writable } from "node:stream";
import { configureSync, getLogger } from "@logtape/logtape";
import { ConsoleLogger, Logger } from "@nestjs/common";
import debug from "debug";
import log4js from "log4js";
import { consoleLogger } from "../src/adapters/loggers/console/index.ts";
import { debugLoggers } from "../src/adapters/loggers/debug/index.ts";
import { log4jsLoggers } from "../src/adapters/loggers/log4js/index.ts";
import { logtapeLoggers } from "../src/adapters/loggers/logtape/index.ts";
import { nestjsLoggers } from "../src/adapters/loggers/nestjs/index.ts";
import type { LoggerAdapter, RecordSink } from "../src/loggers/adapter.ts";
import { levelVerbosity } from "../src/loggers/level.ts";
import { Loggers } from "../src/loggers/loggers.ts";
import { Entry } from "../src/logs/entry.ts";
import { type Call, compareCalls } from "./support/calls.ts";

const NAME = "app.orders";
const TRACE = levelVerbosity("TRACE");
const TRAINING = 20_000;
/** How many records a ring keeps. */
const KEPT = 4_096;

/** A library that writes to nowhere at INFO, or debug, which has one level. */
interface Library {
  adapter(): LoggerAdapter;
  enabled(): void;
  /** Missing if it hides nothing. */
  disabled?(): void;
}

const fields = { order: 4711, state: "paid" };

const libraries: Readonly<Record<string, () => Library>> = {
  log4js() {
    const nothing = { type: { configure: () => () => {} } };
    const categories = { default: { appenders: ["nothing"], level: "info" } };
    log4js.configure({ appenders: { nothing }, categories } as unknown as log4js.Configuration);
    const logger = log4js.getLogger(NAME);
    return {
      adapter: () => log4jsLoggers(log4js),
      enabled: () => logger.info("order is paid", fields),
      disabled: () => logger.debug("order is paid", fields),
    };
  },
  logtape() {
    const meta = { category: ["logtape", "meta"], lowestLevel: "error" as const };
    const loggers = [{ category: [], sinks: ["nothing"], lowestLevel: "info" as const }, meta];
    configureSync({ sinks: { nothing: () => {} }, loggers });
    const logger = getLogger(["app", "orders"]);
    return {
      adapter: () => logtapeLoggers(),
      enabled: () => logger.info("order is paid", fields),
      disabled: () => logger.debug("order is paid", fields),
    };
  },
  nestjs() {
    process.stdout.write = () => true;
    Logger.overrideLogger(new ConsoleLogger({ json: true, logLevels: ["log"] }));
    const logger = new Logger(NAME);
    return {
      adapter: () => nestjsLoggers({ Logger, ConsoleLogger }),
      enabled: () => logger.log("order is paid", fields),
      disabled: () => logger.debug("order is paid", fields),
    };
  },
  debug() {
    debug.log = () => {};
    debug.enable("app:*");
    const logger = debug("app:orders");
    return { adapter: () => debugLoggers(debug), enabled: () => logger("order is paid", fields) };
  },
  console() {
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    const written = new Console(nowhere, nowhere);
    return { adapter: () => consoleLogger(), enabled: () => written.log("order is paid", fields) };
  },
};

interface Application {
  readonly library: Library;
  readonly loggers: Loggers | undefined;
}

function sink(hiddenVerbosity = 0): RecordSink {
  const ring: Entry[] = [];
  return {
    verbosity: TRACE,
    hiddenVerbosity,
    take(record) {
      if (ring.length === KEPT) ring.length = 0;
      ring.push(new Entry(NAME, "any", Date.now(), record, undefined));
    },
  };
}

function train({ enabled, disabled }: Library): void {
  for (let count = 0; count < TRAINING; count++) {
    enabled();
    disabled?.();
  }
}

/** What happens to the loggers before a call is measured. */
const before: Readonly<Record<string, (loggers: Loggers, library: Library) => void>> = {
  "no tail": () => {},
  "a tail of other loggers": (loggers) => void loggers.hear(() => undefined),
  "a tail that matches": (loggers) => void loggers.hear(() => sink()),
  "made for a tail alone, beside a written one": (loggers) => void loggers.hear(() => sink(TRACE), true),
  "after 50 tails": (loggers, library) => {
    for (let round = 0; round < 50; round++) {
      const hides = round % 2 === 0;
      loggers.hear(() => sink(hides ? TRACE : 0), hides);
      for (let count = 0; count < 500; count++) library.enabled();
      loggers.hear(undefined);
    }
    train(library);
  },
};

const DISABLED = "made for a tail alone, beside a written one";

/** How many calls of each library a round makes. */
const counts = { log4js: 20_000, logtape: 20_000, nestjs: 5_000, debug: 20_000, console: 5_000 };

const rows = Object.entries(counts).flatMap(([name, count]) => {
  const hides = name !== "debug" && name !== "console";
  const states = Object.keys(before).filter((state) => hides || state !== DISABLED);
  return states.map((state) => ({ name, state, count }));
});

await compareCalls<Application>({
  libraries: ["log4js", "@logtape/logtape", "@nestjs/common", "debug"],
  subject(attached, row) {
    const [name, state] = row.split(": ") as [string, string];
    const library = libraries[name]!();
    const loggers = attached ? new Loggers() : undefined;
    loggers?.attach(library.adapter());
    train(library);
    if (loggers !== undefined) before[state]!(loggers, library);
    return { library, loggers };
  },
  calls: rows.map(({ name, state, count }): Call<Application> => {
    const isDisabled = state === DISABLED && process.argv[2] !== "bare";
    const call = ({ library }: Application) => (isDisabled ? library.disabled!() : library.enabled());
    return [`${name}: ${state}`, count, call];
  }),
});

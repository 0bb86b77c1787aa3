/**
 * What a call of a logger costs before, while and after tails are open, beside the library as it is. Only the call is measured: what is
 * taken is read later, by a timer. `npm run bench -- tail winston` measures one library.
 */
import { Console } from "node:console";
import { Writable } from "node:stream";
import { configureSync, getLogger } from "@logtape/logtape";
import { ConsoleLogger, Logger } from "@nestjs/common";
import debug from "debug";
import log4js from "log4js";
import { pino } from "pino";
import winston from "winston";
import { consoleLogger } from "../src/adapters/loggers/console/index.ts";
import { debugLoggers } from "../src/adapters/loggers/debug/index.ts";
import { log4jsLoggers } from "../src/adapters/loggers/log4js/index.ts";
import { logtapeLoggers } from "../src/adapters/loggers/logtape/index.ts";
import { nestjsLoggers } from "../src/adapters/loggers/nestjs/index.ts";
import { pinoLoggers } from "../src/adapters/loggers/pino/index.ts";
import { winstonLoggers } from "../src/adapters/loggers/winston/index.ts";
import type { LoggerAdapter, RecordSink } from "../src/loggers/adapter.ts";
import { levelVerbosity } from "../src/loggers/level.ts";
import { Loggers } from "../src/loggers/loggers.ts";
import { Entry } from "../src/logs/entry.ts";
import { type Call, compareCalls } from "./support/calls.ts";

const NAME = "app.orders";
const TRACE = levelVerbosity("TRACE");
/** So often that the engine has compiled the place of a call for what it has seen there. */
const TRAINING = 20_000;
/** How many records a ring keeps. Sinks keep what they take as `Logs` does, but without its limits: records beyond them cost less. */
const KEPT = 4_096;

/** An application that writes to nowhere at INFO; or of debug or the console, which have one level. */
interface Application {
  attach(): LoggerAdapter;
  enabled(): void;
  disabled?(): void;
  /** Makes a child and writes three records with it. */
  child?(): void;
}

const text = "order is paid";
const fields = { order: 4711, state: "paid" };
const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });

const applications = {
  pino() {
    const root = pino({ base: null }, { write: () => {} });
    const adapter = pinoLoggers(root);
    const logger = root.child({ name: NAME });
    // A logger without children is slower, since the engine makes an object fast when it becomes a prototype.
    logger.child({ request: 1 });
    return {
      attach: () => adapter,
      enabled: () => logger.info(fields, text),
      disabled: () => logger.debug(fields, text),
      child() {
        const child = logger.child({ request: 1 });
        for (let step = 0; step < 3; step++) child.info(text);
      },
    };
  },
  winston() {
    const root = winston.createLogger({ transports: [new winston.transports.Stream({ stream: nowhere() })] });
    const adapter = winstonLoggers(root);
    const logger = root.child({ name: NAME });
    return {
      attach: () => adapter,
      enabled: () => logger.info(text, fields),
      disabled: () => logger.debug(text, fields),
    };
  },
  log4js() {
    const nothing = { type: { configure: () => () => {} } };
    const categories = { default: { appenders: ["nothing"], level: "info" } };
    log4js.configure({ appenders: { nothing }, categories } as unknown as log4js.Configuration);
    const logger = log4js.getLogger(NAME);
    return {
      attach: () => log4jsLoggers(log4js),
      enabled: () => logger.info(text, fields),
      disabled: () => logger.debug(text, fields),
    };
  },
  logtape() {
    const meta = { category: ["logtape", "meta"], lowestLevel: "error" as const };
    const loggers = [{ category: [], sinks: ["nothing"], lowestLevel: "info" as const }, meta];
    configureSync({ sinks: { nothing: () => {} }, loggers });
    const logger = getLogger(["app", "orders"]);
    return {
      attach: () => logtapeLoggers(),
      enabled: () => logger.info(text, fields),
      disabled: () => logger.debug(text, fields),
    };
  },
  nestjs() {
    process.stdout.write = () => true;
    Logger.overrideLogger(new ConsoleLogger({ json: true, logLevels: ["log"] }));
    const logger = new Logger(NAME);
    return {
      attach: () => nestjsLoggers({ Logger, ConsoleLogger }),
      enabled: () => logger.log(text, fields),
      disabled: () => logger.debug(text, fields),
    };
  },
  debug() {
    debug.log = () => {};
    debug.enable("app:*");
    const logger = debug("app:orders");
    return { attach: () => debugLoggers(debug), enabled: () => logger(text, fields) };
  },
  console() {
    const written = new Console(nowhere(), nowhere());
    return { attach: () => consoleLogger(), enabled: () => written.log(text, fields) };
  },
} satisfies Record<string, () => Application>;

function sink(tails: number, hiddenVerbosity = 0): RecordSink {
  const rings = Array.from({ length: tails }, (): Entry[] => []);
  return {
    verbosity: TRACE,
    hiddenVerbosity,
    take(record) {
      const entry = new Entry(NAME, "any", Date.now(), record, undefined);
      for (const ring of rings) {
        if (ring.length === KEPT) ring.length = 0;
        ring.push(entry);
      }
    },
  };
}

function train({ enabled, disabled }: Application): void {
  for (let count = 0; count < TRAINING; count++) {
    enabled();
    disabled?.();
  }
}

/** What happens to the loggers before a call is measured. A library has global state, so each row has processes of its own. */
const before = {
  "no tail": () => {},
  "a tail of other loggers": (loggers: Loggers) => void loggers.hear(() => undefined),
  "a tail that matches": (loggers: Loggers) => void loggers.hear(() => sink(1)),
  "ten tails that match": (loggers: Loggers) => void loggers.hear(() => sink(10)),
  "made for a tail alone": (loggers: Loggers) => void loggers.hear(() => sink(1, TRACE), true),
  "after 50 tails": (loggers: Loggers, application: Application) => {
    for (let round = 0; round < 50; round++) {
      const hides = round % 2 === 0;
      loggers.hear(() => sink(1, hides ? TRACE : 0), hides);
      for (let count = 0; count < 500; count++) application.enabled();
      loggers.hear(undefined);
    }
    train(application);
  },
} satisfies Record<string, (loggers: Loggers, application: Application) => void>;

type State = keyof typeof before;
type CallName = "enabled" | "disabled" | "child";

/** The calls that are measured in each state, of libraries that have them. */
const measured: Readonly<Record<State, readonly CallName[]>> = {
  "no tail": ["disabled", "enabled", "child"],
  "a tail of other loggers": ["disabled", "enabled", "child"],
  "a tail that matches": ["disabled", "enabled", "child"],
  "ten tails that match": ["enabled"],
  // Beside an enabled call of the bare library.
  "made for a tail alone": ["disabled"],
  "after 50 tails": ["disabled", "enabled"],
};

/** How often a round makes each call, for some 10 ms. */
const counts: Readonly<Record<keyof typeof applications, Readonly<Partial<Record<CallName, number>>>>> = {
  pino: { enabled: 30_000, disabled: 2_000_000, child: 6_000 },
  winston: { enabled: 5_000, disabled: 50_000 },
  log4js: { enabled: 20_000, disabled: 100_000 },
  logtape: { enabled: 20_000, disabled: 200_000 },
  nestjs: { enabled: 5_000, disabled: 50_000 },
  debug: { enabled: 20_000 },
  console: { enabled: 5_000 },
};

interface Subject {
  readonly application: Application;
  readonly isAttached: boolean;
}

const rows = (Object.keys(applications) as (keyof typeof applications)[]).flatMap((library) =>
  (Object.keys(before) as State[]).flatMap((state) =>
    measured[state].flatMap((call) => {
      const count = counts[library][call];
      return count === undefined ? [] : { library, state, call, count, name: `${library}: ${call}, ${state}` };
    }),
  ),
);

await compareCalls<Subject>({
  libraries: ["pino", "winston", "log4js", "@logtape/logtape", "@nestjs/common", "debug"],
  subject(isAttached, name) {
    const { library, state } = rows.find((row) => row.name === name)!;
    const application: Application = applications[library]();
    const loggers = isAttached ? new Loggers() : undefined;
    loggers?.attach(application.attach());
    train(application);
    if (loggers !== undefined) before[state](loggers, application);
    return { application, isAttached };
  },
  settle: () => new Promise(setImmediate),
  calls: rows.map(({ name, state, call, count }): Call<Subject> => {
    if (state !== "made for a tail alone") return [name, count, ({ application }) => application[call]!()];
    const written = count / 50;
    return [
      name,
      Math.max(written, 2_000),
      ({ application, isAttached }) => (isAttached ? application.disabled!() : application.enabled()),
    ];
  }),
});

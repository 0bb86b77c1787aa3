import { Writable } from "node:stream";
import { configureSync, getLogger, type LogLevel, resetSync } from "@logtape/logtape";
import bunyan from "bunyan";
import fc from "fast-check";
import log4js from "log4js";
import { pino } from "pino";
import { afterEach, describe, expect, test } from "vitest";
import winston from "winston";
import { customLogger } from "../../../src/adapters/loggers/custom/index.ts";
import { debugLoggers } from "../../../src/adapters/loggers/debug/index.ts";
import { log4jsLoggers } from "../../../src/adapters/loggers/log4js/index.ts";
import { logtapeLoggers } from "../../../src/adapters/loggers/logtape/index.ts";
import { pinoLoggers } from "../../../src/adapters/loggers/pino/index.ts";
import { winstonLoggers } from "../../../src/adapters/loggers/winston/index.ts";
import type { LoggerAdapter } from "../../../src/loggers/adapter.ts";
import { LEVELS } from "../../../src/loggers/level.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import type { Logger } from "../../../src/loggers/view.ts";
import { debugCopy } from "./debug/debug-copy.ts";
import { configure, memory } from "./log4js/memory.ts";

/** A library as an application uses it: it makes loggers by name, writes to all of them, and sets levels itself. */
interface Library {
  readonly written: string[];
  readonly adapter: () => LoggerAdapter;
  make(name: string): void;
  write(): void;
  /** `level` is from 0 to 5, from the most severe to the most verbose. */
  setLevel(name: string, level: number): void;
}

const NAMES = ["shop", "shop.orders", "shop.orders.db", "audit"] as const;
const METHODS = ["fatal", "error", "warn", "info", "debug", "trace"] as const;

function pinoLibrary(level: string, options: object = {}): Library {
  const written: string[] = [];
  const settings = { level, base: null, timestamp: false, ...options };
  const root = pino(settings, { write: (line: string) => void written.push(line) });
  const loggers = new Map<string, pino.Logger>([["", root]]);
  return {
    written,
    adapter: () => pinoLoggers(root as never),
    make: (name) => {
      const parent = [...loggers].findLast(([known]) => name.startsWith(`${known}.`))?.[1] ?? root;
      loggers.set(name, parent.child({ module: name }));
    },
    write: () => {
      for (const [name, logger] of loggers) {
        for (const method of Object.keys(logger.levels.values)) {
          (logger as unknown as Record<string, (text: string) => void>)[method]!(`${name} ${method}`);
        }
      }
    },
    setLevel: (name, index) => {
      const logger = loggers.get(name) ?? root;
      const labels = Object.keys(logger.levels.values);
      logger.level = labels[index % labels.length]!;
    },
  };
}

function winstonLibrary(level: string, ownLevels: readonly string[] = []): Library {
  const written: string[] = [];
  const stream = (name: string) =>
    new Writable({
      decodeStrings: false,
      write(line, _, done) {
        written.push(`${name} ${line}`);
        done();
      },
    });
  const transport = (name: string, own?: string) =>
    new winston.transports.Stream({ stream: stream(name), ...(own && { level: own }) });
  const root = winston.createLogger({
    level,
    format: winston.format.simple(),
    transports: [transport("plain"), ...ownLevels.map((own) => transport(own, own))],
  });
  const loggers = new Map<string, winston.Logger>([["", root]]);
  const labels = Object.keys(root.levels);
  return {
    written,
    adapter: () => winstonLoggers(root),
    make: (name) => void loggers.set(name, root.child({ module: name })),
    write: () => {
      for (const [name, logger] of loggers) for (const label of labels) logger.log(label, `${name} ${label}`);
    },
    setLevel: (name, index) => {
      const label = labels[index % labels.length]!;
      if (name === "shop") root.transports.at(-1)!.level = label;
      else root.level = label;
    },
  };
}

function log4jsLibrary(level: string): Library {
  const out = memory();
  configure(out, { default: level, "shop.orders": "error" });
  const names = new Set<string>([""]);
  return {
    written: out.written,
    adapter: () => log4jsLoggers(log4js),
    make: (name) => void names.add(name),
    write: () => {
      for (const name of names) {
        const logger = log4js.getLogger(name || undefined);
        for (const method of METHODS) logger[method](`${name} ${method}`);
      }
    },
    setLevel: (name, index) => {
      log4js.getLogger(name).level = METHODS[index]!;
    },
  };
}

function logtapeLibrary(level: LogLevel): Library {
  const written: string[] = [];
  const sink = ({ category, level: at }: { category: readonly string[]; level: string }) =>
    void written.push(`${category.join(".")} ${at}`);
  resetSync();
  configureSync({
    sinks: { sink, other: sink },
    loggers: [
      { category: [], sinks: ["sink"], lowestLevel: level },
      { category: ["shop", "orders"], sinks: ["other"], lowestLevel: "error" },
      { category: ["logtape", "meta"], lowestLevel: "fatal" },
    ],
  });
  const names = new Set<string>();
  return {
    written,
    adapter: () => logtapeLoggers(),
    make: (name) => void names.add(name),
    write: () => {
      for (const name of names) for (const method of METHODS) getLogger(name.split("."))[method](method);
    },
    setLevel: () => {},
  };
}

function debugLibrary(pattern: string): Library {
  const { debug, written } = debugCopy(pattern);
  const loggers = new Map<string, ReturnType<typeof debug>>();
  return {
    written,
    adapter: () => debugLoggers(debug),
    make: (name) => void loggers.set(name, debug(name.replaceAll(".", ":"))),
    write: () => {
      for (const logger of loggers.values()) logger("line");
    },
    setLevel: (name, index) => {
      const logger = loggers.get(name);
      if (logger === undefined || index < 2) debug.enable(name.replaceAll(".", ":"));
      else logger.enabled = index > 3;
    },
  };
}

function bunyanLibrary(level: bunyan.LogLevel): Library {
  const written: string[] = [];
  const stream = { write: (line: string) => void written.push((JSON.parse(line) as { msg: string }).msg) };
  const log = bunyan.createLogger({ name: "audit", level, stream: stream as never });
  const { FATAL, ERROR, WARN, INFO, DEBUG, TRACE } = bunyan;
  const map = { OFF: Number.POSITIVE_INFINITY, FATAL, ERROR, WARN, INFO, DEBUG, TRACE };
  return {
    written,
    adapter: () => customLogger("audit", { map, get: () => log.level(), set: (to) => log.level(to) }),
    make: () => {},
    write: () => {
      for (const method of METHODS) log[method](method);
    },
    // If the application sets the very level that an operator has set, bunyan does not show it.
    setLevel: () => {},
  };
}

/** The libraries of one application, with levels that differ. */
const application = (): readonly Library[] => [
  pinoLibrary("info"),
  pinoLibrary("http", { customLevels: { http: 25, notice: 35, silly: 5 } }),
  pinoLibrary("debug", { name: "second" }),
  winstonLibrary("debug", ["silly", "error"]),
  log4jsLibrary("debug"),
  logtapeLibrary("warning"),
  debugLibrary("shop:*,-shop:orders:db"),
  bunyanLibrary("trace"),
];
const COUNT = 8;

let detaches: (() => void)[] = [];
afterEach(() => {
  for (const detach of detaches) detach();
  detaches = [];
  log4js.shutdown();
  resetSync();
});

const level = fc.constantFrom(...LEVELS);
const which = fc.nat(COUNT - 1);
const name = fc.constantFrom(...NAMES);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("make" as const), which, name }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("setLevel" as const), which, name, level: fc.nat(5) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("write" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("operate" as const), name, level }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("operateRoot" as const), level }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("restore" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Runs the application, and returns what each library wrote while no level of an operator was in force. */
function run(steps: readonly Step[], counted: readonly boolean[] | undefined) {
  const libraries = application();
  const loggers = counted === undefined ? new Loggers() : undefined;
  const attached = (loggers && libraries.map(({ adapter }) => loggers.attach(adapter()))) ?? [];
  const quiet: boolean[] = [];
  const records: string[][] = [];
  for (const [index, at] of [...steps, { do: "restore" } as const, { do: "write" } as const].entries()) {
    if (at.do === "make") libraries[at.which]!.make(at.name);
    else if (at.do === "setLevel") libraries[at.which]!.setLevel(at.name, at.level);
    else if (at.do === "operate") loggers?.setLevel(at.name, at.level);
    else if (at.do === "operateRoot") loggers?.setLevel("ROOT", at.level);
    else if (at.do === "restore") loggers?.restoreAllLevels();
    else {
      for (const library of libraries) library.write();
      quiet[index] = counted?.[index] ?? !loggers!.list().loggers.some(({ override }) => override !== undefined);
      const lines = libraries.flatMap(({ written }, library) => written.splice(0).map((line) => `${library}: ${line}`));
      if (quiet[index]) records.push(lines);
    }
  }
  for (const detach of attached) detach();
  return { quiet, records };
}

test("an application writes the same with adapters, until an operator sets a level and after the last is restored", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25, size: "max" }), (steps) => {
      const managed = run(steps, undefined);
      expect(managed.records).toEqual(run(steps, managed.quiet).records);
    }),
    { numRuns: 150 },
  );
});

describe("several libraries side by side", () => {
  function attach(libraries: readonly Library[]) {
    const loggers = new Loggers();
    detaches = libraries.map(({ adapter }) => loggers.attach(adapter()));
    const lines = (library: Library) => {
      library.written.length = 0;
      library.write();
      return library.written.length;
    };
    return { loggers, counts: () => libraries.map(lines) };
  }
  const root = (loggers: Loggers) => loggers.get("ROOT") as Logger;

  test("keep their levels, and ROOT says that they differ", () => {
    const libraries = [pinoLibrary("info"), winstonLibrary("debug"), log4jsLibrary("error")];
    const before = libraries.map((library) => {
      library.write();
      return library.written.length;
    });
    const { loggers, counts } = attach(libraries);
    expect(counts()).toEqual(before);
    expect(root(loggers)).toMatchObject({
      configuredLevel: undefined,
      effectiveLevel: "DEBUG",
      warnings: expect.arrayContaining(["the loggers of this name differ: pino INFO, winston DEBUG, log4js ERROR"]),
    });
    libraries[0]!.setLevel("", 0);
    const [, ...others] = counts();
    expect(others).toEqual(before.slice(1));
    loggers.setLevel("ROOT", "WARN");
    expect(root(loggers)).toMatchObject({ configuredLevel: "WARN", effectiveLevel: "WARN" });
    loggers.restoreLevel("ROOT");
    expect(counts().slice(1)).toEqual(before.slice(1));
  });

  test("with one level show it as that of ROOT", () => {
    const { loggers } = attach([pinoLibrary("info"), winstonLibrary("info")]);
    expect(root(loggers)).toMatchObject({ configuredLevel: "INFO", effectiveLevel: "INFO", baselineLevel: "INFO" });
  });
});

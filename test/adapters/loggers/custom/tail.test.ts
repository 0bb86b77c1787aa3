import { createRequire } from "node:module";
import bunyan from "bunyan";
import type { RootLogger } from "loglevel";
import { afterEach, expect, test } from "vitest";
import { type CustomLoggerOptions, customLogger } from "../../../../src/adapters/loggers/custom/index.ts";
import type { RecordContent, WrittenRecord } from "../../../../src/loggers/adapter.ts";
import { levelVerbosity } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { Logs } from "../../../../src/logs/logs.ts";

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

function attach<Native>(name: string, options: CustomLoggerOptions<Native>): Loggers {
  const loggers = new Loggers();
  cleanups.push(loggers.attach(customLogger(name, options)));
  return loggers;
}

function hear(loggers: Loggers, taken: (record: WrittenRecord) => void = () => {}): (RecordContent & WrittenRecord)[] {
  const heard: (RecordContent & WrittenRecord)[] = [];
  const take = (record: WrittenRecord) => {
    heard.push({ ...record, ...record.read() });
    taken(record);
  };
  const verbosity = levelVerbosity("DEBUG");
  expect(loggers.hear((name) => (name === "other" ? undefined : { verbosity, hiddenVerbosity: 6, take }))).toEqual([]);
  cleanups.push(() => loggers.hear(undefined));
  return heard;
}

/** A logger that tells what it writes. */
function telling() {
  const listeners = new Set<(level: string, message: string, fields?: object, error?: unknown) => void>();
  const own = { level: "normal" };
  const options: CustomLoggerOptions<string> = {
    map: { ERROR: "high", INFO: "normal", DEBUG: "all", TRACE: "more" },
    get: () => own.level,
    set: (level) => {
      own.level = level;
    },
    tail: (hear) => {
      const listener = (level: string, message: string, fields?: object, error?: unknown) =>
        hear({ level, message, fields, error });
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const write = (...record: [string, string, object?, unknown?]) => {
    for (const listener of listeners) listener(...record);
  };
  return { listeners, options, write };
}

test("what the application passes on is heard, as it was then", () => {
  const { options, write, listeners } = telling();
  const loggers = attach("orders", options);
  expect(listeners.size).toBe(0);
  const heard = hear(loggers);
  const fields = { order: { lines: [1] }, big: 1n };
  write("normal", "x", fields);
  fields.order.lines.push(2);
  const error = new TypeError("failed");
  write("high", "y", undefined, error);
  write("high", "", undefined, "a text");
  write("normal", "no error", undefined, null);
  write("more", "not asked for");
  expect(heard).toMatchObject([
    { nativeLevel: "normal", verbosity: 4, hidden: false, message: "x", fields: { order: { lines: [1] }, big: "1" } },
    { verbosity: 2, message: "y", error: { type: "TypeError", message: "failed", stack: error.stack } },
    { verbosity: 2, message: "a text" },
    { verbosity: 4, message: "no error", error: undefined },
  ]);
  loggers.hear(undefined);
  expect(listeners.size).toBe(0);
});

test("50 rounds leave no listener, and a late record is not heard", () => {
  const { options, listeners, write } = telling();
  const kept: (() => void)[] = [];
  const tail: typeof options.tail = (hear) => {
    kept.push(() => hear({ level: "normal", message: "late" }));
    return options.tail!(hear);
  };
  const loggers = attach("orders", { ...options, tail });
  for (let round = 0; round < 50; round++) {
    const heard = hear(loggers);
    write("normal", "x");
    loggers.hear(undefined);
    for (const late of kept) late();
    expect([heard.length, listeners.size]).toEqual([1, 0]);
  }
});

test("neither a sink that fails nor one that writes gets to the application", () => {
  const { options, write } = telling();
  const heard = hear(attach("orders", options), () => {
    write("high", "from the sink");
    throw new Error("sink");
  });
  write("normal", "x");
  expect(heard.map(({ message }) => message)).toEqual(["x"]);
});

test("a level outside of the map is a warning of the logger, and a tail without an end is refused", () => {
  const { options, write } = telling();
  const loggers = attach("orders", options);
  const heard = hear(loggers);
  write("odd", "x");
  expect(heard).toEqual([]);
  const warnings = loggers.list().loggers.flatMap((logger) => logger.warnings);
  expect(warnings).toEqual(['the level "odd" of a record is not in its map']);
  const endless = customLogger("other", { ...options, tail: (() => undefined) as never });
  expect(() => endless.tail!(() => undefined)).toThrow("options.tail of customLogger must return a function");
});

test("a logger without tail is not heard, and records cannot be made for one reader alone", () => {
  const { options } = telling();
  const { tail: _, ...deaf } = options;
  const loggers = attach("orders", { ...deaf, kind: "mine" });
  expect(loggers.hear(() => undefined)).toEqual(["mine"]);
  const logs = new Logs(attach("orders", { ...options, kind: "mine" }));
  cleanups.push(() => logs.close());
  const raise = { level: "DEBUG", onlyHere: true } as const;
  expect(() => logs.open({ names: ["orders"], raise })).toThrow(
    /customLogger hears a record of mine when it has been written/,
  );
});

test("a raised level of a logger prints to the tail, and comes back", async () => {
  const { options, write } = telling();
  const loggers = attach("orders", options);
  const logs = new Logs(loggers);
  cleanups.push(() => logs.close());
  const tail = logs.open({ names: ["orders"], raise: { level: "DEBUG" } });
  expect(options.get!()).toBe("all");
  write("all", "raised", { token: "geheim" });
  await expect
    .poll(() => tail.take())
    .toMatchObject({
      records: [
        { logger: "orders", kind: "custom", level: "DEBUG", message: "raised", fields: { token: "[redacted]" } },
      ],
    });
  tail.close();
  expect(options.get!()).toBe("normal");
});

interface BunyanRecord {
  readonly level: number;
  readonly msg: string;
  readonly err?: unknown;
  readonly order?: unknown;
}

test("bunyan's records are heard by a stream", () => {
  const written: string[] = [];
  const stream = { write: (line: string) => written.push(line) } as unknown as NodeJS.WritableStream;
  const log = bunyan.createLogger({ name: "app", streams: [{ name: "all", stream, level: "info" }] });
  const { FATAL, ERROR, WARN, INFO, DEBUG, TRACE } = bunyan;
  const loggers = attach("app", {
    map: { FATAL, ERROR, WARN, INFO, DEBUG, TRACE },
    get: () => log.levels("all"),
    set: (level) => log.levels("all", level),
    tail: (hear) => {
      const write = ({ level, msg: message, err: error, order }: BunyanRecord) =>
        hear({ level, message, fields: { order }, error });
      log.addStream({ name: "tail", type: "raw", stream: { write } as never, level: log.levels("all") });
      return () => {
        const { streams } = log as unknown as { streams: { name: string }[] };
        streams.splice(
          streams.findIndex(({ name }) => name === "tail"),
          1,
        );
      };
    },
  });
  const heard = hear(loggers);
  log.info({ order: 7 }, "paid");
  log.error(new Error("failed"));
  log.debug("no");
  expect(heard).toMatchObject([
    { verbosity: 4, nativeLevel: "30", message: "paid", fields: { order: 7 } },
    { verbosity: 2, message: "failed", error: { message: "failed" } },
  ]);
  loggers.hear(undefined);
  log.info("later");
  expect([heard.length, written.length]).toEqual([2, 3]);
});

test("loglevel's records are heard by its method factory", () => {
  const require = createRequire(import.meta.url);
  delete require.cache[require.resolve("loglevel")];
  const log = require("loglevel") as RootLogger;
  const written: unknown[] = [];
  const original: RootLogger["methodFactory"] = () => (text: unknown) => void written.push(text);
  log.methodFactory = original;
  log.rebuild();
  const { ERROR, WARN, INFO, DEBUG, TRACE, SILENT } = log.levels;
  const map = { OFF: SILENT, ERROR, WARN, INFO, DEBUG, TRACE };
  const loggers = attach("web", {
    map,
    get: () => log.getLevel(),
    set: (level) => log.setLevel(level, false),
    tail: (hear) => {
      log.methodFactory = (method, ...more) => {
        const write = original(method, ...more);
        const level = log.levels[method.toUpperCase() as "INFO"] as never;
        return (...texts: unknown[]) => {
          hear({ level, message: texts.join(" ") });
          write(...texts);
        };
      };
      log.rebuild();
      return () => {
        log.methodFactory = original;
        log.rebuild();
      };
    },
  });
  const heard = hear(loggers);
  log.warn("x", 1);
  log.info("no");
  loggers.hear(undefined);
  log.warn("y");
  expect(heard).toMatchObject([{ verbosity: 3, message: "x 1" }]);
  expect(written).toEqual(["x", "y"]);
});

import { PassThrough, Writable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import winston from "winston";
import { consoleLogger } from "../../../../src/adapters/loggers/console/index.ts";
import { winstonLoggers } from "../../../../src/adapters/loggers/winston/index.ts";
import type { RecordContent, WrittenRecord } from "../../../../src/loggers/adapter.ts";
import { type Level, levelVerbosity } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { Memory, written } from "./memory.ts";

const { format } = winston;
const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

interface Heard extends Omit<WrittenRecord, "read"> {
  readonly name: string;
  readonly content: () => RecordContent;
}

interface Listening {
  readonly level?: Level;
  readonly hidden?: Level;
  readonly names?: (name: string) => boolean;
  readonly taken?: (record: WrittenRecord) => void;
}

/** Hears what the loggers write. */
function hear(
  loggers: Loggers,
  { level = "TRACE", hidden = "OFF", names = () => true, taken }: Listening = {},
): Heard[] {
  const all: Heard[] = [];
  const lacking = loggers.hear((name) => {
    if (!names(name)) return undefined;
    const take = (record: WrittenRecord) => {
      all.push({ ...record, name, content: () => record.read() });
      taken?.(record);
    };
    return { verbosity: levelVerbosity(level), hiddenVerbosity: levelVerbosity(hidden), take };
  }, hidden !== "OFF");
  cleanups.push(() => loggers.hear(undefined));
  expect(lacking).toEqual([]);
  return all;
}

const messages = (heard: readonly Heard[]) => heard.map(({ content }) => content().message);
const brief = (heard: readonly Heard[]) =>
  heard.map(({ name, nativeLevel, hidden, content }) =>
    [name, nativeLevel, content().message, ...(hidden ? ["hidden"] : [])].join(" "),
  );

function application(options: winston.LoggerOptions = {}) {
  const stream = new PassThrough();
  const transport = new winston.transports.Stream({ stream, eol: "\n" });
  const root = winston.createLogger({ transports: [transport], ...options });
  const loggers = new Loggers();
  const detach = loggers.attach(winstonLoggers(root));
  cleanups.push(detach);
  const lines = () => {
    const text = stream.read() as Buffer | null;
    return text === null ? [] : text.toString().trimEnd().split("\n");
  };
  return { root, loggers, detach, lines, transport };
}

type Log = (root: winston.Logger) => unknown;
/** Another one each time, because winston and its formats change what they are given. */
const failure = () => Object.assign(new TypeError("card 4711"), { code: "E_CARD" });
const STACK = /^TypeError: card 4711\n {4}at /;

/** All ways to write. */
const CALLS: readonly (readonly [string, Log])[] = [
  ["text", (log) => log.info("x")],
  ["nothing", (log) => (log as unknown as { info(): void }).info()],
  ["text and metadata", (log) => log.warn("x", { a: { b: [1, null, "c"] } })],
  ["more metadata", (log) => log.info("x", { a: 1 }, { b: 2 })],
  ["splat", (log) => log.info("%s has %d of %j", "cart", 3, { a: 1 }, { more: true })],
  ["a record", (log) => log.info({ message: "x", a: 1 })],
  ["an object", (log) => log.info({ a: 1 } as never)],
  ["log() of a text", (log) => log.log("error", "x")],
  ["log() with metadata", (log) => log.log("warn", "%s", "x", { a: 1 })],
  ["log() of a record", (log) => log.log({ level: "info", message: "x", a: 1n })],
  ["log() of an object", (log) => (log as unknown as { log(...of: unknown[]): void }).log("info", { a: 1 })],
  ["write()", (log) => log.write({ level: "info", message: "x", a: 1 })],
  ["a child", (log) => log.child({ requestId: 7 }).child({ step: 1 }).info("x", { a: 1 })],
  ["profile()", (log) => log.profile("timed") && log.profile("timed", { level: "warn", a: 1 } as never)],
  ["a timer", (log) => log.startTimer().done({ message: "timed", level: "info" } as never)],
  ["an error", (log) => log.error(failure())],
  ["a text and an error", (log) => log.error("failed:", failure())],
  ["a field with an error", (log) => log.error("failed", { error: failure(), a: 1 })],
  ["an error as message", (log) => log.log({ level: "error", message: failure() as never })],
  ["a child and an error", (log) => log.child({ requestId: 7 }).error(failure())],
  [
    "dates and the like",
    (log) => log.info("x", { at: new Date(0), map: new Map(), not: undefined, list: [undefined] }),
  ],
  ["a detached method", ({ info }) => info("x")],
];

const mask = format((info) => {
  if ("a" in info) info.a = "***";
  return info;
});
const copying = format((info) => ({ ...info, copied: true }));
const losing = format(({ level, message }) => ({ level, message, [Symbol.for("level")]: level }) as never);

/** Formats whose text is JSON. */
const JSON_FORMATS: Readonly<Record<string, winston.LoggerOptions>> = {
  none: {},
  json: { format: format.json() },
  "json with spaces": { format: format.combine(format.timestamp(), format.json({ space: 1 })) },
  "errors with stack": { format: format.combine(format.timestamp(), format.errors({ stack: true }), format.json()) },
  splat: { format: format.combine(format.splat(), format.json()) },
  metadata: { format: format.combine(format.metadata(), format.json()) },
  "label and colours": { format: format.combine(format.label({ label: "app" }), format.colorize(), format.json()) },
  "masked field": { format: format.combine(mask(), format.json()) },
  "a copy": { format: format.combine(copying(), format.json()) },
  "a record of its own": { format: format.combine(losing(), format.json()) },
  "a text of its own": { format: format.printf(({ level, message }) => JSON.stringify({ level, message, own: true })) },
};

const LOSING_ERRORS = ["metadata", "a copy", "a record of its own", "a text of its own"];

const parse = (text: string) => JSON.parse(text) as Record<string, unknown>;

test.each(Object.keys(JSON_FORMATS))("what is heard is what is written, with the format: %s", (name) => {
  for (const [call, log] of CALLS) {
    const { root, loggers, lines } = application({ ...JSON_FORMATS[name], defaultMeta: { app: "shop" } });
    const heard = hear(loggers);
    log(root);
    const text = lines().join("\n");
    const { level, timestamp, message, ...fields } = parse(text);
    expect(heard, call).toHaveLength(1);
    const [{ nativeLevel, hidden, size, content }] = heard as [Heard];
    expect([hidden, String(level).includes(nativeLevel)], call).toEqual([false, true]);
    expect(size, call).toBe(text.length);
    const said = content();
    if (!/error/.test(call)) {
      expect(said.message, call).toBe(
        typeof message === "string" ? message : message === undefined ? "" : JSON.stringify(message),
      );
      expect({ ...said.fields }, call).toEqual(fields);
    } else if (!LOSING_ERRORS.includes(name)) {
      expect(said.message, call).toMatch(/failed|card 4711/);
      expect(said.error, call).toMatchObject({
        type: "TypeError",
        message: "card 4711",
        stack: expect.stringMatching(STACK),
      });
      expect(text.includes("E_CARD"), call).toBe(JSON.stringify(said.fields).includes("E_CARD"));
    }
  }
});

const TEXT_FORMATS: Readonly<Record<string, winston.Logform.Format>> = {
  simple: format.simple(),
  cli: format.cli(),
  logstash: format.combine(
    format.timestamp(),
    format.printf(({ level, message }) => `${level}: ${message}`),
  ),
  prettyPrint: format.prettyPrint(),
  colorize: format.combine(format.colorize(), format.simple()),
  "errors and printf": format.combine(
    format.errors({ stack: true }),
    format.printf(({ message, stack }) => `{${message}} ${stack ?? ""}`),
  ),
  nothing: format((info) => info)(),
};

test.each(Object.keys(TEXT_FORMATS))("a format of text leaves message and fields: %s", (name) => {
  const { root, loggers } = application({ format: TEXT_FORMATS[name]! });
  const heard = hear(loggers);
  root.warn("x", { a: 1, at: new Date(0), big: 12n });
  root.error("failed:", failure());
  root.info("y");
  const [first, second, third] = heard.map(({ content }) => content());
  expect(first).toEqual({
    message: expect.stringContaining("x"),
    fields: { a: 1, at: new Date(0).toJSON(), big: "12" },
  });
  expect(second).toEqual({
    message: expect.stringContaining("failed: card 4711"),
    fields: { code: "E_CARD" },
    error: { type: "TypeError", message: "card 4711", stack: expect.stringMatching(STACK) },
  });
  expect(third).toEqual({ message: expect.stringContaining("y"), fields: {} });
  expect(heard.map(({ nativeLevel }) => nativeLevel)).toEqual(["warn", "error", "info"]);
});

test("what a format masks, removes or drops is not heard", () => {
  const redacting = format((info) => {
    if (info.message === "secret") return false;
    info.password = "***";
    delete info.token;
    info.message = String(info.message).replace(/\d{4}/, "####");
    return info;
  });
  const values = { password: "geheim", token: "geheim" };
  for (const last of [format.json(), format.simple(), format.prettyPrint()]) {
    const { root, loggers } = application({ format: format.combine(redacting(), last) });
    const heard = hear(loggers, { hidden: "TRACE" });
    root.info("card 4711", { ...values });
    root.debug("card 4711", { ...values });
    root.info("secret");
    root.debug("secret");
    loggers.setLevel("ROOT", "WARN");
    root.debug("card 4711", { ...values });
    root.debug("secret");
    const content = { message: "card ####", fields: { password: "***" } };
    expect(heard.map(({ content }) => content())).toEqual([content, content, content]);
  }
  const text = format.printf(({ message }) => String(message).replace(/\d{4}/, "####"));
  const { root, loggers } = application({ format: text });
  const heard = hear(loggers);
  root.info("card 4711");
  expect(messages(heard)).toEqual(["card ####"]);
});

test("a message that a format only quotes stands alone, and what it writes beside stays in fields, where secrets are found", () => {
  const quoting = format.printf((info) => `${info.level}: ${JSON.stringify(info)}`);
  for (const each of [quoting, format.prettyPrint()]) {
    const { root, loggers } = application({ format: each });
    const heard = hear(loggers);
    const message = `it's "refused"\nby C:\\bank, with a line that is long enough to be printed in several parts`;
    root.info(message, { password: "hunter2" });
    expect(heard[0]!.content()).toEqual({ message, fields: { password: "hunter2" } });
  }
});

test("what the application changes afterwards is not heard", () => {
  for (const each of [format.json(), format.simple()]) {
    const { root, loggers } = application({ format: each });
    const heard = hear(loggers);
    const order = { lines: [1] };
    const record = { level: "info", message: "before", order };
    root.log(record);
    order.lines.push(2);
    record.message = "after";
    expect(heard[0]!.content()).toEqual({ message: "before", fields: { order: { lines: [1] } } });
  }
});

test("names are those of children, containers and default metadata", () => {
  const container = new winston.Container({ transports: [new Memory()] });
  const root = winston.createLogger({ transports: [new Memory()] });
  const loggers = new Loggers();
  cleanups.push(loggers.attach(winstonLoggers([root, container])));
  const heard = hear(loggers);
  const orders = root.child({ module: "orders" });
  orders.info("1");
  orders.child({ requestId: 1 }).info("2");
  orders.child({ module: "orders.payment" }).log("info", "3", { a: 1 });
  orders.profile("4");
  orders.profile("4");
  orders.startTimer().done({ message: "5" } as never);
  root.child({ requestId: 1 }).info("6");
  container.add("mail").info("7");
  const own = winston.createLogger({ defaultMeta: { name: "own" }, transports: [new Memory()] });
  own.info("8");
  const shown = [
    "orders info 1",
    "orders info 2",
    "orders.payment info 3",
    "orders info 4",
    "orders info 5",
    "ROOT info 6",
  ];
  expect(brief(heard)).toEqual([...shown, "mail info 7", "own info 8"]);
});

test("only wanted names and levels are heard", () => {
  const { root, loggers } = application({ level: "silly" });
  const heard = hear(loggers, { level: "INFO", names: (name) => name.startsWith("orders") });
  for (const name of ["orders", "orders.payment", "users"]) {
    const child = root.child({ name });
    for (const label of ["error", "info", "debug"]) child.log(label, label);
  }
  root.info("x");
  const labels = ["error", "info"];
  expect(brief(heard)).toEqual(
    ["orders", "orders.payment"].flatMap((name) => labels.map((each) => `${name} ${each} ${each}`)),
  );
});

test.each([
  ["syslog", winston.config.syslog.levels, { emerg: 1, crit: 1, error: 2, warning: 3, notice: 4, info: 4, debug: 5 }],
  ["cli", winston.config.cli.levels, { error: 2, warn: 3, help: 4, data: 4, info: 4, debug: 5, verbose: 6, silly: 6 }],
  ["own", { high: 0, medium: 1, low: 2 }, { high: 2, medium: 3, low: 4 }],
])("levels of the set %s", (_, levels, expected) => {
  const level = Object.keys(levels).at(-1)!;
  const { root, loggers } = application({ levels, level });
  const heard = hear(loggers);
  for (const label of Object.keys(expected)) (root as unknown as Record<string, (text: string) => void>)[label]!("x");
  expect(Object.fromEntries(heard.map(({ nativeLevel, verbosity }) => [nativeLevel, verbosity]))).toMatchObject(
    expected,
  );
});

test("a record is written if any transport writes it, and hidden otherwise", async () => {
  const [plain, strict] = [new Memory(), new Memory({ level: "error" })];
  const root = winston.createLogger({ transports: [plain, strict] });
  const loggers = new Loggers();
  cleanups.push(loggers.attach(winstonLoggers(root)));
  const heard = hear(loggers, { hidden: "DEBUG" });
  const all = (text: string) => {
    for (const label of ["error", "info", "debug", "silly"] as const) root[label](`${text} ${label}`);
  };
  all("1");
  loggers.setLevel("ROOT", "ERROR");
  all("2");
  root.remove(plain);
  loggers.restoreLevel("ROOT");
  all("3");
  loggers.setLevel("ROOT", "DEBUG");
  all("4");
  root.silent = true;
  all("5");
  const shown = (text: string, ...labels: string[]) => labels.map((label) => `ROOT ${label} ${text} ${label}`);
  expect(brief(heard)).toEqual([
    ...shown("1", "error", "info"),
    "ROOT debug 1 debug hidden",
    ...shown("2", "error"),
    "ROOT info 2 info hidden",
    "ROOT debug 2 debug hidden",
    ...[3, 4].flatMap((text) => [
      ...shown(`${text}`, "error"),
      `ROOT info ${text} info hidden`,
      `ROOT debug ${text} debug hidden`,
    ]),
  ]);
  expect(await written(plain, root)).toEqual(["1 error", "1 info", "2 error"]);
  expect(await written(strict, root)).toEqual(["1 error", "2 error", "3 error", "4 error"]);
});

test("a guard lets hidden records be made", () => {
  const { root, loggers, lines } = application({ level: "warn" });
  expect(root.isDebugEnabled()).toBe(false);
  const heard = hear(loggers, { hidden: "DEBUG", names: (name) => name === "a" });
  const child = root.child({ name: "a" });
  for (const isSet of [false, true]) {
    if (isSet) loggers.setLevel("ROOT", "ERROR");
    for (const log of [root, child]) if (log.isLevelEnabled("debug")) log.debug("x");
    expect([root.isDebugEnabled(), child.isDebugEnabled(), child.isSillyEnabled()]).toEqual([false, true, false]);
  }
  expect(brief(heard)).toEqual(["a debug x hidden", "a debug x hidden"]);
  expect(lines()).toEqual([]);
});

test("hidden records of an operator's level do not get to plain streams", async () => {
  const { root, loggers, lines } = application();
  const got: string[] = [];
  const write = (record: { message: string }, _: unknown, done: () => void) => {
    got.push(record.message);
    done();
  };
  root.pipe(new Writable({ objectMode: true, write }));
  loggers.setLevel("ROOT", "INFO");
  const heard = hear(loggers, { hidden: "DEBUG" });
  root.debug("1");
  root.write({ level: "debug", message: "2" });
  root.info("3");
  await new Promise(setImmediate);
  expect(brief(heard)).toEqual(["ROOT debug 1 hidden", "ROOT debug 2 hidden", "ROOT info 3"]);
  expect([got, lines().length]).toEqual([["3"], 1]);
});

test("a format that throws does so only where it does without a tail", async () => {
  const failing = format((info) => {
    throw new Error(`no format for ${String(info.message)}`);
  });
  const { root, loggers } = application({ format: failing() });
  expect(() => root.info("1")).toThrow("no format for 1");
  const heard = hear(loggers, { hidden: "TRACE" });
  expect(() => root.info("2")).toThrow("no format for 2");
  loggers.setLevel("ROOT", "WARN");
  expect(root.info("3")).toBe(root);
  expect(heard).toEqual([]);
});

test("neither what fails nor what logs while a record is heard gets to the application", () => {
  const { root, loggers, lines } = application({
    format: format.printf(({ level, message }) => `${level}: ${message}`),
  });
  let reading = 0;
  const heard = hear(loggers, {
    hidden: "TRACE",
    taken: () => {
      root.error("from the sink");
      throw new Error("sink");
    },
  });
  const fails = {
    get a(): never {
      throw new Error("getter");
    },
    get b(): number {
      reading++;
      root.error("from a getter");
      return 1;
    },
    toJSON: () => ({ c: 1n }),
  };
  root.info("1", { fails });
  expect(brief(heard)).toEqual(["ROOT info 1"]);
  expect(heard[0]!.content().fields).toEqual({ fails: { c: "1" } });
  const { toJSON: _, ...descriptors } = Object.getOwnPropertyDescriptors(fails);
  root.debug("2", { fails: Object.defineProperties({}, descriptors) });
  expect(heard.at(-1)!.content().fields).toEqual({ fails: { a: "[cannot be read]", b: 1 } });
  expect([heard.length, reading > 0]).toEqual([2, true]);
  expect(lines().filter((line) => line.startsWith("info"))).toHaveLength(1);
});

test("a format that logs is heard as it writes, and writes nothing for a hidden record", async () => {
  const loggersMade: winston.Logger[] = [];
  const logging = format((info) => {
    if (!String(info.message).startsWith("inner")) loggersMade[0]!.info(`inner of ${String(info.message)}`);
    return info;
  });
  const { root, loggers, lines } = application({ format: format.combine(logging(), format.simple()) });
  loggersMade.push(root);
  const heard = hear(loggers, { hidden: "DEBUG" });
  root.info("1");
  loggers.setLevel("orders", "INFO");
  root.child({ name: "orders" }).debug("2");
  await new Promise(setImmediate);
  expect(brief(heard).sort()).toEqual(["ROOT info 1", "ROOT info inner of 1", "orders debug 2 hidden"]);
  expect(lines()).toHaveLength(2);
});

test("records that wait for a slow transport are heard under their names", async () => {
  const root = winston.createLogger();
  const held: (() => void)[] = [];
  const log = (_: unknown, next: () => void) => void held.push(next);
  root.add(new (Object.getPrototypeOf(Memory))({ log, highWaterMark: 1 }) as winston.transport);
  const loggers = new Loggers();
  cleanups.push(loggers.attach(winstonLoggers(root)));
  const heard = hear(loggers);
  const children = Array.from({ length: 60 }, (_, index) => root.child({ name: `n${index}` }));
  for (const [index, child] of children.entries()) child.info(`${index}`);
  expect(heard.length).toBeLessThan(60);
  while (held.length > 0) {
    held.shift()!();
    await new Promise(setImmediate);
  }
  expect(brief(heard)).toEqual(children.map((_, index) => `n${index} info ${index}`));
});

test("two actuators hear the same loggers, and one that leaves does not deafen the other", () => {
  const { root, loggers, detach } = application();
  const other = new Loggers();
  cleanups.push(other.attach(winstonLoggers(root)));
  const [one, two] = [hear(loggers), hear(other, { hidden: "DEBUG" })];
  root.info("1");
  loggers.setLevel("ROOT", "INFO");
  root.debug("2");
  detach();
  root.info("3");
  expect([brief(one), brief(two)]).toEqual([["ROOT info 1"], ["ROOT info 1", "ROOT debug 2 hidden", "ROOT info 3"]]);
});

test("what a transport writes to the console is told once", () => {
  const transport = new winston.transports.Console({ forceConsole: true } as object);
  const { root, loggers } = application({ transports: [transport] });
  cleanups.push(loggers.attach(consoleLogger()));
  const original = process.stdout.write;
  process.stdout.write = () => true;
  cleanups.push(() => {
    process.stdout.write = original;
  });
  const heard = hear(loggers);
  root.info("1");
  root.debug("2");
  console.log("3");
  expect(brief(heard)).toEqual(["ROOT info 1", "console log 3"]);
});

test.each([false, true])("50 rounds leave no trace, with a level that was set: %s", (isSet) => {
  setFlagsFromString("--allow-natives-syntax");
  const isFast = new Function("object", "return %HasFastProperties(object)") as (object: object) => boolean;
  const { root, loggers, transport } = application();
  const child = root.child({ name: "a" });
  const pushed = root.child({ name: "b" });
  if (isSet) loggers.setLevel("b", "TRACE");
  const all: object[] = [child, pushed, transport];
  for (let at: object = root; at !== null; at = Object.getPrototypeOf(at)) all.push(at);
  const state = () => all.map((object) => Object.getOwnPropertyDescriptors(object));
  const keys = () => all.map((object) => Reflect.ownKeys(object));
  root.info("x");
  const [before, order, fast] = [state(), keys(), all.map(isFast)];
  for (let round = 0; round < 50; round++) {
    const heard = hear(loggers, { hidden: "TRACE" });
    for (const log of [root, child, pushed]) {
      log.info("x");
      log.debug("x", { a: 1 });
    }
    loggers.hear(undefined);
    child.info("x");
    expect(heard).toHaveLength(6);
  }
  const plain = (states: typeof before) =>
    states.map((each) =>
      Object.fromEntries(Object.entries(each).filter(([key]) => !/^_(readable|writable|transform)State$/.test(key))),
    );
  expect(plain(state())).toEqual(plain(before));
  expect(keys()).toEqual(order);
  expect(all.map(isFast)).toEqual(fast);
});

test("a tail ends with the adapter", () => {
  const { root, loggers, detach } = application();
  const heard = hear(loggers);
  detach();
  root.info("x");
  expect(heard).toEqual([]);
  expect(Object.hasOwn(root, "push") || Object.hasOwn(root, "write")).toBe(false);
});

const NAMES = ["ROOT", "a", "a.b", "c"] as const;
const LABELS: Readonly<Record<string, Level>> = {
  error: "ERROR",
  warn: "WARN",
  info: "INFO",
  debug: "DEBUG",
  silly: "TRACE",
};
const level = fc.constantFrom<Level>("OFF", "ERROR", "WARN", "INFO", "DEBUG", "TRACE");
const name = fc.constantFrom(...NAMES);
const step = fc.oneof(
  fc.record({ type: fc.constant("set" as const), name, level }),
  fc.record({ type: fc.constant("restore" as const), name }),
  fc.record({ type: fc.constant("assign" as const), label: fc.constantFrom(...Object.keys(LABELS)) }),
  fc.record({ type: fc.constant("child" as const), of: fc.nat(), name: fc.option(name, { nil: undefined }) }),
  fc.record({ type: fc.constant("tail" as const), level, hidden: fc.dictionary(name, level) }),
  { weight: 3, arbitrary: fc.record({ type: fc.constant("write" as const), way: fc.nat(3) }) },
);

test("after any changes, what is heard and what is written are what the levels say", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const out = new Memory();
      const root = winston.createLogger({ transports: [out] });
      const loggers = new Loggers();
      const detach = loggers.attach(winstonLoggers(root));
      const known = [{ log: root as winston.Logger, name: "ROOT" }];
      const set = new Set<string>();
      const expected: string[] = [];
      const lines: string[] = [];
      const heard: string[] = [];
      let wanted: { level: Level; hidden: Record<string, Level> } | undefined;
      const atLeast = (one: Level, other: Level) => levelVerbosity(one) <= levelVerbosity(other);
      try {
        for (const [at, each] of steps.entries()) {
          if (each.type === "set") {
            loggers.setLevel(each.name, each.level);
            set.add(each.name);
          } else if (each.type === "restore") {
            if (set.delete(each.name)) loggers.restoreLevel(each.name);
          } else if (each.type === "assign") root.level = each.label;
          else if (each.type === "child") {
            const above = known[each.of % known.length]!;
            const log = above.log.child(each.name === undefined ? { requestId: at } : { name: each.name });
            known.push({ log, name: each.name ?? above.name });
          } else if (each.type === "tail") {
            wanted = { level: each.level, hidden: each.hidden };
            loggers.hear(
              (name) => ({
                verbosity: levelVerbosity(each.level),
                hiddenVerbosity: levelVerbosity(each.hidden[name] ?? "OFF"),
                take: (record) => heard.push(`${name} ${record.read().message}${record.hidden ? " hidden" : ""}`),
              }),
              true,
            );
          } else {
            for (const { log, name } of known) {
              for (const [label, needed] of Object.entries(LABELS)) {
                const text = `${at} ${known.findIndex((other) => other.log === log)} ${label}`;
                if (each.way === 0) log.log(label, text);
                else if (each.way === 1) log.log({ level: label, message: text });
                else
                  (log as unknown as Record<string, (...of: unknown[]) => void>)[label]!(
                    text,
                    ...(each.way === 2 ? [{ a: 1 }] : []),
                  );
                const isWritten = atLeast(needed, loggers.effectiveLevel(name));
                if (isWritten) lines.push(text);
                if (isWritten && atLeast(needed, wanted?.level ?? "OFF")) expected.push(`${name} ${text}`);
                if (!isWritten && atLeast(needed, wanted?.hidden[name] ?? "OFF"))
                  expected.push(`${name} ${text} hidden`);
              }
            }
          }
        }
        expect(heard).toEqual(expected);
        expect(await written(out, root)).toEqual(lines);
      } finally {
        loggers.hear(undefined);
        detach();
      }
    }),
    { numRuns: 150 },
  );
});

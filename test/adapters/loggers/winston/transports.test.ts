import { PassThrough, Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import winston from "winston";
import { winstonLoggers } from "../../../../src/adapters/loggers/winston/index.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import type { Logger } from "../../../../src/loggers/view.ts";
import { Memory, written } from "./memory.ts";

const detaches: (() => void)[] = [];
afterEach(() => {
  for (const detach of detaches.splice(0)) detach();
  vi.useRealTimers();
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});

/** What is read is looked at again after a second. */
const later = () => vi.advanceTimersByTime(1_001);
function attach(...of: Parameters<typeof winstonLoggers>): Loggers {
  const loggers = new Loggers();
  detaches.push(loggers.attach(winstonLoggers(...of)));
  return loggers;
}
const warnings = (loggers: Loggers, name = "ROOT") => (loggers.get(name) as Logger).warnings;
const effective = (loggers: Loggers, name = "ROOT") => (loggers.get(name) as Logger).effectiveLevel;

describe("a transport with a level of its own", () => {
  test("keeps it, which a warning and the effective level show", async () => {
    const out = new Memory({ level: "info" });
    const root = winston.createLogger({ transports: [out] });
    const loggers = attach(root);
    expect(warnings(loggers)).toEqual([expect.stringMatching(/^the transport "memory" keeps its own level \(info\)/)]);
    expect(loggers.setLevel("ROOT", "DEBUG").result).toMatchObject({
      configuredLevel: "DEBUG",
      effectiveLevel: "INFO",
    });
    root.debug("no, as the warning says");
    root.info("1");
    expect([root.isDebugEnabled(), root.isInfoEnabled()]).toEqual([false, true]);
    loggers.setLevel("ROOT", "WARN");
    root.info("no");
    expect(await written(out, root)).toEqual(["1"]);
    expect(out.level).toBe("info");
  });

  test("does not limit the other transports", async () => {
    const [all, errors] = [new Memory(), new Memory({ level: "error" })];
    const root = winston.createLogger({ transports: [all, errors] });
    const loggers = attach(root);
    expect(loggers.setLevel("ROOT", "DEBUG").result).toMatchObject({ effectiveLevel: "DEBUG" });
    root.debug("d");
    root.error("e");
    expect([await written(all, root), await written(errors, root)]).toEqual([["d", "e"], ["e"]]);
  });

  test("that is more verbose than the logger writes what it wrote, until another level is set", async () => {
    const [own, plain] = [new Memory({ level: "debug" }), new Memory()];
    const root = winston.createLogger({ transports: [own, plain] });
    const loggers = attach(root);
    const child = root.child({ name: "a" });
    expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "INFO", effectiveLevel: "DEBUG" });
    root.debug("1");
    child.debug("2");
    loggers.setLevel("ROOT", "WARN");
    expect(effective(loggers)).toBe("WARN");
    root.debug("no");
    root.info("no");
    child.info("no");
    loggers.setLevel("ROOT", undefined);
    root.debug("3");
    root.info("4");
    expect([await written(own, root), await written(plain, root)]).toEqual([["1", "2", "3", "4"], ["4"]]);
  });

  test("may get or lose it while the application runs", async () => {
    const out = new Memory();
    const root = winston.createLogger({ transports: [out] });
    const loggers = attach(root);
    const child = root.child({ name: "a" });
    loggers.setLevel("a", "DEBUG");
    expect(out.level).toBeUndefined();
    out.level = "warn";
    root.info("no");
    child.info("no");
    later();
    expect([effective(loggers), effective(loggers, "a")]).toEqual(["WARN", "WARN"]);
    expect(warnings(loggers)).toEqual([expect.stringContaining("(warn)")]);
    out.level = "debug";
    loggers.setLevel("a", "TRACE");
    later();
    expect([effective(loggers), effective(loggers, "a")]).toEqual(["DEBUG", "DEBUG"]);
    delete out.level;
    later();
    expect([effective(loggers), effective(loggers, "a")]).toEqual(["INFO", "TRACE"]);
    child.silly("1");
    expect(await written(out, root)).toEqual(["1"]);
  });
});

describe("transports come and go", () => {
  test("one added later writes at the level that the logger has by then", async () => {
    const root = winston.createLogger({ transports: [new Memory()] });
    const loggers = attach(root);
    const child = root.child({ name: "a" });
    loggers.setLevel("a", "DEBUG");
    const late = new Memory();
    root.add(late);
    child.debug("1");
    root.debug("no");
    expect(await written(late, root)).toEqual(["1"]);
  });

  test("a plain stream that the logger is piped to gets what the logger lets through, and no property", async () => {
    const records: { readonly message: string }[] = [];
    const plain = new Writable({ objectMode: true, write: (record, _, done) => done(void records.push(record)) });
    const root = winston.createLogger();
    root.pipe(plain);
    const loggers = attach(root);
    loggers.setLevel("ROOT", "DEBUG");
    root.debug("1");
    root.silly("no");
    await expect.poll(() => records.map(({ message }) => message)).toEqual(["1"]);
    expect("level" in plain).toBe(false);
    expect(warnings(loggers)).toEqual([]);
  });

  test("one removed is as it was", () => {
    const [out, gone] = [new Memory(), new Memory()];
    const own = () => [out, gone].map((transport) => Object.hasOwn(transport, "_write"));
    const root = winston.createLogger({ transports: [out, gone] });
    const loggers = attach(root);
    expect(own()).toEqual([false, false]);
    loggers.setLevel("ROOT", "DEBUG");
    expect(own()).toEqual([true, true]);
    root.remove(gone);
    expect(own()).toEqual([true, false]);
    root.clear();
    expect(own()).toEqual([false, false]);
  });

  test("the effective level is updated, for loggers that inherit too", () => {
    const strict = new Memory({ level: "error" });
    const root = winston.createLogger({ transports: [strict] });
    const loggers = attach(root);
    const child = root.child({ name: "a" });
    expect([effective(loggers), effective(loggers, "a")]).toEqual(["ERROR", "ERROR"]);
    root.add(new Memory());
    expect([effective(loggers), effective(loggers, "a")]).toEqual(["INFO", "INFO"]);
    expect(loggers.get("a")).toMatchObject({ configuredLevel: undefined });
    loggers.setLevel("ROOT", "DEBUG");
    expect([effective(loggers, "a"), child.isDebugEnabled()]).toEqual(["DEBUG", true]);
  });
});

describe("a transport shared by two loggers", () => {
  const shared = (...levels: readonly string[]) => {
    const out = new Memory();
    const [a, b] = levels.map((level, index) =>
      winston.createLogger({ transports: [out], level, defaultMeta: { service: `s${index}` } }),
    ) as [winston.Logger, winston.Logger];
    return { out, a, b };
  };

  test.each([
    ["debug", "info"],
    ["info", "debug"],
  ])(
    "writes at the level of the first one, %s, until a level is set on one: then that one has its own",
    async (...of) => {
      const { out, a, b } = shared(...of);
      const loggers = attach([a, b]);
      const first = of[0]!.toUpperCase();
      expect([effective(loggers), effective(loggers, "s1")]).toEqual([first, first]);
      for (const logger of [a, b]) logger.debug(logger.level);
      expect(await written(out, a, b)).toEqual(of[0] === "debug" ? of : []);
      loggers.setLevel("s1", "ERROR");
      b.warn("no");
      a.warn("1");
      loggers.setLevel("s1", "TRACE");
      a.silly("no");
      b.silly("2");
      loggers.restoreLevel("s1");
      b.silly("no");
      b.info("3");
      expect((await written(out, a, b)).slice(-3)).toEqual(["1", "2", "3"]);
      expect([...warnings(loggers), ...warnings(loggers, "s1")]).toEqual([]);
    },
  );

  test("one of them not managed: it writes what it wrote", async () => {
    const out = new Memory();
    const outside = winston.createLogger({ transports: [out], level: "warn" });
    const root = winston.createLogger({ transports: [out] });
    const loggers = attach(root);
    expect(effective(loggers)).toBe("WARN");
    root.info("no");
    expect(loggers.setLevel("ROOT", "DEBUG").result).toMatchObject({ effectiveLevel: "DEBUG" });
    outside.info("no");
    root.debug("1");
    outside.warn("2");
    expect(await written(out, root, outside)).toEqual(["1", "2"]);
  });

  test("by a logger that leaves it is restored with the last one", () => {
    const { out, a, b } = shared("info", "silly");
    const loggers = attach([a, b]);
    loggers.setLevel("ROOT", "DEBUG");
    loggers.setLevel("s1", "DEBUG");
    b.close();
    expect(Object.hasOwn(out, "_write")).toBe(true);
    a.close();
    expect(Object.hasOwn(out, "_write")).toBe(false);
  });

  test("by loggers with other levels is reported", async () => {
    const out = new Memory();
    const root = winston.createLogger({ transports: [out] });
    const { levels } = winston.config.cli;
    const wide = winston.createLogger({ transports: [out], levels, level: "silly", defaultMeta: { service: "wide" } });
    const loggers = attach([root, wide]);
    expect(warnings(loggers, "wide")).toEqual([expect.stringMatching(/by the levels of another logger/)]);
    loggers.setLevel("wide", "TRACE");
    root.info("1");
    root.debug("no");
    wide.silly("2");
    expect(await written(out, root, wide)).toEqual(["1", "2"]);
  });
});

test("a level set on one logger does not change what others write to any transport", async () => {
  const [plain, debug] = [new Memory(), new Memory({ level: "debug" })];
  const root = winston.createLogger({ transports: [plain, debug] });
  const loggers = attach(root);
  const [db, audit] = [root.child({ name: "app.db" }), root.child({ name: "audit" })];
  loggers.setLevel("app.db", "DEBUG");
  for (const logger of [root, audit, audit.child({})]) logger.debug("others");
  db.debug("db");
  db.child({}).debug("db");
  db.child({ name: "app.db.pool" }).debug("db");
  db.child({ name: "other" }).debug("others");
  expect(await written(plain, root)).toEqual(["db", "db", "db"]);
  expect(await written(debug, root)).toHaveLength(7);
});

test("the levels hold for records that wait for a slow transport, and for formats that return another record", async () => {
  const done: (() => void)[] = [];
  class Slow extends Memory {
    override log(info: { readonly message: string }, next: () => void): void {
      this.written.push(info.message);
      done.push(next);
    }
  }
  const out = new Slow({ highWaterMark: 2 } as never);
  const format = winston.format((info) => ({ ...info }))();
  const root = winston.createLogger({ transports: [out], format });
  const loggers = attach(root);
  const child = root.child({ name: "a" });
  loggers.setLevel("a", "DEBUG");
  for (let at = 0; at < 50; at++) {
    root.debug("no");
    root.child({ name: "b" }).debug("no");
    child.debug(`${at}`);
  }
  while (out.written.length < 50 || done.length > 0) {
    await new Promise(setImmediate);
    for (const next of done.splice(0)) next();
  }
  loggers.restoreLevel("a");
  child.debug("no");
  expect(await written(out, root)).toEqual(Array.from({ length: 50 }, (_, at) => `${at}`));
});

test("a silent logger and a silent transport are shown as OFF, until they are not", async () => {
  const out = new Memory();
  const root = winston.createLogger({ transports: [out], silent: true });
  const loggers = attach(root);
  const child = root.child({ name: "a" });
  const shown = () => [effective(loggers), effective(loggers, "a"), warnings(loggers).length];
  expect(loggers.get("ROOT")).toMatchObject({
    configuredLevel: "INFO",
    effectiveLevel: "OFF",
    warnings: [expect.stringMatching(/silent/)],
  });
  loggers.setLevel("a", "DEBUG");
  expect(shown()).toEqual(["OFF", "OFF", 1]);
  root.silent = false;
  later();
  expect(shown()).toEqual(["INFO", "DEBUG", 0]);
  root.info("1");
  out.silent = true;
  later();
  expect(shown()).toEqual(["OFF", "OFF", 1]);
  expect([root.isInfoEnabled(), child.isInfoEnabled()]).toEqual([true, false]);
  child.error("no");
  out.silent = false;
  later();
  expect(shown()).toEqual(["INFO", "DEBUG", 0]);
  child.debug("2");
  expect(await written(out, root)).toEqual(["1", "2"]);
});

test("a level that the application gives a transport counts at once", async () => {
  const out = new Memory({ level: "warn" });
  const root = winston.createLogger({ transports: [out] });
  const loggers = attach(root);
  root.info("no");
  out.level = "debug";
  root.debug("1");
  loggers.setLevel("ROOT", "TRACE");
  root.silly("no");
  out.level = "silly";
  root.silly("2");
  expect(await written(out, root)).toEqual(["1", "2"]);
});

test("the warning about a transport goes with it", () => {
  const [strict, plain] = [new Memory({ level: "error" }), new Memory()];
  const root = winston.createLogger({ transports: [strict] });
  const twin = winston.createLogger({ transports: [new Memory({ level: "error" })] });
  const loggers = attach([root, twin]);
  const warnings = () => (loggers.get("ROOT") as Logger).warnings.filter((each) => each.includes("transport"));
  expect(warnings()).toHaveLength(1);
  twin.configure({ transports: [plain] });
  expect(warnings(), "the other logger of the name has the same").toHaveLength(1);
  root.configure({ transports: [plain] });
  expect(warnings()).toEqual([]);
  root.add(new Memory({ level: "error" }));
  expect(warnings()).toHaveLength(1);
  for (const detach of detaches.splice(0)) detach();
  expect(warnings()).toEqual([]);
});

test("real transports write real lines: to a stream, and one made for winston 2", async () => {
  const stream = new PassThrough();
  const lines: string[] = [];
  stream.on("data", (chunk: Buffer) => lines.push(chunk.toString().trim()));
  const old: string[] = [];
  const legacy = Object.assign(new Writable({ objectMode: true }), {
    name: "legacy",
    log: (level: string, message: string, _meta: object, done: () => void) => {
      old.push(`${level}: ${message}`);
      done();
    },
  });
  const complaints = vi.spyOn(console, "error").mockImplementation(() => {});
  const root = winston.createLogger({
    format: winston.format.simple(),
    transports: [new winston.transports.Stream({ stream }), legacy as never],
  });
  complaints.mockRestore();
  const loggers = attach(root);
  loggers.setLevel("ROOT", "DEBUG");
  root.debug("1");
  root.silly("no");
  await expect.poll(() => lines).toEqual(["debug: 1"]);
  expect(old).toEqual(["debug: 1"]);
});

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
    expect(out.level).toBe("debug");
    out.level = "warn";
    root.info("no");
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
    const root = winston.createLogger({ transports: [out, gone] });
    const loggers = attach(root);
    loggers.setLevel("ROOT", "DEBUG");
    root.remove(gone);
    expect([out.level, gone.level]).toEqual(["debug", undefined]);
    root.clear();
    expect(out.level).toBeUndefined();
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
  test.each([
    ["debug", "info", "in order"],
    ["info", "debug", "in order"],
    ["debug", "info", "the other way round"],
    ["info", "debug", "the other way round"],
  ])("lets each write at its own level: %s and %s, given %s", async (...of) => {
    const [levels, isReversed] = [of.slice(0, 2), of[2] !== "in order"];
    const out = new Memory();
    const [a, b] = levels.map((level, index) =>
      winston.createLogger({ transports: [out], level, defaultMeta: { service: `s${index}` } }),
    ) as [winston.Logger, winston.Logger];
    const loggers = attach(isReversed ? [b, a] : [a, b]);
    for (const logger of [a, b]) logger.debug(logger.level);
    expect(await written(out, a, b)).toEqual(["debug"]);
    const [first, second] = isReversed ? [b, a] : [a, b];
    const name = isReversed ? "s0" : "s1";
    expect([...warnings(loggers), ...warnings(loggers, name)]).toEqual([]);
    expect([effective(loggers), effective(loggers, name)]).toEqual(
      [first, second].map(({ level }) => level.toUpperCase()),
    );
    loggers.setLevel(name, "ERROR");
    second.warn("no");
    first.warn("yes");
    expect((await written(out, a, b)).slice(1)).toEqual(["yes"]);
  });

  test("one of them not managed is reported, and not changed", async () => {
    const out = new Memory();
    const outside = winston.createLogger({ transports: [out], level: "warn" });
    const root = winston.createLogger({ transports: [out] });
    const loggers = attach(root);
    expect(warnings(loggers)).toEqual([
      expect.stringMatching(/"memory" keeps the level of a logger that is not managed \(warn\)/),
      expect.stringMatching(/"memory" is shared with a logger that is not managed/),
    ]);
    expect(loggers.setLevel("ROOT", "DEBUG").result).toMatchObject({ effectiveLevel: "WARN" });
    root.info("no");
    outside.warn("1");
    expect(out.level).toBeUndefined();
    expect(await written(out, root, outside)).toEqual(["1"]);
  });

  test("the other one found later", async () => {
    const out = new Memory();
    const root = winston.createLogger({ transports: [out] });
    const loggers = attach(root);
    const late = winston.createLogger({ transports: [out], level: "debug", defaultMeta: { service: "late" } });
    await Promise.resolve();
    late.debug("1");
    root.debug("no");
    loggers.setLevel("late", "ERROR");
    late.warn("no");
    root.info("2");
    expect(await written(out, root, late)).toEqual(["1", "2"]);
    expect([...warnings(loggers), ...warnings(loggers, "late")]).toEqual([]);
  });

  test("by a logger that leaves it is open for the others only", () => {
    const out = new Memory();
    const root = winston.createLogger({ transports: [out] });
    const verbose = winston.createLogger({ transports: [out], level: "silly", defaultMeta: { service: "verbose" } });
    attach([root, verbose]);
    expect(out.level).toBe("silly");
    verbose.close();
    expect(out.level).toBe("info");
  });

  test("by loggers with other levels is reported, and open for the most verbose one", async () => {
    const out = new Memory();
    const root = winston.createLogger({ transports: [out] });
    const wide = winston.createLogger({
      transports: [out],
      levels: winston.config.cli.levels,
      level: "silly",
      defaultMeta: { service: "wide" },
    });
    const loggers = attach([root, wide]);
    expect(warnings(loggers, "wide")).toEqual([expect.stringMatching(/by the levels of another logger/)]);
    root.info("1");
    root.debug("no");
    wide.silly("2");
    expect(await written(out, root, wide)).toEqual(["1", "2"]);
  });
});

test("a silent logger shows that it is silent, until it is not", async () => {
  const out = new Memory();
  const root = winston.createLogger({ transports: [out], silent: true });
  const loggers = attach(root);
  expect(loggers.get("ROOT")).toMatchObject({
    configuredLevel: "INFO",
    effectiveLevel: "OFF",
    warnings: [expect.stringMatching(/silent/)],
  });
  root.silent = false;
  later();
  expect(effective(loggers)).toBe("INFO");
  root.info("1");
  expect(await written(out, root)).toEqual(["1"]);
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
  root.debug("no");
  loggers.setLevel("ROOT", "DEBUG");
  root.debug("1");
  await expect.poll(() => lines).toEqual(["debug: 1"]);
  expect(old).toEqual(["debug: 1"]);
});

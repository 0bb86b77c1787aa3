import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { LoggersOptions } from "../../src/loggers/options.ts";
import { instanceOf, TestServer } from "../fleet/support.ts";

let folder: string;
let path: string;
const errors: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levels-file-"));
  path = join(folder, "levels");
  errors.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes the file as the kubelet does: a folder of its own, to which a link leads that is replaced. */
let versions = 0;
function write(text: string): void {
  const version = join(folder, `..${++versions}`);
  mkdirSync(version);
  writeFileSync(join(version, "levels"), text);
  symlinkSync(version, join(folder, "..data_tmp"));
  renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
  if (versions === 1 || !linked.has(folder)) symlinkSync(join(folder, "..data", "levels"), path);
  linked.add(folder);
}
const linked = new Set<string>();

function start(options: LoggersOptions = {}): Loggers {
  const onError = (error: unknown) => errors.push((error as Error).message);
  const loggers = new Loggers({ levelsFile: path, instance: "i", ...options }, onError);
  onTestFinished(() => loggers.close());
  return loggers;
}

const soon = { timeout: 20_000, interval: 20 };
/** Writes the file, and waits until another level in it is there: then all of it was read. */
async function writeAndFollow(loggers: Loggers, text: string): Promise<void> {
  const sign = `sign-${versions}`;
  write(`${text}${sign}=INFO\n`);
  await expect.poll(() => levelIn(loggers, sign), soon).toBe("INFO");
}
const levelIn = (loggers: Loggers, name = "a") => loggers.get(name)?.configuredLevel;

test("its levels are in force, and follow the file", async () => {
  write("# of the shop\n\na = WARN\nb.c=debug\n");
  const loggers = start();
  expect([levelIn(loggers), levelIn(loggers, "b.c")]).toEqual(["WARN", "DEBUG"]);
  expect(loggers.get("a")).toMatchObject({ override: { reason: `the file ${path}`, held: true } });
  await writeAndFollow(loggers, "a=ERROR\n");
  expect([levelIn(loggers), levelIn(loggers, "b.c")]).toEqual(["ERROR", undefined]);
});

test("what callers set lies above it, and gives its level back", async () => {
  write("a=WARN\n");
  const loggers = start();
  loggers.setLevel("a", "DEBUG", { ttlMs: 60_000 });
  await writeAndFollow(loggers, "a=ERROR\n");
  expect(levelIn(loggers)).toBe("DEBUG");
  loggers.restoreLevel("a");
  await Promise.resolve();
  expect(levelIn(loggers)).toBe("ERROR");
  loggers.setLevel("a", "INFO");
  await writeAndFollow(loggers, "a=FATAL\n");
  expect(levelIn(loggers)).toBe("INFO");
  loggers.restoreLevel("a");
  await Promise.resolve();
  expect(levelIn(loggers)).toBe("FATAL");
});

test("it lies beneath all temporary levels, not only the one in force", async () => {
  write("");
  const loggers = start();
  loggers.setLevel("a", "ERROR", { ttlMs: 60_000 });
  const { lease } = loggers.holdLevel("a", "DEBUG");
  await writeAndFollow(loggers, "a=WARN\n");
  expect(levelIn(loggers)).toBe("DEBUG");
  lease.release();
  expect(levelIn(loggers)).toBe("ERROR");
});

test("it comes back after a permanent level is restored, though the file is the same", async () => {
  write("a=WARN\n");
  const loggers = start();
  loggers.setLevel("a", "INFO");
  await Promise.resolve();
  expect(levelIn(loggers)).toBe("INFO");
  loggers.restoreLevel("a");
  await Promise.resolve();
  expect(levelIn(loggers)).toBe("WARN");
  loggers.setLevel("a", "DEBUG", { ttlMs: 60_000 });
  loggers.setLevel("a", "INFO");
  loggers.restoreAllLevels();
  await Promise.resolve();
  expect(levelIn(loggers)).toBe("WARN");
});

test("it comes back after a level from the state file is restored", async () => {
  write("a=WARN\n");
  const state = join(folder, "state.json");
  const first = start({ state });
  first.setLevel("a", "DEBUG");
  await first.close();
  const again = start({ state });
  expect(levelIn(again)).toBe("DEBUG");
  again.restoreLevel("a");
  await Promise.resolve();
  expect(levelIn(again)).toBe("WARN");
});

test("a fleet's level lies above it, also after a restart and a change of the file", async () => {
  write("a=WARN\n");
  const server = new TestServer();
  const first = instanceOf(server, "i", { loggers: start() });
  await first.fleet.setLevel("a", "ERROR");
  expect(levelIn(first.loggers)).toBe("ERROR");
  await first.fleet.close();
  write("a=INFO\n");
  const again = instanceOf(server, "i", { loggers: start() });
  await expect.poll(() => levelIn(again.loggers)).toBe("ERROR");
  await again.fleet.setLevel("a", undefined);
  expect(levelIn(again.loggers)).toBe("INFO");
});

test.each([
  ["a", ":1: a line must be a name and a level"],
  ["a=WARN\nb=loud", ":2: a line must be a name and a level"],
  ["=WARN", "name"],
])("%j is refused at the start", (text, message) => {
  write(text);
  expect(() => start()).toThrow(message);
});

test("a file that is not there is refused at the start; later it is reported once, and the levels stay", async () => {
  expect(() => start()).toThrow(`The file of levels ${path} cannot be read: it is not there.`);
  write("a=WARN\n");
  const loggers = start();
  write("a=loud\n");
  await expect
    .poll(() => errors, soon)
    .toEqual([expect.stringMatching(/levels:1: a line must be .* The levels that it had before stay\.$/)]);
  expect(levelIn(loggers)).toBe("WARN");
  await writeAndFollow(loggers, "a=ERROR\n");
  expect(levelIn(loggers)).toBe("ERROR");
  expect(errors).toHaveLength(1);
});

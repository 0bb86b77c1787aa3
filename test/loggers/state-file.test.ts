import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Actuator, createActuator } from "../../src/index.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import { StateFile } from "../../src/loggers/state-file.ts";
import type { Logger } from "../../src/loggers/view.ts";
import type { AuditRecord } from "../../src/operations/audit/audit-record.ts";
import { http1Request } from "../support/server-harness.ts";
import { type StateFolder, stateFolder } from "../support/state-folder.ts";

let at: StateFolder;
let errors: string[];
const onError = (error: unknown, context: string) => void errors.push(`${context}: ${(error as Error).message}`);

beforeEach(() => {
  at = stateFolder();
  errors = [];
});
afterEach(() => at.remove());

const start = (): Loggers => new Loggers({ state: at.path }, onError);
const stored = (): { loggers: { name: string }[] } => JSON.parse(readFileSync(at.path, "utf8"));
const storedNames = (): string[] => stored().loggers.map(({ name }) => name);

const MEBIBYTE = 1024 * 1024;
const override = { setTime: 1, actor: "", reason: "", instance: "" };
const state = (part: object) => JSON.stringify({ version: 1, loggers: [], groups: [], prefixes: [], ...part });
const entry = (part: object) => state({ loggers: [{ name: "a", lasting: { level: "DEBUG", override }, ...part }] });

describe("a file that cannot be read", () => {
  const cases: readonly (readonly [what: string, content: string | Uint8Array, why: string])[] = [
    ["nothing", "", "it is not JSON"],
    ["half a state", entry({}).slice(0, 60), "it is not JSON"],
    ["zeros, as after a power failure", new Uint8Array(4096), "it is not JSON"],
    ["no UTF-8", Buffer.from(entry({ name: "\xff" }), "latin1"), "it is not JSON"],
    ["another value", "[]", "the file is not an object"],
    ["null", "null", "the file is not an object"],
    ["another object", '{"name":"package"}', "it has no version"],
    ["an older version", '{"version":0}', "it has no version"],
    ["a later version", '{"version":2,"levels":{}}', "it has version 2, and this release reads version 1"],
    ["a list too few", '{"version":1,"loggers":[],"groups":[]}', '"prefixes" is not a list'],
    ["deep nesting", "[".repeat(1_000_000), "it is not JSON"],
    ["too much", " ".repeat(64 * MEBIBYTE + 1), "it has more than 67108864 bytes"],
  ];
  test.each(cases)("%s, is renamed and reported, and the levels start anew", async (_, content, why) => {
    writeFileSync(at.path, content);
    const loggers = start();
    const [kept, ...others] = at.names();
    expect(others).toEqual([]);
    expect(kept).toMatch(/^levels\.json\.kept-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/);
    expect(digest(readFileSync(join(at.folder, kept!)))).toBe(digest(content));
    const problem = `levels.json was not read: ${why}. It is kept as ${kept}.`;
    expect(errors).toEqual([`loggers.state: ${problem}`]);
    expect((loggers.get("ROOT") as Logger).warnings).toEqual([problem]);
    expect(loggers.list().loggers).toHaveLength(1);
    loggers.setLevel("b", "DEBUG");
    await loggers.flushed();
    expect(at.names()).toEqual(["levels.json", kept]);
    expect(storedNames()).toEqual(["b"]);
  });

  test("never takes the place of one that was kept before, in the same millisecond either", () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    for (const content of ["one", "two", "three"]) {
      writeFileSync(at.path, content);
      start();
    }
    const contents = at.names().map((name) => readFileSync(join(at.folder, name), "utf8"));
    expect(contents.sort()).toEqual(["one", "three", "two"]);
  });

  test("is not what a whole file with more keys than are known is", () => {
    writeFileSync(at.path, entry({ colour: "red" }));
    expect(start().get("a")).toMatchObject({ configuredLevel: "DEBUG" });
    expect(errors).toEqual([]);
  });
});

describe("an entry that cannot be read", () => {
  const cases: readonly (readonly [what: string, content: string, why: string])[] = [
    ["an entry that is none", state({ groups: [1] }), '"groups" 0 is not an object'],
    ["a name too few", state({ loggers: [{}] }), '"loggers" 0 has an invalid name'],
    ["an invalid name", entry({ name: "a\n" }), '"loggers" 0 has an invalid name'],
    ["an unknown level", entry({ lasting: { level: "LOUD", override } }), '"loggers" 0 has an unknown level'],
    ["a level without its author", entry({ lasting: { level: "DEBUG" } }), '"loggers" 0 is not an object'],
    [
      "a time that is none",
      entry({ lasting: { level: "DEBUG", override: { ...override, setTime: "now" } } }),
      '"loggers" 0 has an invalid time',
    ],
    [
      "a time that no timestamp holds",
      entry({ temporary: { level: "DEBUG", override: { ...override, expireTime: 1e300 } } }),
      '"loggers" 0 has an invalid time',
    ],
    [
      "a lasting level with an end",
      entry({ lasting: { level: "DEBUG", override: { ...override, expireTime: 2 } } }),
      '"loggers" 0 has a lasting level that ends',
    ],
    [
      "a temporary level without end",
      entry({ temporary: { level: "DEBUG", override } }),
      '"loggers" 0 has a temporary level without end',
    ],
    [
      "a reason that is not a string",
      entry({ lasting: { level: "DEBUG", override: { ...override, reason: 1 } } }),
      '"loggers" 0 lacks a string',
    ],
  ];
  test.each(cases)("%s, costs that entry only, and the file is kept", async (_, content, why) => {
    const good = { name: "good", lasting: { level: "WARN", override } };
    const { loggers: listed, ...others } = JSON.parse(content);
    const whole = JSON.stringify({ ...others, loggers: [...listed, good] });
    writeFileSync(at.path, whole);
    const loggers = start();
    expect(loggers.get("good")).toMatchObject({ configuredLevel: "WARN" });
    const kept = at.names().find((name) => name.includes(".kept-"))!;
    expect(readFileSync(join(at.folder, kept), "utf8")).toBe(whole);
    const problem = `levels.json: 1 of its entries cannot be read: ${why}. It is kept as ${kept}.`;
    expect(errors).toEqual([`loggers.state: ${problem}`]);
    expect(loggers.stateProblems).toEqual([problem]);
    expect((loggers.get("ROOT") as Logger).warnings).toEqual([problem]);
  });
});

describe.runIf(canMount())("a full disk", () => {
  test("is said in health and metrics, and the file is written by itself when there is room", async () => {
    const { folder: disk, remove } = stateFolder();
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]);
    onTestFinished(() => {
      execFileSync("umount", ["-l", disk]);
      remove();
    });
    const path = join(disk, "levels.json");
    const filler = join(disk, "filler");
    const actuator = createActuator({
      loggers: { state: path, logLevelChanges: false },
      health: {},
      metrics: true,
      audit: false,
      onError,
    });
    onTestFinished(() => actuator.close({ deadlineMs: 0 }));
    const { url } = await actuator.listen({ port: 0 });
    const seen = async (name: string) => (await http1Request(`${url}/actuator/${name}`)).body;
    actuator.loggers!.setLevel("a", "DEBUG");
    await actuator.loggers!.flushed();
    expect(await seen("prometheus")).toMatch(/^actuator_loggers_state_problems 0$/m);

    expect(() => writeFileSync(filler, Buffer.alloc(MEBIBYTE))).toThrow("ENOSPC");
    actuator.loggers!.setLevel("b", "DEBUG");
    await expect(actuator.loggers!.flushed()).rejects.toThrow("ENOSPC");
    const warnings = [expect.stringContaining("cannot be written")];
    // A check may have run a moment ago.
    await expect
      .poll(async () => JSON.parse(await seen("health/levels")))
      .toMatchObject({ status: "UP", details: { warnings } });
    expect(await seen("prometheus")).toMatch(/^actuator_loggers_state_problems 1$/m);

    rmSync(filler);
    await expect.poll(() => readFileSync(path, "utf8")).toContain('"name":"b"');
    await expect.poll(() => actuator.loggers!.stateProblems).toEqual([]);
  });
});

/** Whether this user may mount a small disk, as root may in a container with that right. */
function canMount(): boolean {
  const folder = stateFolder();
  try {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", folder.folder], { stdio: "ignore" });
    execFileSync("umount", ["-l", folder.folder]);
    return true;
  } catch {
    console.warn("missing: the right to mount a disk");
    return false;
  } finally {
    folder.remove();
  }
}

describe("a path that cannot be used is refused at the start", () => {
  const refused = (message: RegExp) =>
    expect.objectContaining({
      code: "INVALID_ARGUMENT",
      reason: "INVALID_STATE_FILE",
      message: expect.stringMatching(message),
    });
  test.each<[what: string, path: () => string, message: RegExp]>([
    ["in a folder that is not there", () => join(at.folder, "no", "levels.json"), /folder .*no cannot .* \(ENOENT\)/],
    [
      "in a folder that is a file",
      () => {
        writeFileSync(join(at.folder, "file"), "");
        return join(at.folder, "file", "levels.json");
      },
      /\(ENOTDIR\)/,
    ],
    ["with too long a name", () => join(at.folder, "x".repeat(250)), /\(ENAMETOOLONG\)/],
    ["with a name that no file can have", () => join(at.folder, "a\0b"), /cannot be written to/],
    ["of a folder", () => at.folder, /cannot be read \(not a file\)/],
    ["of a link that leads nowhere but to itself", () => link("loop"), /\(ELOOP\)/],
  ])("%s", (_, path, message) => {
    expect(() => createActuator({ loggers: { state: path() } })).toThrow(refused(message));
    expect(at.names().filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("and one that is not a string", () => {
    const options = { loggers: { state: 1 as unknown as string } };
    expect(() => createActuator(options)).toThrow("createActuator.loggers.state must be a non-empty string");
  });

  function link(name: string): string {
    const path = join(at.folder, name);
    symlinkSync(path, path);
    return path;
  }
});

describe("the file", () => {
  test("is written after a change, for its owner alone, and nothing else is left in the folder", async () => {
    const loggers = start();
    expect(at.names()).toEqual([]);
    loggers.setLevel("a", "DEBUG");
    await loggers.flushed();
    expect(at.names()).toEqual(["levels.json"]);
    if (process.platform !== "win32") expect(statSync(at.path).mode & 0o777).toBe(0o600);
  });

  test("is not written if no change concerns it", async () => {
    const loggers = start();
    loggers.setLevel("a", "DEBUG");
    await loggers.flushed();
    const { ino, mtimeMs } = statSync(at.path);
    loggers.setLevel("b", undefined);
    await loggers.flushed();
    expect(statSync(at.path)).toMatchObject({ ino, mtimeMs });
  });

  test("holds what one call changes as a whole, and many calls at once cost one write", async () => {
    const written: string[] = [];
    const file = new StateFile(at.path, {
      content: () => {
        written.push(`${changes}`);
        return `${changes}`;
      },
      onError: (error) => onError(error, ""),
    });
    let changes = 0;
    for (; changes < 1_000; changes++) file.changed();
    expect(written).toEqual([]);
    await file.flushed();
    expect(written).toEqual(["1000"]);
  });

  test("is written by one write at a time, and once more for all the changes during it", async () => {
    const written: number[] = [];
    let changes = 0;
    const file = new StateFile(at.path, {
      content: () => {
        written.push(changes);
        // Another write under way would have its temporary file here.
        expect(at.names().filter((name) => name.endsWith(".tmp"))).toEqual([]);
        return `${changes}`;
      },
      onError: (error) => onError(error, ""),
    });
    const change = () => {
      changes++;
      file.changed();
    };
    for (let round = 1; round <= 20; round++) {
      change();
      // The first write has begun; what follows changes during it.
      while (written.length < 2 * round - 1) await setImmediate();
      for (let count = 0; count < 50; count++) change();
      await file.flushed();
      expect(readFileSync(at.path, "utf8")).toBe(`${changes}`);
    }
    expect(written).toHaveLength(40);
    expect(errors).toEqual([]);
  });

  test("includes a change during a write even if no caller waits", async () => {
    let content = "one";
    let begun = false;
    const file = new StateFile(at.path, {
      content: () => {
        begun = true;
        return content;
      },
      onError: (error) => onError(error, ""),
    });
    file.changed();
    while (!begun) await setImmediate();
    content = "two";
    file.changed();
    await expect.poll(() => readFileSync(at.path, "utf8")).toBe("two");
  });

  test("is waited for no longer than it takes to hold the changes so far", async () => {
    let busy = true;
    let changes = 0;
    const file = new StateFile(at.path, { content: () => `${changes}`, onError: (error) => onError(error, "") });
    const application = (async () => {
      while (busy) {
        changes++;
        file.changed();
        await setImmediate();
      }
    })();
    for (let count = 0; count < 10; count++) {
      await setImmediate();
      const before = changes;
      await file.flushed();
      expect(Number(readFileSync(at.path, "utf8"))).toBeGreaterThanOrEqual(before);
    }
    busy = false;
    await application;
    await file.flushed();
  });

  test("that cannot be written is reported once and tried again at the next change, and the levels are in force", async () => {
    const loggers = start();
    rmSync(at.folder, { recursive: true });
    for (const name of ["a", "b", "c"]) {
      loggers.setLevel(name, "DEBUG");
      await expect(loggers.flushed()).rejects.toThrow(/^levels are not stored: ENOENT/);
    }
    expect(errors).toHaveLength(1);
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "DEBUG" });
    mkdirSync(at.folder);
    loggers.setLevel("d", "DEBUG");
    await loggers.flushed();
    expect(storedNames()).toEqual(["a", "b", "c", "d"]);
    rmSync(at.folder, { recursive: true });
    loggers.setLevel("e", "DEBUG");
    await expect(loggers.flushed()).rejects.toThrow();
    expect(errors).toHaveLength(2);
  });

  test("that cannot be written is written again by itself", async () => {
    const loggers = start();
    rmSync(at.folder, { recursive: true });
    loggers.setLevel("a", "DEBUG");
    await expect(loggers.flushed()).rejects.toThrow();
    expect(loggers.stateProblems).toEqual([expect.stringContaining("cannot be written")]);
    mkdirSync(at.folder);
    await expect.poll(() => at.names()).toEqual(["levels.json"]);
    await expect.poll(() => loggers.stateProblems).toEqual([]);
    expect(storedNames()).toEqual(["a"]);
  });

  test("that cannot be written is in the audit when that begins and when it is over", async () => {
    const records: AuditRecord[] = [];
    const actuator = createActuator({
      loggers: { state: at.path, logLevelChanges: false },
      audit: (record) => void records.push(record),
      onError,
    });
    onTestFinished(() => actuator.close({ deadlineMs: 0 }));
    const change = async (name: string) => {
      actuator.loggers!.setLevel(name, "WARN");
      await actuator.loggers!.flushed().catch(() => undefined);
    };
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    const failure = { time, operation: "loggers.state", result: "UNAVAILABLE", reason: "LEVELS_NOT_STORED" };
    const success = { time, operation: "loggers.state", result: "OK" };
    await change("a");
    expect(records).toEqual([]);
    rmSync(at.folder, { recursive: true });
    await change("b");
    await change("c");
    expect(records).toEqual([failure]);
    mkdirSync(at.folder);
    await change("d");
    await change("e");
    expect(records).toEqual([failure, success]);
  });

  test("loses later what a writer left that was killed just before", () => {
    // Before the clock stands still, or else it would be written in the future.
    writeFileSync(join(at.folder, "levels.json.ba9876543210.tmp"), "");
    vi.useFakeTimers({ toFake: ["setTimeout", "Date"] });
    onTestFinished(() => void vi.useRealTimers());
    start();
    expect(at.names()).toHaveLength(1);
    vi.advanceTimersByTime(61_000);
    expect(at.names()).toEqual([]);
  });

  test("that cannot be put in its place leaves nothing else there", async () => {
    const loggers = start();
    mkdirSync(at.path);
    loggers.setLevel("a", "DEBUG");
    await expect(loggers.flushed()).rejects.toThrow(/^levels are not stored: /);
    expect(at.names()).toEqual(["levels.json"]);
  });

  test("is never so large that it could not be read again", async () => {
    let content = "small";
    const file = new StateFile(at.path, { content: () => content, onError: (error) => onError(error, "") });
    file.changed();
    await file.flushed();
    content = "x".repeat(64 * MEBIBYTE + 1);
    file.changed();
    await expect(file.flushed()).rejects.toThrow("they take 67108865 bytes, and the maximum is 67108864");
    expect(readFileSync(at.path, "utf8")).toBe("small");
  });

  test("loses what killed writers left, but not what another process may be writing", () => {
    const names = {
      old: "levels.json.0123456789ab.tmp",
      young: "levels.json.ba9876543210.tmp",
      others: "other.json.0123456789ab.tmp",
      kept: "levels.json.kept-2026-01-01T00-00-00.000Z",
    };
    const long = Date.now() / 1_000 - 120;
    for (const [age, name] of Object.entries(names)) {
      writeFileSync(join(at.folder, name), "");
      if (age !== "young") utimesSync(join(at.folder, name), long, long);
    }
    start();
    expect(at.names()).toEqual([names.young, names.others, names.kept].sort());
  });

  test("shared by two processes is whole and has the state of the last to write", async () => {
    const [one, two] = [start(), start()];
    for (let count = 0; count < 50; count++) {
      one.setLevel("one", count % 2 ? "DEBUG" : "TRACE");
      two.setLevel("two", count % 2 ? "DEBUG" : "TRACE");
      await Promise.all([one.flushed(), two.flushed()]);
      expect(["one", "two"]).toContain(storedNames().join());
    }
    one.setLevel("one", "WARN");
    await one.flushed();
    expect(storedNames()).toEqual(["one"]);
    expect(errors).toEqual([]);
  });
});

describe("an actuator with a state file", () => {
  const create = (): Actuator => createActuator({ loggers: { state: at.path, logLevelChanges: false }, onError });

  test("holds every change that it answered when it is closed", async () => {
    const actuator = create();
    const { url } = await actuator.listen({ port: 0 });
    const headers = { "content-type": "application/json" };
    const body = '{"configuredLevel":"DEBUG"}';
    for (let count = 0; count < 20; count++) {
      const { status } = await http1Request(`${url}/actuator/loggers/a${count}`, { method: "POST", headers, body });
      expect(status).toBe(204);
    }
    await actuator.close();
    expect(storedNames()).toHaveLength(20);
    const next = create();
    expect(next.loggers!.get("a19")).toMatchObject({ configuredLevel: "DEBUG" });
    await next.close();
  });

  test("closes even if the file cannot be written, which is reported", async () => {
    const actuator = create();
    rmSync(at.folder, { recursive: true });
    actuator.loggers!.setLevel("a", "DEBUG");
    await actuator.close();
    expect(errors).toEqual([expect.stringMatching(/^loggers\.state: levels are not stored: ENOENT/)]);
  });

  test("without one waits for nothing", async () => {
    const actuator = createActuator({ loggers: { logLevelChanges: false } });
    actuator.loggers!.setLevel("a", "DEBUG");
    await actuator.loggers!.flushed();
    await actuator.close();
    expect(existsSync(at.path)).toBe(false);
  });
});

function digest(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, type MockInstance, onTestFinished, test, vi } from "vitest";
import type { Caller } from "../../../src/access/caller.ts";
import { permissionsFrom } from "../../../src/access/permission.ts";
import { type AuditOption, audit, auditOption } from "../../../src/operations/audit/audit.ts";
import { AuditFile } from "../../../src/operations/audit/audit-file.ts";
import { type AuditRecord, auditLine, auditRecord } from "../../../src/operations/audit/audit-record.ts";
import type { CallRecord } from "../../../src/operations/calls/call-record.ts";
import { scratch } from "../../access/fixtures.ts";
import { requirement } from "../../support/requirement.ts";

const alice: Caller = { name: "alice", authentication: "token", permissions: permissionsFrom(["*"]) };
const stranger: Partial<CallRecord> = { caller: undefined, code: "UNAUTHENTICATED", permission: "loggers:read" };

function call(part: Partial<CallRecord> = {}): CallRecord {
  return {
    protocol: "rest",
    operation: "POST /loggers/{name}",
    permission: "loggers:write",
    caller: alice,
    address: "192.0.2.1",
    subject: { logger: "orders", level: "DEBUG" },
    code: "OK",
    startTime: Date.parse("2026-05-01T12:00:00.123Z"),
    durationMs: 1.23456,
    ...part,
  };
}

/** The records that an audit keeps of calls. */
function recordsOf(...calls: readonly Partial<CallRecord>[]): AuditRecord[] {
  const records: AuditRecord[] = [];
  const observe = audit((record) => records.push(record));
  for (const each of calls) observe(call(each));
  return records;
}

describe("a record", () => {
  test("says who did what to what, from where, and how it ended", () => {
    expect(recordsOf({})).toEqual([
      {
        time: "2026-05-01T12:00:00.123Z",
        who: "alice",
        authentication: "token",
        operation: "POST /loggers/{name}",
        permission: "loggers:write",
        target: { logger: "orders", level: "DEBUG" },
        address: "192.0.2.1",
        protocol: "rest",
        result: "OK",
        durationMs: 1.235,
      },
    ]);
  });

  test("names who attached to the process, unless there is no audit", async () => {
    const file = join(scratch(), "audit.log");
    const log = audit({ file });
    log.attached("uid 1000");
    await log.close();
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
      who: "uid 1000",
      operation: "attach",
      result: "OK",
    });
    const error = vi.spyOn(console, "error");
    onTestFinished(() => error.mockRestore());
    audit(false).attached("uid 1000");
    expect(error).not.toHaveBeenCalled();
  });

  test("leaves out what is not known, and says that a level was cleared", () => {
    expect(Object.keys(recordsOf({ ...stranger, subject: {}, address: undefined })[0]!)).toEqual([
      ...["time", "operation", "permission", "protocol", "result", "durationMs"],
    ]);
    expect(recordsOf({ subject: { logger: "a", level: null } })[0]!.target).toEqual({ logger: "a", level: null });
  });

  test.each<[what: string, part: Partial<CallRecord>, kept: boolean]>([
    ["a write", {}, true],
    ["a write that failed", { code: "NOT_FOUND" }, true],
    ["a write that was too many", { code: "RESOURCE_EXHAUSTED" }, true],
    [
      "a rebuild of the graph",
      { permission: "graph:write", operation: "actuator.v3.IntegrationGraphService/Rebuild" },
      true,
    ],
    ["a deletion of a session", { permission: "sessions:delete" }, true],
    ["a look at sessions of a user", { permission: "sessions:read" }, true],
    ["a list of all sessions", { permission: "sessions:list", code: "UNIMPLEMENTED" }, true],
    ["a look at loggers", { permission: "loggers:read" }, false],
    ["a look at the graph", { permission: "graph:read" }, false],
    ["info", { permission: "info:read" }, false],
    ["health", { permission: undefined }, false],
    ["a path that is not there", { permission: undefined, code: "NOT_FOUND" }, false],
    ["a look that was refused", { permission: "info:read", code: "PERMISSION_DENIED" }, true],
    ["a look by nobody", stranger, true],
    ["wrong credentials that are too many", { ...stranger, code: "RESOURCE_EXHAUSTED" }, true],
    ["a look that asked for too much", { permission: "loggers:read", code: "RESOURCE_EXHAUSTED" }, false],
    ["a page of another site", { permission: undefined, caller: undefined, code: "PERMISSION_DENIED" }, true],
    ["spans over HTTP", { permission: "graph:write", protocol: "otlp", operation: "POST /v1/traces" }, false],
    [
      "spans over gRPC",
      {
        permission: "graph:write",
        protocol: "grpc",
        operation: "opentelemetry.proto.collector.trace.v1.TraceService/Export",
      },
      false,
    ],
    ["spans by nobody", { ...stranger, permission: "graph:write", protocol: "otlp" }, true],
  ])("is kept of %s: %j", (_, part, kept) => {
    expect(recordsOf(part)).toHaveLength(kept ? 1 : 0);
  });

  test("is one line of JSON whatever it holds, of bounded length, and can be read back", () => {
    const text = fc.string({ unit: "binary", maxLength: 2_000 });
    fc.assert(
      fc.property(text, text, text, text, (name, logger, username, address) => {
        const record = auditRecord(
          call({ caller: { ...alice, name }, subject: { logger, username, session: name }, address }),
        );
        const line = auditLine(record);
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect(line.length).toBeLessThan(20_000);
        expect(JSON.parse(line)).toEqual({ level: "info", name: "connect-actuator", msg: "audit", ...record });
      }),
    );
  });

  test("cannot be made to look like two", () => {
    const logger = 'a"}\n{"level":"info","msg":"audit","who":"mallory"\u2028\u202e';
    const line = auditLine(recordsOf({ subject: { logger } })[0]!);
    expect(line.split(/\r?\n|\u2028/)).toHaveLength(1);
    expect(JSON.parse(line)).toMatchObject({ who: "alice", target: { logger } });
  });

  test("has a warning's level where something went wrong", () => {
    expect(JSON.parse(auditLine(recordsOf({ code: "NOT_FOUND" })[0]!))).toMatchObject({
      level: "warn",
      result: "NOT_FOUND",
    });
    for (const code of ["OK", "CANCELLED"] as const) {
      expect(JSON.parse(auditLine(recordsOf({ code })[0]!))).toMatchObject({ level: "info", result: code });
    }
  });
});

describe("refusals", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());

  test("of nobody anybody knows are 300 a minute at most, and the others are counted", () => {
    const records: AuditRecord[] = [];
    const observe = audit((record) => records.push(record));
    for (let i = 0; i < 100_000; i++) observe(call(stranger));
    expect(records).toHaveLength(300);
    observe(call());
    observe(call({ code: "PERMISSION_DENIED", permission: "info:read" }));
    expect(records.slice(300)).toEqual([
      expect.objectContaining({ who: "alice", result: "OK", suppressed: 99_700 }),
      expect.not.objectContaining({ suppressed: expect.anything() }),
    ]);
    vi.advanceTimersByTime(60_000);
    observe(call(stranger));
    expect(records).toHaveLength(303);
  });

  test.each<Partial<CallRecord>>([
    { code: "PERMISSION_DENIED", permission: "info:read" },
    { code: "RESOURCE_EXHAUSTED" },
  ])("of one caller are no more, and what they and others do is always kept: %j", (refused) => {
    const records: AuditRecord[] = [];
    const observe = audit((record) => records.push(record));
    for (let i = 0; i < 100_000; i++) observe(call(refused));
    expect(records).toHaveLength(300);
    for (let i = 0; i < 1_000; i++) observe(call());
    observe(call({ ...refused, caller: { ...alice, name: "bob" } }));
    expect(records).toHaveLength(1_301);
    expect(records[300]).toMatchObject({ suppressed: 99_700, result: "OK" });
    expect(records.at(-1)).toMatchObject({ who: "bob", result: refused.code });
  });
});

describe("records go", () => {
  let console_: MockInstance<typeof console.error>;
  beforeEach(() => {
    console_ = vi.spyOn(console, "error").mockImplementation(() => {});
  });
  afterEach(() => console_.mockRestore());

  test("to the standard error as lines", async () => {
    const observe = audit(true);
    observe(call());
    expect(console_.mock.calls).toEqual([[auditLine(auditRecord(call()))]]);
    await observe.close();
  });

  test("nowhere", () => {
    audit(false)(call());
    expect(console_).not.toHaveBeenCalled();
  });

  test.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("full");
      },
    ],
    ["rejects", () => Promise.reject(new Error("full"))],
  ])("to a function; one that %s harms nobody", async (_, tell) => {
    const errors: unknown[] = [];
    audit(tell, (error) => errors.push(error))(call());
    await vi.waitFor(() => expect(errors).toEqual([new Error("full")]), { timeout: 30_000 });
  });

  test.each<[unknown, boolean]>([
    [true, true],
    [false, true],
    [() => {}, true],
    [{ file: "audit.log" }, true],
    [{ file: "" }, false],
    [{}, false],
    [null, false],
    [[], false],
    ["audit.log", false],
    [{ file: "a", path: "b" }, false],
  ])("%j is an option: %s", (option, fits) => {
    expect(auditOption(option) === undefined).toBe(fits);
  });

  test("not to a file that is named by a key that is not there", () => {
    expect(() => audit({ path: "x" } as unknown as AuditOption)).toThrow('Unknown option "audit.path"');
  });
});

describe("a file of lines", () => {
  const linesOf = (path: string) => readFileSync(path, "utf8").split("\n").slice(0, -1);

  function auditFile(path = join(scratch(), "audit.log")) {
    const errors: string[] = [];
    const file = new AuditFile(path, (error) => errors.push((error as NodeJS.ErrnoException).code ?? String(error)));
    onTestFinished(() => file.close());
    return { path, file, errors };
  }

  test("has every line in its order, is for its owner alone, and goes on where it ended", async () => {
    const { path, file } = auditFile();
    const lines = Array.from({ length: 500 }, (_, i) => `line ${i}`);
    for (const line of lines) file.append(line);
    await file.close();
    expect(linesOf(path)).toEqual(lines);
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
    const next = auditFile(path);
    next.file.append("more");
    await next.file.close();
    expect(linesOf(path)).toEqual([...lines, "more"]);
  });

  test("takes records of an audit", async () => {
    const path = join(scratch(), "audit.log");
    const observe = audit({ file: path });
    observe(call());
    observe(call({ code: "NOT_FOUND" }));
    await observe.close();
    expect(linesOf(path).map((line) => JSON.parse(line).result)).toEqual(["OK", "NOT_FOUND"]);
  });

  const rotations: Readonly<Record<string, (path: string) => void>> = {
    renamed: (path) => renameSync(path, `${path}.1`),
    "copied and emptied": (path) => {
      copyFileSync(path, `${path}.1`);
      truncateSync(path);
    },
    removed: (path) => rmSync(path),
  };
  test.each(Object.entries(rotations))("that was %s begins anew under its name", async (how, rotate) => {
    const { path, file } = auditFile();
    file.append("one");
    await vi.waitFor(() => expect(linesOf(path)).toEqual(["one"]), { timeout: 30_000 });
    rotate(path);
    file.append("two");
    await file.close();
    expect(linesOf(path)).toEqual(["two"]);
    if (how !== "removed") expect(linesOf(`${path}.1`)).toEqual(["one"]);
  });

  test.skipIf(process.platform === "win32")(
    "whose name somebody makes a link to another file writes nothing there, and says so",
    async () => {
      const { path, file, errors } = auditFile();
      const other = join(scratch(), "authorized_keys");
      file.append("one");
      await vi.waitFor(() => expect(linesOf(path)).toEqual(["one"]), { timeout: 30_000 });
      rmSync(path);
      symlinkSync(other, path);
      file.append("two");
      await vi.waitFor(() => expect(errors).toEqual([`Error: ${path} is a symbolic link: name the file itself`]), {
        timeout: 30_000,
      });
      expect(existsSync(other)).toBe(false);
      rmSync(path);
      await file.close();
      expect(linesOf(path), "as soon as the name is free").toEqual(["two"]);
    },
  );

  /** The way to a file on a full disk, and to one with room when the link on the way is turned. */
  function fullDisk() {
    const [link, room] = [join(scratch(), "logs"), scratch()];
    symlinkSync("/dev", link);
    return {
      path: join(link, "full"),
      makeRoom() {
        rmSync(link);
        symlinkSync(room, link);
      },
    };
  }

  test.runIf(requirement("/dev/full", existsSync("/dev/full")))(
    "on a full disk is told of once, and no line is lost when there is room again",
    async () => {
      const { path, makeRoom } = fullDisk();
      const { file, errors } = auditFile(path);
      for (let i = 0; i < 5; i++) {
        file.append(`line ${i}`);
        await file.close();
      }
      makeRoom();
      file.append("line 5");
      await file.close();
      expect(linesOf(path)).toEqual(Array.from({ length: 6 }, (_, i) => `line ${i}`));
      expect(errors).toEqual(["ENOSPC"]);
    },
  );

  test.runIf(requirement("/dev/full", existsSync("/dev/full")))(
    "on a disk that has room again when it is closed has every line",
    async () => {
      // One of these finds an attempt under way that has opened the full disk and does not know of it yet.
      for (let turns = 0; turns < 20; turns++) {
        const { path, makeRoom } = fullDisk();
        const { file } = auditFile(path);
        file.append("line");
        for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
        makeRoom();
        await file.close();
        expect(linesOf(path), `after ${turns} turns`).toEqual(["line"]);
      }
    },
  );

  test("that cannot be opened keeps so many lines, and counts the others", async () => {
    const folder = join(scratch(), "late");
    const { file, errors } = auditFile(join(folder, "audit.log"));
    const line = "x".repeat(64 * 1024);
    for (let i = 0; i < 100; i++) file.append(line);
    await vi.waitFor(() => expect(errors).toEqual(["ENOENT"]), { timeout: 30_000 });
    mkdirSync(folder);
    await file.close();
    const lines = linesOf(join(folder, "audit.log"));
    expect(lines).toHaveLength(65);
    expect(lines.slice(0, 64).every((each) => each === line)).toBe(true);
    expect(JSON.parse(lines[64]!)).toMatchObject({ level: "error", msg: "audit lines were lost", lost: 36 });
  });

  test("takes more than what may wait, as long as it can be written, and tells of each time it could not", async () => {
    const folder = scratch();
    const { path, file, errors } = auditFile(join(folder, "audit.log"));
    const line = "x".repeat(1024 * 1024);
    for (let i = 0; i < 10; i++) {
      file.append(line);
      await file.close();
    }
    expect(linesOf(path)).toHaveLength(10);
    for (const times of [1, 2]) {
      renameSync(folder, `${folder}.away`);
      file.append("y");
      await file.close();
      expect(errors).toHaveLength(times);
      renameSync(`${folder}.away`, folder);
      await file.close();
    }
    expect(linesOf(path).slice(10)).toEqual(["y", "y"]);
  });

  test("whose folder is not there is told of before there is a line, and made as soon as it is", async () => {
    const folder = join(scratch(), "late");
    const { path, file, errors } = auditFile(join(folder, "audit.log"));
    await vi.waitFor(() => expect(errors).toEqual(["ENOENT"]), { timeout: 30_000 });
    mkdirSync(folder);
    file.append("line");
    await file.close();
    expect(linesOf(path)).toEqual(["line"]);
    expect(errors).toHaveLength(1);
  });

  test("that nobody may write is told of, and harms nobody", async () => {
    const { file, errors } = auditFile(scratch());
    file.append("x");
    await vi.waitFor(() => expect(errors).toEqual(["EISDIR"]), { timeout: 30_000 });
  });
});

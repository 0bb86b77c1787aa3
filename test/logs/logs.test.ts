import { expect, onTestFinished, test, vi } from "vitest";
import { Loggers } from "../../src/loggers/loggers.ts";
import { Logs, type Surroundings } from "../../src/logs/logs.ts";
import type { LogsOptions } from "../../src/logs/options.ts";
import type { RecordBatch, TailEvent } from "../../src/logs/query.ts";
import type { LogRecord } from "../../src/logs/record.ts";
import type { Tail } from "../../src/logs/tail.ts";
import { WrittenLibrary } from "./written-library.ts";

const NAMES = ["orders", "orders.payment", "orders.stock", "mail"];

function logsOf(options: LogsOptions = {}, surroundings: Surroundings = {}, library = new WrittenLibrary(NAMES)) {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval", "Date", "performance"] });
  const loggers = new Loggers({ groups: { shop: ["orders", "mail"], all: ["orders.*"] } });
  loggers.attach(library);
  const logs = new Logs(loggers, options, surroundings);
  onTestFinished(async () => {
    logs.close();
    await loggers.close();
    vi.useRealTimers();
  });
  return { loggers, logs, library };
}

function pass(ms = 50): void {
  vi.advanceTimersByTime(ms);
}

/** All events that a tail has now. */
function take(tail: Tail): TailEvent[] {
  const events: TailEvent[] = [];
  for (let event = tail.take(); event !== undefined; event = tail.take()) events.push(event);
  return events;
}

function records(events: readonly TailEvent[]): readonly LogRecord[] {
  return events.filter((event): event is RecordBatch => event.type === "records").flatMap(({ records }) => records);
}

const messages = (tail: Tail) => records(take(tail)).map(({ message }) => message);

test("nothing is heard without a tail, and ten seconds after the last one", () => {
  const { logs, library } = logsOf();
  expect(library.isHeard).toBe(false);
  const tail = logs.open();
  expect(library.isHeard).toBe(true);
  tail.close();
  tail.close();
  pass(9_999);
  expect(library.isHeard).toBe(true);
  pass(1);
  expect(library.isHeard).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});

test("a tail receives what is written after it was opened, in order", () => {
  const { logs, library } = logsOf({}, { currentNode: () => ({ id: 7, name: "charge" }) });
  library.write("orders", "INFO", "before");
  const tail = logs.open();
  vi.setSystemTime(1_000_000);
  library.write("orders", "INFO", "one", { fields: { id: 1, trace_id: "t", dd: { span_id: "s" } } });
  library.write("mail", "ERROR", "two", { error: { type: "TypeError", message: "no", stack: "at" } });
  library.write("mail", "DEBUG", "off");
  expect(take(tail)).toEqual([]);
  pass();
  const common = { kind: "test", onlyHere: false, cut: false, time: 1_000_000, node: { id: 7, name: "charge" } };
  expect(records(take(tail))).toEqual([
    {
      ...common,
      ...{ sequence: 1, logger: "orders", level: "INFO", nativeLevel: "info", message: "one", error: undefined },
      ...{ fields: { id: 1, trace_id: "t", dd: { span_id: "s" } }, traceId: "t", spanId: "s" },
    },
    {
      ...common,
      ...{ sequence: 2, logger: "mail", level: "ERROR", nativeLevel: "error", message: "two", fields: {} },
      ...{ error: { type: "TypeError", message: "no", stack: "at" }, traceId: undefined, spanId: undefined },
    },
  ]);
  expect(take(tail)).toEqual([]);
});

test.each([
  [["orders"], ["orders"]],
  [["orders.*"], ["orders.payment", "orders.stock"]],
  [
    ["orders", "orders:payment"],
    ["orders", "orders.payment"],
  ],
  [["shop"], ["orders", "mail"]],
  [["all"], ["orders.payment", "orders.stock"]],
  [["root"], ["ROOT"]],
  [["ROOT.*"], NAMES],
  [[], ["ROOT", ...NAMES]],
])("names %j select %j", (names, selected) => {
  const { logs, library } = logsOf();
  const tail = logs.open({ names });
  for (const name of ["ROOT", ...NAMES]) library.write(name, "INFO", name);
  pass();
  expect(messages(tail)).toEqual(selected);
  expect(tail.start).toMatchObject({ loggers: selected.length, notices: [] });
});

test("level, text, fields and reach are conditions that must all hold", () => {
  const { logs, library } = logsOf();
  const tails = [
    logs.open({ level: "WARN" }),
    logs.open({ contains: "CARD" }),
    logs.open({ fields: { "order.id": "4711" } }),
    logs.open({ fields: { "a.b": "true" }, contains: "x" }),
    logs.open({ reach: ["orders"], contains: "card" }),
  ];
  library.write("orders", "INFO", "card declined", { fields: { order: { id: 4711 }, "a.b": true } });
  library.write("mail", "WARN", "sent", { fields: { order: { id: "4711" }, card: { last: 4 }, "a.b": true, c: "X" } });
  library.write("mail", "ERROR", "failed", { error: { type: "Error", message: "card?" } });
  pass();
  expect(tails.map(messages)).toEqual([
    ["sent", "failed"],
    ["card declined", "sent", "failed"],
    ["card declined", "sent"],
    ["sent"],
    ["card declined"],
  ]);
});

test("secrets are redacted at any depth, and not found", () => {
  const { logs, library } = logsOf({ redactKeys: ["Card-Number"] });
  const tail = logs.open();
  const found = logs.open({ contains: "geheim" });
  const fields = { password: "geheim", list: [{ "Set-Cookie": "geheim" }], card_number: 4, accessToken: {}, tokens: 3 };
  library.write("orders", "INFO", "login", { fields: { ...fields, __proto__: null } });
  pass();
  const [record] = records(take(tail));
  expect(record!.fields).toEqual({
    password: "[redacted]",
    list: [{ "Set-Cookie": "[redacted]" }],
    card_number: "[redacted]",
    accessToken: "[redacted]",
    tokens: 3,
  });
  expect(take(found)).toEqual([]);
});

test("the application redacts messages, or shows nothing of a record", () => {
  const redact = (record: LogRecord) => {
    if (record.message === "fail") throw new Error("no");
    if (record.message === "none") return undefined;
    return { ...record, message: record.message.replace(/\d+/, "#"), logger: "other" };
  };
  const { logs, library } = logsOf({ redact });
  const tail = logs.open();
  for (const message of ["card 4711", "none", "fail"]) library.write("orders", "INFO", message);
  pass();
  expect(take(tail)).toMatchObject([
    { type: "dropped", reason: "REDACTION", count: 1 },
    { type: "records", records: [{ message: "card #", logger: "orders" }] },
  ]);
});

test("what the application's redaction makes of an error is checked", () => {
  const redact = (record: LogRecord) => {
    const made: unknown = { none: null, text: "no card", code: { type: "E", message: "no", stack: 7 } };
    return { ...record, error: (made as Record<string, LogRecord["error"]>)[record.message] };
  };
  const { logs, library } = logsOf({ redact });
  const tail = logs.open();
  for (const message of ["none", "text", "code"]) library.write("orders", "INFO", message);
  pass();
  expect(take(tail)).toMatchObject([
    { type: "dropped", reason: "REDACTION", count: 2 },
    { type: "records", records: [{ message: "none", error: undefined }] },
  ]);
});

test("what redaction writes is not heard", () => {
  const library = new WrittenLibrary(NAMES);
  const redact = (record: LogRecord) => {
    library.write("mail", "INFO", "redacting");
    return record;
  };
  const { logs } = logsOf({ redact }, {}, library);
  const tail = logs.open();
  library.write("orders", "INFO", "one");
  pass(500);
  expect(messages(tail)).toEqual(["one"]);
});

test("a large record is cut, and a huge one not read", () => {
  const { logs, library } = logsOf();
  const tail = logs.open();
  library.write("orders", "INFO", "m".repeat(70_000), { fields: { a: 1 } });
  library.write("orders", "INFO", "f", { fields: { a: "x".repeat(60_000), b: ["y".repeat(60_000), 1], c: 2 } });
  library.write("orders", "INFO", "huge", {}, 2_000_000);
  pass();
  const [first, second, third] = records(take(tail));
  expect(first).toMatchObject({ cut: true, fields: {} });
  expect(first!.message).toMatch(/^m{65536}…\[cut\]$/);
  expect(second!.cut).toBe(true);
  expect(JSON.stringify(second!.fields).length).toBeLessThan(66_000);
  expect(third).toMatchObject({ cut: true, message: expect.stringMatching(/not shown/) });
});

test("tails with the same conditions share records, and a slow one learns what it missed", () => {
  const { logs, library } = logsOf();
  const [one, other] = [logs.open(), logs.open()];
  for (let count = 0; count < 10; count++) library.write("orders", "INFO", `${count}`);
  pass();
  const [mine] = take(one);
  expect(other.take()).toBe(mine);
  for (let count = 0; count < 6_000; count++) {
    library.write("orders", "INFO", `${count}`);
    if (count % 2_000 === 0) pass(1_000);
  }
  pass();
  const events = take(one);
  expect(events[0]).toEqual({ type: "dropped", reason: "SLOW_READER", count: 6_000 - 4_095 });
  expect(records(events)).toHaveLength(4_095);
  expect(records(events).at(-1)!.message).toBe("5999");
});

test("a tail looks at so many records a second, and says how many it left out", () => {
  const { logs, library } = logsOf();
  const tail = logs.open({ maxPerSecond: 3 });
  for (let count = 0; count < 5; count++) library.write("orders", "INFO", `${count}`);
  pass(1_000);
  library.write("orders", "INFO", "next");
  pass();
  expect(take(tail)).toMatchObject([{ reason: "RATE", count: 2 }, { records: [{}, {}, {}, { message: "next" }] }]);
});

test("a tail that comes back within ten seconds misses nothing and receives nothing twice", () => {
  const { logs, library } = logsOf();
  const first = logs.open({ names: ["orders"] });
  library.write("orders", "INFO", "one");
  pass();
  const [batch] = take(first);
  first.close();
  library.write("orders", "INFO", "two");
  pass();
  const { after } = batch as RecordBatch;
  expect(messages(logs.open({ names: ["orders"], after }))).toEqual(["two"]);
  expect(take(logs.open({ names: ["mail"], after }))).toEqual([{ type: "dropped", reason: "GAP", count: undefined }]);
  expect(messages(logs.open({ names: ["orders"], recent: 2 }))).toEqual(["one", "two"]);
  expect(messages(logs.open({ names: ["orders"] }))).toEqual([]);
});

test("a raised level lasts as long as its tail, and shows in the history", () => {
  const { loggers, logs, library } = logsOf();
  const tail = logs.open({ names: ["orders.*"], raise: { level: "DEBUG", actor: "ann", reason: "4711" } });
  expect(library.levelOf("orders.payment")).toBe("DEBUG");
  expect(tail.start).toMatchObject({ raised: [{ name: "orders" }], raiseTimeLeftMs: 86_400_000 });
  library.write("orders.payment", "DEBUG", "detail");
  pass();
  expect(messages(tail)).toEqual(["detail"]);
  tail.close();
  expect(library.levelOf("orders.payment")).toBe("INFO");
  expect(loggers.history({ limit: 9 }).map(({ name, kind }) => [name, kind])).toEqual([
    ["orders", "EXPIRED"],
    ["orders", "SET"],
  ]);
});

test("a raise lowers no level, and holds one that is the same already", async () => {
  const { loggers, logs, library } = logsOf();
  loggers.setLevel("orders.payment", "TRACE");
  loggers.setLevel("mail", "DEBUG", { ttlMs: 2_000 });
  const tail = logs.open({ names: ["all", "orders.payment", "shop"], raise: { level: "DEBUG" } });
  expect(tail.start.raised.map(({ name }) => name)).toEqual(["orders", "mail"]);
  expect(tail.start.notices.map(({ message }) => message)).toEqual([
    "The level in effect on orders.payment is TRACE already, which lets more through; it stays",
  ]);
  expect(library.levelOf("orders.payment")).toBe("TRACE");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(["orders.payment", "mail"].map((name) => library.levelOf(name))).toEqual(["TRACE", "DEBUG"]);
});

test("a raise applies when a temporary level ends that lets more through, such as that of another tail", async () => {
  const { loggers, logs, library } = logsOf();
  const other = logs.open({ names: ["mail"], raise: { level: "TRACE" } });
  loggers.setLevel("orders", "TRACE", { ttlMs: 2_000 });
  const tail = logs.open({ names: ["orders", "mail"], raise: { level: "DEBUG", actor: "ann" } });
  expect(tail.start.raised.map(({ name }) => name)).toEqual(["orders", "mail"]);
  expect(["orders", "mail"].map((name) => library.levelOf(name))).toEqual(["TRACE", "TRACE"]);
  other.close();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(["orders", "mail"].map((name) => library.levelOf(name))).toEqual(["DEBUG", "DEBUG"]);
  expect(loggers.get("mail")).toMatchObject({ override: { actor: "ann", held: true } });
  for (let count = 0; count <= 2_000; count++) library.write("mail", "DEBUG", "more");
  await null;
  expect(loggers.history({ limit: 1 })).toMatchObject([{ kind: "VOLUME" }]);
  tail.close();
  expect(["orders", "mail"].map((name) => library.levelOf(name))).toEqual(["INFO", "INFO"]);
});

test("a raise ends with its time, and by another level, and the tail goes on", () => {
  const { loggers, logs, library } = logsOf();
  const timed = logs.open({ names: ["mail"], raise: { level: "DEBUG", ttlMs: 5_000 } });
  const overruled = logs.open({ names: ["orders"], raise: { level: "TRACE" } });
  pass(5_000);
  expect(take(timed)).toEqual([{ type: "raiseEnded", reason: "EXPIRED", maxPerSecond: undefined }]);
  library.setLevel("orders", "WARN");
  expect(take(overruled)).toEqual([{ type: "raiseEnded", reason: "OVERRULED", maxPerSecond: undefined }]);
  overruled.close();
  expect(loggers.get("orders")).toMatchObject({ effectiveLevel: "WARN" });
  library.write("mail", "INFO", "goes on");
  pass();
  expect(messages(timed)).toEqual(["goes on"]);
});

test("a raise that makes too many records is taken back at once, and everyone is told", async () => {
  const { loggers, logs, library } = logsOf({ maxRaisedPerSecond: 10 });
  const events: unknown[] = [];
  logs.onVolume((event) => events.push(event));
  const tail = logs.open({ names: ["orders"], level: "WARN", raise: { level: "DEBUG", actor: "ann" } });
  for (let count = 0; count < 20; count++) library.write("orders", "INFO", "was there before");
  for (let count = 0; count < 10; count++) library.write("orders", "DEBUG", "more");
  await null;
  expect(library.levelOf("orders")).toBe("DEBUG");
  library.write("orders", "DEBUG", "one too many");
  expect(library.levelOf("orders")).toBe("DEBUG");
  await null;
  expect(library.levelOf("orders")).toBe("INFO");
  expect(take(tail)).toEqual([{ type: "raiseEnded", reason: "VOLUME", maxPerSecond: 10 }]);
  expect(loggers.history({ limit: 1 })).toMatchObject([{ name: "orders", kind: "VOLUME" }]);
  expect(events).toEqual([{ name: "orders", level: "DEBUG", actor: "ann", maxPerSecond: 10 }]);
});

test("only here: the additional records are made for the tail alone, and no level changes", async () => {
  const { loggers, logs, library } = logsOf({ maxRaisedPerSecond: 2 });
  const other = logs.open({ names: ["orders"] });
  const tail = logs.open({ names: ["orders"], raise: { level: "DEBUG", onlyHere: true } });
  library.write("orders", "DEBUG", "hidden");
  library.write("orders", "TRACE", "too verbose");
  library.write("orders", "INFO", "written");
  pass();
  expect(records(take(tail)).map(({ message, onlyHere }) => [message, onlyHere])).toEqual([
    ["hidden", true],
    ["written", false],
  ]);
  expect(messages(other)).toEqual(["written"]);
  expect(library.written).toEqual(["written"]);
  expect(loggers.history({ limit: 1 })).toEqual([]);
  pass(1_000);
  for (let count = 0; count < 5; count++) library.write("orders", "DEBUG", `flood ${count}`);
  await null;
  pass();
  expect(take(tail)).toMatchObject([{ reason: "VOLUME" }, { records: [{}, {}] }]);
  library.write("orders", "DEBUG", "dropped");
  pass(5_000);
  expect(take(tail)).toEqual([]);
});

test("only here is refused with the reason of the library, and nothing changes", () => {
  const library = new WrittenLibrary(NAMES, "test writes before it asks");
  const { logs } = logsOf({}, {}, library);
  expect(() => logs.open({ raise: { level: "DEBUG", onlyHere: true } })).toThrow("test writes before it asks.");
  expect(logs.size).toBe(0);
  expect(library.isHeard).toBe(false);
});

test.each([
  [{ names: [""] }, "INVALID_NAME"],
  [{ names: Array(101).fill("a") }, "INVALID_QUERY"],
  [{ level: "OFF" as const }, "INVALID_QUERY"],
  [{ contains: "x".repeat(1_001) }, "INVALID_QUERY"],
  [{ fields: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`${at}`, ""])) }, "INVALID_QUERY"],
  [{ recent: 4_097 }, "INVALID_LIMIT"],
  [{ maxPerSecond: 100_001 }, "INVALID_LIMIT"],
  [{ after: "x" }, "INVALID_TOKEN"],
  [{ raise: { level: "DEBUG" as const, maxPerSecond: 2_001 } }, "INVALID_LIMIT"],
  [{ names: ["a", ""], raise: { level: "DEBUG" as const } }, "INVALID_NAME"],
])("%j is refused, and nothing changes", (query, reason) => {
  const { loggers, logs, library } = logsOf();
  expect(() => logs.open(query)).toThrow(expect.objectContaining({ reason }));
  expect([logs.size, library.isHeard, loggers.history({ limit: 1 })]).toEqual([0, false, []]);
});

test("unknown names are told", () => {
  const { logs } = logsOf();
  const { start } = logs.open({ names: ["payment", "orders", "nothing.*"] });
  expect(start.notices.map(({ code, nearest }) => [code, nearest])).toEqual([
    ["LOGGER_UNKNOWN", "orders.payment"],
    ["LOGGER_UNKNOWN", undefined],
  ]);
});

test("so many tails can be open, and rings that wait make room", () => {
  const { logs } = logsOf({ maxTails: 2 });
  for (const name of NAMES) logs.open({ names: [name] }).close();
  const open = [logs.open({ names: ["a"] }), logs.open({ names: ["b"] })];
  expect(() => logs.open()).toThrow(expect.objectContaining({ reason: "TOO_MANY_TAILS" }));
  open[0]!.close();
  expect(logs.open().isClosed).toBe(false);
});

test("the application reads a tail in a loop, which closes it", async () => {
  const { logs, library } = logsOf();
  const seen: string[] = [];
  const tail = logs.open({ names: ["orders"], raise: { level: "DEBUG" } });
  const reading = (async () => {
    for await (const event of tail) {
      seen.push(...records([event]).map(({ message }) => message));
      if (seen.length === 2) break;
    }
  })();
  library.write("orders", "DEBUG", "one");
  await null;
  pass();
  await vi.waitFor(() => expect(seen).toEqual(["one"]));
  library.write("orders", "DEBUG", "two");
  pass();
  await reading;
  expect(tail.isClosed).toBe(true);
  expect(library.levelOf("orders")).toBe("INFO");
});

test("closing gives everything back", () => {
  const { logs, library } = logsOf();
  const tail = logs.open({ raise: { level: "TRACE" } });
  logs.open({ names: ["mail"] }).close();
  logs.close();
  expect([tail.isClosed, library.isHeard, library.levelOf("mail"), vi.getTimerCount()]).toEqual([
    true,
    false,
    "INFO",
    0,
  ]);
  expect(() => logs.open()).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
});

test("fields keep their names, whatever these are", () => {
  const { logs, library } = logsOf();
  const tail = logs.open();
  const fields = JSON.parse('{"__proto__":{"pass-word":"s","x":1},"constructor":"c","toString":null,"1":2}');
  library.write("mail", "INFO", "odd", { fields });
  pass();
  const shown = records(take(tail))[0]!.fields;
  expect(JSON.stringify(shown)).toBe(
    '{"1":2,"__proto__":{"pass-word":"[redacted]","x":1},"constructor":"c","toString":null}',
  );
  expect(Object.getPrototypeOf(shown)).toBe(Object.prototype);
});

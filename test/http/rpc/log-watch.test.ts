import { once } from "node:events";
import { connect } from "node:http2";
import { fromBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import {
  WatchLogsResponse_Dropped_Reason as DropReason,
  WatchLogsResponseSchema,
} from "../../../src/gen/actuator/v3/logs_pb.ts";
import type { RpcOptions } from "../../../src/http/rpc/rpc-options.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import type { LoggersOptions } from "../../../src/loggers/options.ts";
import { Logs } from "../../../src/logs/logs.ts";
import type { LogsOptions } from "../../../src/logs/options.ts";
import { WrittenLibrary } from "../../logs/written-library.ts";
import { type LogRequest, LogWatch, watchLogs } from "../../support/log-watch.ts";
import { LOGS_GATE } from "../../support/open-gate.ts";
import { errorInfo, serveRpc, transportOver, WIRES } from "../../support/rpc-harness.ts";

const NAMES = ["orders", "orders.payment", "orders.payment.card", "ordersx", "mail"];

async function serve(
  {
    logs: options,
    loggers: loggersOptions,
    rpc,
  }: {
    logs?: LogsOptions;
    loggers?: LoggersOptions;
    rpc?: Partial<RpcOptions>;
  } = {},
  library = new WrittenLibrary(NAMES),
) {
  const loggers = new Loggers({ groups: { shop: ["orders.*", "mail"] }, ...loggersOptions });
  loggers.attach(library);
  const logs = new Logs(loggers, options);
  const server = await serveRpc({ loggers, logs }, { gate: LOGS_GATE, ...rpc });
  onTestFinished(() => logs.close());
  return { ...server, loggers, logs, library };
}

describe.each(WIRES)("over $protocol, HTTP/$httpVersion", (wire) => {
  test("a watch says what it receives, and then sends what is written, with everything that is known of it", async () => {
    const { url, library, loggers, errors } = await serve();
    loggers.setLevel("mail", "WARN");
    library.write("mail", "ERROR", "before");
    const watch = await watchLogs(url, { names: ["orders.*", "mail", "nothing"] }, { wire });
    expect(watch.started).toMatchObject({ loggers: 3, unheardKinds: [], raised: [] });
    expect(watch.started!.notices).toMatchObject([{ code: "LOGGER_UNKNOWN" }]);
    library.write("orders", "INFO", "not selected");
    library.write("orders.payment", "INFO", "paid", {
      fields: { order: { id: 7 }, card: { password: "hunter2" }, trace_id: "t1", span_id: "s1" },
    });
    library.write("mail", "ERROR", "lost", {
      error: { type: "TypeError", message: "no address", stack: "TypeError: …" },
    });
    await expect.poll(() => watch.records.length).toBe(2);
    expect(watch.records).toMatchObject([
      {
        ...{ sequence: 1n, logger: "orders.payment", level: Level.INFO, nativeLevel: "info", message: "paid" },
        ...{ traceId: "t1", spanId: "s1", kind: "test", onlyHere: false, cut: false, nodeId: 0, node: "" },
      },
      { sequence: 2n, logger: "mail", level: Level.ERROR, message: "lost", fieldsJson: "" },
    ]);
    expect(JSON.parse(watch.records[0]!.fieldsJson)).toMatchObject({
      order: { id: 7 },
      card: { password: "[redacted]" },
    });
    expect(watch.records[1]!.error).toMatchObject({ type: "TypeError", message: "no address", stack: "TypeError: …" });
    expect(Math.abs(Number(watch.records[0]!.time!.seconds) - Date.now() / 1_000)).toBeLessThan(60);
    expect(errors).toEqual([]);
  });

  test("a watch outlives text that is not well-formed Unicode", async () => {
    const { url, library, errors } = await serve();
    const watch = await watchLogs(url, {}, { wire });
    const half = "\ud83d";
    library.write("orders", "INFO", half, {
      fields: { [half]: half, trace_id: half },
      error: { type: half, message: half, stack: half },
    });
    library.write("orders", "INFO", `${"m".repeat(64 * 1024 - 1)}😀`);
    library.write("orders", "INFO", "last");
    await expect.poll(() => watch.messages.at(-1)).toBe("last");
    expect(watch.records[0]).toMatchObject({
      ...{ message: "\ufffd", traceId: "\ufffd" },
      error: { type: "\ufffd", message: "\ufffd", stack: "\ufffd" },
    });
    expect(errors).toEqual([]);
  });

  test("a watch without records sends heartbeats, with a token", async () => {
    const { url } = await serve({ rpc: { heartbeatMs: 20 } });
    const watch = await watchLogs(url, {}, { wire });
    await expect.poll(() => watch.heartbeats).toBeGreaterThan(2);
    expect(watch.events[1]).toMatchObject({
      event: { value: { interval: { nanos: 20_000_000 } } },
      after: watch.after,
    });
    expect(watch.after).toMatch(/./);
  });
});

describe("a watch receives the records", () => {
  test.each<[what: string, request: LogRequest, expected: readonly string[]]>([
    ["of all loggers", {}, ["a", "b: paid", "c", "d", "e"]],
    ["of one logger", { names: ["orders"] }, ["a"]],
    ["of several", { names: ["mail", "orders", "orders"] }, ["a", "e"]],
    ["of the loggers below a name", { names: ["orders.*"] }, ["b: paid", "c"]],
    ["of a group, at any depth", { names: ["shop"] }, ["b: paid", "c", "e"]],
    ["of a name in another spelling", { names: ["orders/payment"] }, ["b: paid"]],
    ["of a logger that does not exist", { names: ["orders.refund"] }, []],
    ["of a level", { level: Level.WARN }, ["c", "e"]],
    ["with a text in the message", { contains: "PA" }, ["b: paid"]],
    ["with a text in the fields", { contains: "visa" }, ["b: paid"]],
    ["with a text in the error", { contains: "typeerror" }, ["e"]],
    ["with a text that is redacted", { contains: "hunter2" }, []],
    ["with a field", { fields: { "card.kind": "Visa" } }, ["b: paid"]],
    ["with a number as text", { fields: { "order.id": "7" } }, ["b: paid", "d"]],
    ["with fields that must all match", { fields: { "order.id": "7", "card.kind": "Visa" } }, ["b: paid"]],
    ["with a part of a field", { fields: { "card.kind": "Vis" } }, []],
    ["with a field that is redacted", { fields: { "card.password": "hunter2" } }, []],
    ["with a field of every object", { fields: { "constructor.name": "Object" } }, []],
    ["with a field called __proto__", { fields: JSON.parse('{"__proto__":"x"}') }, []],
    ["with all conditions", { names: ["shop"], level: Level.WARN, contains: "e" }, ["e"]],
  ])("%s: %j", async (_, request, expected) => {
    const { url, library } = await serve();
    const watch = await watchLogs(url, request);
    const all = await watchLogs(url);
    library.write("orders", "INFO", "a");
    const fields = { order: { id: 7 }, card: { kind: "Visa", password: "hunter2" } };
    library.write("orders.payment", "INFO", "b: paid", { fields });
    library.write("orders.payment.card", "WARN", "c");
    library.write("ordersx", "INFO", "d", { fields: { order: { id: "7" } } });
    library.write("mail", "ERROR", "e", { error: { type: "TypeError", message: "no" } });
    await expect.poll(() => all.messages).toEqual(["a", "b: paid", "c", "d", "e"]);
    expect(watch.messages).toEqual(expected);
  });

  test("of loggers that appear later", async () => {
    const { url, loggers } = await serve();
    const watch = await watchLogs(url, { names: ["later.*"] });
    expect(watch.started!.loggers).toBe(0);
    const later = new WrittenLibrary(["later.on"]);
    loggers.attach(later);
    later.write("later.on", "INFO", "here");
    await expect.poll(() => watch.messages).toEqual(["here"]);
  });
});

describe("a watch refuses", () => {
  const invalid = Code.InvalidArgument;
  test.each<[what: string, request: LogRequest, code: Code, field: string | undefined]>([
    ["an unknown level", { level: 99 as Level }, invalid, "level"],
    ["OFF", { level: Level.OFF }, invalid, "level"],
    ["an empty name", { names: [""] }, invalid, "name"],
    ["a wildcard alone", { names: [".*"] }, invalid, "name"],
    ["a name with a line break", { names: ["a\nb"] }, invalid, "name"],
    ["a name without end", { names: ["x".repeat(5_000)] }, invalid, "name"],
    ["too many names", { names: Array.from({ length: 101 }, (_, at) => `n${at}`) }, invalid, "names"],
    ["a long text", { contains: "x".repeat(1_001) }, invalid, "contains"],
    ["a long field", { fields: { ["x".repeat(1_001)]: "1" } }, invalid, "fields"],
    ["a long value", { fields: { a: "x".repeat(1_001) } }, invalid, "fields"],
    [
      "too many fields",
      { fields: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`f${at}`, "1"])) },
      invalid,
      "fields",
    ],
    [
      "a request that is too large",
      { fields: Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`field${at}`, "1"])) },
      Code.ResourceExhausted,
      undefined,
    ],
    ["too many recent records", { recent: 5_000 }, invalid, "recent"],
    ["a token of another kind", { after: "yesterday" }, invalid, "after"],
    ["a token with more in it", { after: "AAAAAAAAAAAA.1\n" }, invalid, "after"],
    ["too many records a second", { maxPerSecond: 100_001 }, invalid, "max_per_second"],
    ["a raise without a level", { raise: {} }, invalid, "level"],
    ["a raise to an unknown level", { raise: { level: 42 as Level } }, invalid, "level"],
    ["a raise for too long", { raise: { level: Level.DEBUG, ttl: { seconds: 86_401n } } }, invalid, "ttl"],
    ["a raise for ever", { raise: { level: Level.DEBUG, ttl: {} } }, invalid, "ttl"],
    ["a raise with a long reason", { raise: { level: Level.DEBUG, reason: "x".repeat(1_001) } }, invalid, "reason"],
    [
      "a raise beyond the server's limit",
      { raise: { level: Level.DEBUG, maxPerSecond: 2_001 } },
      invalid,
      "raise.max_per_second",
    ],
    [
      "an only_here for too long",
      { raise: { level: Level.DEBUG, onlyHere: true, ttl: { seconds: 86_401n } } },
      invalid,
      "ttl",
    ],
  ])("%s", async (_, request, code, field) => {
    const { url, loggers, library, logs, errors } = await serve();
    const error = await new LogWatch(url, request).end();
    expect([error.code, errorInfo(error)?.metadata.field], error.message).toEqual([code, field]);
    expect(error.message.length).toBeLessThan(400);
    expect([logs.size, library.isHeard, loggers.history({ limit: 1 })]).toEqual([0, false, []]);
    expect(errors).toEqual([]);
  });

  test("what is more than may be open, and accepts it when one is closed", async () => {
    const { url, logs } = await serve({ logs: { maxTails: 2 } });
    const [first] = await Promise.all([watchLogs(url), watchLogs(url)]);
    const error = await new LogWatch(url).end();
    expect([error.code, errorInfo(error)?.reason]).toEqual([Code.ResourceExhausted, "TOO_MANY_TAILS"]);
    first.abort();
    await expect.poll(() => logs.size).toBe(1);
    await watchLogs(url);
  });

  test("everything if records are not served", async () => {
    const { url } = await serveRpc({ loggers: new Loggers() }, { gate: LOGS_GATE });
    expect((await new LogWatch(url).end()).code).toBe(Code.Unimplemented);
  });
});

describe("what is missing is told:", () => {
  test("records beyond the limit of a second", async () => {
    const { url, library } = await serve();
    const watch = await watchLogs(url, { maxPerSecond: 10 });
    vi.spyOn(Date, "now").mockReturnValue(Date.now());
    onTestFinished(() => void vi.restoreAllMocks());
    for (let at = 0; at < 25; at++) library.write("mail", "INFO", `${at}`);
    await expect.poll(() => watch.dropped).toEqual(["RATE 15"]);
    await expect.poll(() => watch.messages).toEqual(Array.from({ length: 10 }, (_, at) => `${at}`));
  });

  test("records that the application's redaction cannot show; those that it leaves out are not", async () => {
    const redact: LogsOptions["redact"] = (record) => {
      if (record.message === "broken") throw new Error("broken");
      return record.message === "secret" ? undefined : { ...record, message: record.message.replace(/\d+/, "#") };
    };
    const { url, library, errors } = await serve({ logs: { redact } });
    const watch = await watchLogs(url);
    for (const message of ["card 4711", "broken", "secret", "broken", "end"]) library.write("mail", "INFO", message);
    await expect.poll(() => watch.messages).toEqual(["card #", "end"]);
    expect(watch.dropped).toEqual(["REDACTION 2"]);
    expect(errors).toEqual([]);
  });

  test("the end of a record over 64 KiB, which is marked", async () => {
    const { url, library } = await serve();
    const watch = await watchLogs(url);
    library.write("mail", "INFO", "x".repeat(200_000), {}, 200_000);
    library.write(
      "mail",
      "INFO",
      "wide",
      { fields: { text: "€".repeat(40_000), more: "\u0001".repeat(40_000) } },
      80_000,
    );
    library.write("mail", "INFO", "deep", { fields: nested(100) });
    library.write("mail", "INFO", "huge", { fields: { text: "x".repeat(2_000_000) } }, 2_000_000);
    library.write("mail", "INFO", "end");
    await expect.poll(() => watch.messages.at(-1)).toBe("end");
    const { records } = watch;
    expect(records.map(({ cut }) => cut)).toEqual([true, true, true, true, false]);
    expect(records[0]!.message.length).toBeLessThan(66_000);
    expect(records[1]!.message).toBe("wide");
    for (const { fieldsJson } of records) {
      expect(Buffer.byteLength(fieldsJson)).toBeLessThan(400_000);
      expect(fieldsJson === "" || typeof JSON.parse(fieldsJson) === "object").toBe(true);
    }
  });
});

function nested(depth: number): Record<string, unknown> {
  return depth === 0 ? {} : { inner: nested(depth - 1) };
}

describe("a client that stops reading", () => {
  test("holds up no other, and is told what it missed", async () => {
    const { url, library } = await serve();
    const reading = await watchLogs(url);
    const session = connect(url);
    onTestFinished(() => session.destroy());
    const path = "/actuator.v3.LogsService/WatchLogs";
    const stopped = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
    stopped.pause().end(Buffer.alloc(5));
    await once(stopped, "response");
    const text = "x".repeat(10_000);
    let written = 0;
    for (let round = 1; round <= 4; round++) {
      for (let at = 0; at < 300; at++) library.write("mail", "INFO", `${++written} ${text}`, {}, text.length);
      await expect.poll(() => reading.records.length).toBe(written);
    }
    let [received, dropped, body] = [0, 0, Buffer.alloc(0)];
    stopped.on("data", (chunk: Buffer) => {
      body = Buffer.concat([body, chunk]);
      for (
        let end = 0;
        body.length >= 5 && body.length >= (end = 5 + body.readUInt32BE(1));
        body = body.subarray(end)
      ) {
        const { event } = fromBinary(WatchLogsResponseSchema, body.subarray(5, end));
        if (event.case === "records") received += event.value.records.length;
        if (event.case === "dropped" && event.value.reason === DropReason.SLOW_READER)
          dropped += Number(event.value.count);
      }
    });
    stopped.resume();
    await expect.poll(() => received + dropped).toBe(written);
    expect([dropped > 100, received > 300]).toEqual([true, true]);
    expect(reading.dropped).toEqual([]);
  });

  test("is one of 100 at once, which all receive the same", async () => {
    const { url, library, logs } = await serve();
    const transport = transportOver({ protocol: "gRPC", httpVersion: "2" }, url);
    const watches = await Promise.all(Array.from({ length: 100 }, () => watchLogs(url, {}, { transport })));
    expect(logs.size).toBe(100);
    for (let at = 0; at < 500; at++) library.write("mail", "INFO", `${at}`);
    const expected = Array.from({ length: 500 }, (_, at) => `${at}`);
    for (const watch of watches) await expect.poll(() => watch.messages).toEqual(expected);
  });
});

describe("a client that comes back", () => {
  test("receives nothing twice and misses nothing that is still kept", async () => {
    const { url, library } = await serve();
    const first = await watchLogs(url, { names: ["shop"] });
    library.write("mail", "INFO", "1");
    await expect.poll(() => first.messages).toEqual(["1"]);
    first.abort();
    await first.end();
    library.write("mail", "INFO", "2");
    library.write("orders", "INFO", "not selected");
    const second = await watchLogs(url, { names: ["shop"], after: first.after });
    library.write("mail", "INFO", "3");
    await expect.poll(() => second.messages).toEqual(["2", "3"]);
    expect(second.dropped).toEqual([]);
    const again = await watchLogs(url, { names: ["shop"], after: second.after });
    library.write("mail", "INFO", "4");
    await expect.poll(() => again.messages).toEqual(["4"]);
  });

  test("can go back to any event, the first one included", async () => {
    const { url, library } = await serve();
    const first = await watchLogs(url);
    for (const message of ["1", "2", "3"]) {
      library.write("mail", "INFO", message);
      await expect.poll(() => first.messages.at(-1)).toBe(message);
    }
    const tokens = first.events.map(({ after }) => after);
    for (const [at, after] of tokens.entries()) {
      const later = await watchLogs(url, { after });
      library.write("mail", "INFO", "end");
      await expect.poll(() => later.messages.at(-1)).toBe("end");
      expect(later.messages.slice(0, 3 - at)).toEqual(["1", "2", "3"].slice(at));
      expect(later.dropped).toEqual([]);
    }
  });

  test("learns of a gap if its records are no longer kept, or are of other conditions", async () => {
    const { url, library } = await serve();
    const first = await watchLogs(url);
    const tokens = [first.after];
    for (let at = 0; at < 2_500; at++) library.write("mail", "INFO", `${at}`);
    await expect.poll(() => first.messages.at(-1)).toBe("2499");
    for (let at = 2_500; at < 5_000; at++) library.write("mail", "INFO", `${at}`);
    await expect.poll(() => first.messages.at(-1)).toBe("4999");
    const late = await watchLogs(url, { after: tokens[0]! });
    await expect.poll(() => late.dropped).toEqual([expect.stringMatching(/^GAP [1-9]\d*$/)]);
    await expect.poll(() => late.messages.at(-1)).toBe("4999");
    const missing = Number(late.dropped[0]!.split(" ")[1]);
    expect(missing + late.messages.length).toBe(5_000);
    expect(Number(late.records[0]!.sequence)).toBe(missing + 1);
    const other = await watchLogs(url, { names: ["mail"], after: first.after });
    await expect.poll(() => other.dropped).toEqual(["GAP 0"]);
    const forged = await watchLogs(url, { after: `${first.after}99` });
    await expect.poll(() => forged.dropped).toEqual(["GAP 0"]);
  });

  test("can begin with the latest records of another watch with the same conditions", async () => {
    const { url, library } = await serve();
    const first = await watchLogs(url, { level: Level.WARN });
    for (const message of ["1", "2", "3"]) library.write("mail", "WARN", message);
    await expect.poll(() => first.messages.length).toBe(3);
    const same = await watchLogs(url, { level: Level.WARN, recent: 2 });
    const other = await watchLogs(url, { level: Level.INFO, recent: 2 });
    library.write("mail", "WARN", "4");
    await expect.poll(() => same.messages).toEqual(["2", "3", "4"]);
    await expect.poll(() => other.messages).toEqual(["4"]);
  });
});

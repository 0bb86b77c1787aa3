/** What streams of answers consist of, and how they end, over each protocol and version of HTTP. */
import { once } from "node:events";
import http from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createRegistry } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type HandlerContext } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { Health } from "../../../src/gen/grpc/health/v1/health_pb.ts";
import { createGate } from "../../../src/http/gate/gate.ts";
import { directPath } from "../../../src/http/rpc/direct/switch.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import type { CallRecord } from "../../../src/operations/calls/call-record.ts";
import { serveService } from "../../conformance/exchange.ts";
import { LOCAL_PEER } from "../../support/open-gate.ts";
import {
  acceptHeader,
  bodyOf,
  envelope,
  exchange,
  framesOf,
  fromBase64,
  headersOf,
  outcomeOf,
  overEach,
  type RpcFormat,
  STREAM_FORMATS,
  TEXT_FORMATS,
} from "../../support/rpc-exchange.ts";
import { errorInfo, libraryOf, serveRpc, transportOver, WIRES, type Wire } from "../../support/rpc-harness.ts";
import { emptied, eventually, http2Connect } from "../../support/server-harness.ts";

const WATCH = "/grpc.health.v1.Health/Watch";
const WATCH_LOGGERS = "/actuator.v3.LoggersService/WatchLoggers";
/** gRPC-Web in base64 is answered by the direct path alone. */
const ANSWERED = overEach(directPath.enabled ? [...STREAM_FORMATS, ...TEXT_FORMATS] : STREAM_FORMATS);

type Watch = (context: HandlerContext) => AsyncIterable<object>;

/** Serves a stream of the test's own. */
async function serveWatch(watch: Watch): Promise<string> {
  const methods = { watch: (_: unknown, context: HandlerContext) => watch(context) };
  const listener = serveService({ service: Health, methods: methods as never }, createRegistry(), 65_536);
  onTestFinished(() => listener.drain({ deadlineMs: 0 }));
  return (await listener.listen({ port: 0 })).url;
}

/** Serves a watch that goes on until its signal is aborted. `ended` waits until it has returned, and tells the reason of the abort. */
async function serveEndless(): Promise<{ url: string; ended(): Promise<unknown> }> {
  let signal: AbortSignal | undefined;
  let isReturned = false;
  const url = await serveWatch(async function* (context) {
    signal = context.signal;
    try {
      yield { status: 1 };
      await once(signal, "abort");
    } finally {
      isReturned = true;
    }
  });
  return {
    url,
    async ended() {
      await eventually(
        () => isReturned,
        () => "still running",
      );
      return signal!.reason;
    },
  };
}

function watching(format: RpcFormat, more: Record<string, string> = {}) {
  const empty = bodyOf(format, Buffer.from(format.json ? "{}" : ""));
  return { path: WATCH, headers: { ...headersOf(format), ...more }, body: empty };
}

const LATE = { "grpc-timeout": "300m", "connect-timeout-ms": "300" };

describe("a stream of a method", () => {
  test.each(ANSWERED)("$over: that ends has its messages, its trailers and OK", async ({ format, version }) => {
    let signal: AbortSignal | undefined;
    const url = await serveWatch(async function* (context) {
      signal = context.signal;
      context.responseHeader.set("x-first", "1");
      yield { status: 1 };
      yield { status: 2 };
      context.responseTrailer.append("x-last", "2");
      context.responseTrailer.append("x-last", "3");
      expect(signal.aborted).toBe(false);
    });
    const heard = await exchange(url, version, watching(format));
    expect(heard.status).toBe(200);
    expect(heard.headers).toMatchObject({ "x-first": "1" });
    expect(heard.headers["x-accel-buffering"]).toBe(format.protocol === "gRPC" ? undefined : "no");
    expect(heard.headers["content-length"]).toBeUndefined();
    const { code, metadata, messages } = outcomeOf(format, heard);
    expect([code, metadata]).toEqual(["OK", { "x-last": "2, 3" }]);
    expect(messages.map((message) => message.toString())).toEqual(
      format.json ? ['{"status":"SERVING"}', '{"status":"NOT_SERVING"}'] : ["\b\u0001", "\b\u0002"],
    );
    await eventually(
      () => signal!.aborted,
      () => "not aborted",
    );
  });

  test.each(ANSWERED)("$over: that ends without a message is OK", async ({ format, version }) => {
    const url = await serveWatch(async function* () {});
    const { code, messages } = outcomeOf(format, await exchange(url, version, watching(format)));
    expect([code, messages]).toEqual(["OK", []]);
  });

  test.each(ANSWERED.flatMap((row) => [0, 2].map((count) => ({ ...row, count }))))(
    "$over: that fails after $count messages has them, and the error with its metadata",
    async ({ format, version, count }) => {
      const url = await serveWatch(async function* () {
        for (let index = 0; index < count; index++) yield { status: 1 };
        throw new ConnectError("It failed: é.", Code.Aborted, [
          ["x-one", "1"],
          ["x-one", "2"],
          ["x-bin", "AAEC"],
          ["content-type", "text/other"],
          ["grpc-status", "0"],
        ]);
      });
      const { code, message, messages, metadata } = outcomeOf(format, await exchange(url, version, watching(format)));
      expect([code, message, messages.length]).toEqual(["ABORTED", "It failed: é.", count]);
      expect(metadata).toEqual({ "x-one": "1, 2", "x-bin": "AAEC" });
    },
  );

  test.each(ANSWERED)("$over: that is late is ended, and told so", async ({ format, version }) => {
    const { url, ended } = await serveEndless();
    expect(outcomeOf(format, await exchange(url, version, watching(format, LATE))).code).toBe("DEADLINE_EXCEEDED");
    expect(await ended()).toMatchObject({ code: Code.DeadlineExceeded });
  });

  test.each(WIRES)("whose client goes away is ended: $protocol over HTTP/$httpVersion", async (wire) => {
    const { url, ended } = await serveEndless();
    const abort = new AbortController();
    const events = createClient(Health, transportOver(wire, url))
      .watch({}, { signal: abort.signal })
      [Symbol.asyncIterator]();
    await events.next();
    abort.abort();
    await expect(events.next()).rejects.toMatchObject({ code: Code.Canceled });
    expect(await ended()).toMatchObject({ code: Code.Canceled });
  });

  test.each(ANSWERED)("$over: large messages are compressed, small ones are not", async ({ format, version }) => {
    const loggers = Array.from({ length: 100 }, (_, index) => ({ name: `logger${index}` }));
    const watchLoggers = async function* () {
      yield { event: { case: "snapshot", value: { loggers } } };
      yield { event: { case: "heartbeat", value: {} } };
    };
    const service = { service: LoggersService, methods: { watchLoggers } as never };
    const listener = serveService(service, createRegistry(), 65_536);
    onTestFinished(() => listener.drain({ deadlineMs: 0 }));
    const { url } = await listener.listen({ port: 0 });
    const sent = { ...watching(format, { [acceptHeader(format)]: "gzip" }), path: WATCH_LOGGERS };
    const heard = await exchange(url, version, sent);
    const body = format.text ? fromBase64(heard.body.toString("latin1")) : heard.body;
    const flags = framesOf(body).map((frame) => frame.flags & 1);
    expect(flags.slice(0, 2)).toEqual([1, 0]);
    const { code, messages } = outcomeOf(format, heard);
    expect([code, messages.length]).toEqual(["OK", 2]);
    expect(messages[0]!.length).toBeGreaterThan(1_024);
  });
});

describe("a stream of the actuator", () => {
  test.each(WIRES)(
    "that cannot begin fails, and onError learns why: $protocol over HTTP/$httpVersion",
    async (wire) => {
      const accident = new TypeError("secret");
      class FailingLoggers extends Loggers {
        override onRevision(): () => void {
          throw accident;
        }
      }
      const { url, errors } = await serveRpc({ loggers: new FailingLoggers() });
      const events = createClient(LoggersService, transportOver(wire, url)).watchLoggers({})[Symbol.asyncIterator]();
      await expect(events.next()).rejects.toMatchObject({ code: Code.Internal, rawMessage: "internal error" });
      expect(errors).toEqual([{ error: accident, context: "rpc actuator.v3.LoggersService/WatchLoggers" }]);
    },
  );

  test.each(WIRES)("is counted, and refused beyond the limit: $protocol over HTTP/$httpVersion", async (wire) => {
    const { url, rpc } = await serveRpc({ loggers: new Loggers() }, { streams: { max: 1 } });
    const client = createClient(LoggersService, transportOver(wire, url));
    const abort = new AbortController();
    const open = () => rpc.openStreams.get("actuator.v3.LoggersService/WatchLoggers");
    await client.watchLoggers({}, { signal: abort.signal })[Symbol.asyncIterator]().next();
    expect(open()).toBe(1);
    const error = await client.watchLoggers({})[Symbol.asyncIterator]().next().catch(ConnectError.from);
    expect(error).toMatchObject({ code: Code.ResourceExhausted });
    expect(errorInfo(error as ConnectError)?.reason).toBe("TOO_MANY_STREAMS");
    expect(open()).toBe(1);
    abort.abort();
    await expect.poll(open).toBe(0);
  });

  test.each(WIRES)("without news sends heartbeats: $protocol over HTTP/$httpVersion", async (wire) => {
    const loggers = new Loggers();
    loggers.attach(libraryOf(["a"]));
    const { url } = await serveRpc({ loggers }, { heartbeatMs: 20 });
    const events = createClient(LoggersService, transportOver(wire, url)).watchLoggers({})[Symbol.asyncIterator]();
    const next = async () => (await events.next()).value!.event.case;
    expect([await next(), await next(), await next()]).toEqual(["snapshot", "heartbeat", "heartbeat"]);
    loggers.setLevel("a", "DEBUG");
    await expect.poll(next).toBe("change");
    expect(await next()).toBe("heartbeat");
  });

  const ends: Readonly<Record<string, (server: Served, wire: Wire) => Promise<string>>> = {
    async "that is cancelled"({ url }, wire) {
      const abort = new AbortController();
      const events = createClient(Health, transportOver(wire, url))
        .watch({}, { signal: abort.signal })
        [Symbol.asyncIterator]();
      await events.next();
      abort.abort();
      await events.next().catch(() => {});
      return "CANCELLED";
    },
    async "that is late"({ url }, wire) {
      for await (const _ of createClient(Health, transportOver(wire, url)).watch({}, { headers: LATE }));
      return "DEADLINE_EXCEEDED";
    },
    async "of a server that drains"({ url, rpc }, wire) {
      const events = createClient(Health, transportOver(wire, url)).watch({})[Symbol.asyncIterator]();
      await events.next();
      rpc.endStreams();
      await events.next();
      return "UNAVAILABLE";
    },
    async "that is refused"({ url }, wire) {
      const client = createClient(LoggersService, transportOver(wire, url));
      await client.holdLoggerLevel({ name: "a" })[Symbol.asyncIterator]().next();
      return "INVALID_ARGUMENT";
    },
    async "of a client that sends too much"({ url }, wire) {
      const client = createClient(LoggersService, transportOver(wire, url));
      await client
        .watchLoggers({ namePrefix: "x".repeat(70_000) })
        [Symbol.asyncIterator]()
        .next();
      return "RESOURCE_EXHAUSTED";
    },
    async "whose time is over"({ url }, wire) {
      const client = createClient(LoggersService, transportOver(wire, url));
      const ttl = { seconds: 0n, nanos: 20_000_000 };
      for await (const _ of client.holdLoggerLevel({ name: "a", level: Level.DEBUG, ttl }));
      return "OK";
    },
  };

  type Served = Awaited<ReturnType<typeof serveRpc>>;

  test.each(WIRES.flatMap((wire) => Object.entries(ends).map(([what, end]) => ({ ...wire, wire, what, end }))))(
    "$what is in the call log once: $protocol over HTTP/$httpVersion",
    async ({ wire, end }) => {
      const records: CallRecord[] = [];
      const observer = (record: CallRecord) => void records.push(record);
      const gate = createGate({ peer: LOCAL_PEER, allowedHosts: ["*"], observer });
      const loggers = new Loggers();
      loggers.attach(libraryOf(["a"]));
      const server = await serveRpc({ loggers }, { gate });
      const result = await end(server, wire).catch((error: unknown) => ConnectError.from(error));
      const ended = () => records.filter(({ phase }) => phase !== "begin");
      await expect.poll(() => ended().length).toBe(1);
      const code = typeof result === "string" ? result : grpcName(result.code);
      expect(ended()).toMatchObject([{ code, protocol: protocolOf(wire) }]);
      await expect.poll(() => server.listener.counts.streams).toBe(0);
      expect(ended()).toHaveLength(1);
      expect(server.errors).toEqual([]);
    },
  );
});

function grpcName(code: Code): string {
  return Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}

function protocolOf({ protocol }: Wire): string {
  return protocol.startsWith("Connect") ? "connect" : protocol.toLowerCase();
}

test("watchers of every format and compression hear the same at the same time", async () => {
  const loggers = new Loggers();
  loggers.attach(libraryOf(Array.from({ length: 100 }, (_, index) => `logger${index}`)));
  const { url, listener } = await serveRpc({ loggers });
  const abort = new AbortController();
  const compressions = [[], [compressionGzip], [compressionBrotli]];
  const watchers = WIRES.flatMap((wire) =>
    compressions.flatMap((acceptCompression) =>
      [0, 1].map(() => {
        const client = createClient(LoggersService, transportOver(wire, url, { acceptCompression }));
        return client.watchLoggers({}, { signal: abort.signal })[Symbol.asyncIterator]();
      }),
    ),
  );
  const heard = async () => Promise.all(watchers.map(async (events) => (await events.next()).value));
  const same = async () => {
    const [first, ...others] = await heard();
    for (const other of others) expect(other).toEqual(first);
    return first!.event;
  };
  expect(await same()).toMatchObject({ case: "snapshot", value: { loggers: { length: 101 } } });
  for (const level of ["DEBUG", "ERROR"] as const) {
    loggers.setLevel("ROOT", level);
    const { value } = await same();
    expect(value).toMatchObject({ loggers: { length: 101 } });
    expect(value).toMatchObject({
      loggers: expect.arrayContaining([expect.objectContaining({ effectiveLevel: Level[level] })]),
    });
  }
  abort.abort();
  await expect.poll(() => listener.counts.streams).toBe(0);
});

describe("a reader that stops", () => {
  const ROUNDS = 30;
  const NAMES = Array.from({ length: 3_000 }, (_, index) => `application.${"x".repeat(200)}${index}`);

  /** Begins a watch that is not read until `resume`. Resolves then to the messages of what was sent meanwhile, and after. */
  const READERS: Readonly<Record<string, (url: string) => Promise<{ resume(): AsyncIterable<Buffer> }>>> = {
    async "gRPC over HTTP/2"(url) {
      const session = await http2Connect(url);
      const stream = session.request({
        ":method": "POST",
        ":path": WATCH_LOGGERS,
        "content-type": "application/grpc",
        te: "trailers",
      });
      stream.on("error", () => {}).end(Buffer.alloc(5));
      await once(stream, "response");
      return { resume: () => stream };
    },
    async "Connect JSON over HTTP/1.1"(url) {
      const headers = { "content-type": "application/connect+json" };
      const req = http.request(url + WATCH_LOGGERS, { method: "POST", headers, agent: false });
      req.on("error", () => {}).end(Buffer.concat([Buffer.of(0, 0, 0, 0, 2), Buffer.from("{}")]));
      const [res] = (await once(req, "response")) as [http.IncomingMessage];
      onTestFinished(() => void req.destroy());
      return { resume: () => res };
    },
  };

  test.each(Object.entries(READERS))("holds up no other, and hears the latest: %s", async (_, begin) => {
    const loggers = new Loggers();
    loggers.attach(libraryOf(NAMES));
    const { url, listener, errors } = await serveRpc({ loggers });
    const slow = await begin(url);
    const other = createClient(LoggersService, transportOver(WIRES[4]!, url)).watchLoggers({ namePrefix: "ROOT" });
    const events = other[Symbol.asyncIterator]();
    await events.next();
    for (let round = 0; round < ROUNDS; round++) {
      loggers.setLevel("ROOT", round % 2 === 0 ? "DEBUG" : "INFO");
      expect((await events.next()).value).toMatchObject({ revision: BigInt(loggers.revision) });
    }
    loggers.setLevel("application", "TRACE", { reason: "the-very-last" });
    let bytes = 0;
    let tail = Buffer.alloc(0);
    for await (const chunk of slow.resume()) {
      bytes += chunk.length;
      tail = Buffer.concat([tail, chunk]).subarray(-2_000_000);
      if (tail.includes("the-very-last")) break;
    }
    const whole = NAMES.join("").length;
    expect(bytes).toBeGreaterThan(whole);
    expect(bytes).toBeLessThan((ROUNDS * whole) / 2);
    expect(errors).toEqual([]);
    await listener.drain({ deadlineMs: 0 });
    await emptied(listener);
  });
});

test.each(overEach(directPath.enabled ? TEXT_FORMATS : []))(
  "$over: each message of a stream can be read when it comes",
  async ({ format, version }) => {
    let next = () => {};
    const url = await serveWatch(async function* () {
      yield { status: 1 };
      await new Promise<void>((resolve) => {
        next = resolve;
      });
      yield { status: 2 };
    });
    const heard: string[] = [];
    const onData = (chunk: Buffer) => {
      heard.push(chunk.toString("latin1"));
      if (fromBase64(heard.join("")).equals(Buffer.of(0, 0, 0, 0, 2, 8, 1))) next();
    };
    const sent = watching(format);
    if (version === "HTTP/1.1") {
      const req = http.request(url + sent.path, { method: "POST", headers: sent.headers, agent: false });
      req.end(sent.body);
      const [res] = (await once(req, "response")) as [http.IncomingMessage];
      res.on("data", onData);
      await once(res, "end");
    } else {
      const session = await http2Connect(url);
      const stream = session.request({ ":method": "POST", ":path": sent.path, ...sent.headers });
      stream.on("data", onData).end(sent.body);
      await once(stream, "end");
    }
    expect(framesOf(fromBase64(heard.join(""))).map(({ flags }) => flags)).toEqual([0, 0, 0x80]);
  },
);

test("a watch does not keep its request", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const held = () => {
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  const { url } = await serveRpc({ loggers: new Loggers() });
  const session = await http2Connect(url);
  const headers = { ":method": "POST", ":path": WATCH_LOGGERS, "content-type": "application/grpc-web" };
  // An empty message, and an envelope that is passed over.
  const body = Buffer.concat([envelope(Buffer.alloc(0)), envelope(Buffer.alloc(60_000), 0x80)]);
  const watch = async () => {
    const stream = session.request(headers);
    stream.on("error", () => {}).end(body);
    await once(stream.resume(), "data");
  };
  await watch();
  const before = held();
  for (let watches = 0; watches < 50; watches++) await watch();
  await expect.poll(() => held() - before).toBeLessThan(1_000_000);
});

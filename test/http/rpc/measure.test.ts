import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { type CallOptions, Code, ConnectError, createClient } from "@connectrpc/connect";
import pino from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { pinoLoggers } from "../../../src/adapters/loggers/pino/index.ts";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService, type MeasureLoggersResponse } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import type { RpcOptions } from "../../../src/http/rpc/rpc-options.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import {
  errorInfo,
  grpcClient,
  libraryOf,
  serveRpc,
  transportOver,
  WIRES,
  type Wire,
} from "../../support/rpc-harness.ts";
import { emptied } from "../../support/server-harness.ts";

/** An application with pino behind the RPC face; `changed` says whether its root logger is not as it was. */
async function serve(rpc?: Partial<RpcOptions>) {
  const loggers = new Loggers();
  const lines: string[] = [];
  const root = pino({ base: null }, { write: (line) => void lines.push(line) });
  onTestFinished(loggers.attach(pinoLoggers(root)));
  const { info, debug } = root;
  const changed = () => root.info !== info || root.debug !== debug;
  const server = await serveRpc({ loggers }, rpc);
  return { ...server, loggers, root, lines, changed, client: grpcClient(LoggersService, server.url) };
}

const over = (wire: Wire, url: string) => createClient(LoggersService, transportOver(wire, url));
const eventsOf = <T>(stream: AsyncIterable<T>) => stream[Symbol.asyncIterator]();
const failure = (call: Promise<unknown>) => call.then(() => undefined, ConnectError.from);
const long = { duration: { seconds: 300n } };
const short = { duration: { seconds: 1n } };
const moment = { duration: { nanos: 100_000_000 } };
async function allOf<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of stream) all.push(each);
  return all;
}
/** The reports of a measurement, and what ends it: a client of connect ends a call by its signal alone. */
function abortable<T>(call: (options: CallOptions) => AsyncIterable<T>) {
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  return { events: eventsOf(call({ signal: abort.signal })), abort: () => abort.abort() };
}

/** Each way in which the stream of a measurement ends; `end` answers when its client knows. */
const ends: readonly {
  readonly name: string;
  readonly end: (server: Awaited<ReturnType<typeof serve>>, wire: Wire) => Promise<void>;
}[] = [
  {
    name: "cancelled",
    async end({ url, changed }, wire) {
      const { events, abort } = abortable((options) => over(wire, url).measureLoggers(long, options));
      await events.next();
      expect(changed()).toBe(true);
      abort();
      expect(await failure(events.next())).toMatchObject({ code: Code.Canceled });
    },
  },
  {
    name: "of a client that is killed",
    async end({ url, changed }, wire) {
      const module = join(import.meta.dirname, "..", "..", "support", "measure-client.ts");
      const client = fork(module, [wire.protocol, wire.httpVersion, url]);
      onTestFinished(() => void client.kill("SIGKILL"));
      expect((await once(client, "message"))[0]).toBe("measuring");
      expect(changed()).toBe(true);
      client.kill("SIGKILL");
      await once(client, "exit");
    },
  },
  {
    name: "over its deadline",
    async end({ url }, wire) {
      // By hand, so that it is the server and not the client who keeps it.
      const headers: Record<string, string> = wire.protocol.startsWith("Connect")
        ? { "connect-timeout-ms": "300" }
        : { "grpc-timeout": "300m" };
      const stream = over(wire, url).measureLoggers(long, { headers });
      expect(await failure(allOf(stream))).toMatchObject({ code: Code.DeadlineExceeded });
    },
  },
  {
    name: "of a server that drains",
    async end({ url, changed, rpc }, wire) {
      const events = eventsOf(over(wire, url).measureLoggers(long));
      await events.next();
      expect(changed()).toBe(true);
      rpc.endStreams();
      expect(await failure(events.next())).toMatchObject({ code: Code.Unavailable });
    },
  },
  {
    name: "whose time is over",
    async end({ url }, wire) {
      const reports = await allOf(over(wire, url).measureLoggers(moment));
      expect(reports.map(({ last }) => last)).toEqual([false, true]);
    },
  },
];

describe.each(ends)("a measurement $name leaves the loggers as they were", ({ end }) => {
  test.each(WIRES)("over $protocol, HTTP/$httpVersion", async (wire) => {
    const server = await serve();
    const { loggers, errors, listener, changed } = server;
    expect(changed()).toBe(false);
    await end(server, wire);
    await expect.poll(changed).toBe(false);
    loggers.measure().end();
    // Streams are HTTP/2's; connections stay open for more.
    await expect.poll(() => listener.counts.streams).toBe(0);
    expect(errors).toEqual([]);
  });
});

test("a measurement whose connection is cut leaves the loggers as they were", async () => {
  const { url, listener, changed } = await serve();
  const client = fork(join(import.meta.dirname, "..", "..", "support", "measure-client.ts"), ["gRPC", "2", url]);
  await once(client, "message");
  expect(changed()).toBe(true);
  client.kill("SIGKILL");
  await expect.poll(changed).toBe(false);
  await emptied(listener);
});

describe("MeasureLoggers", () => {
  test("tells at once that it began, then what was counted, and at the end everything", async () => {
    const { client, root, lines } = await serve({ heartbeatMs: 20 });
    const stream = client.measureLoggers(short);
    const reports: MeasureLoggersResponse[] = [];
    for await (const report of stream) {
      reports.push(report);
      if (reports.length > 2) continue;
      root.child({ name: "orders" }).debug("x");
      root.warn("x");
    }
    expect(reports[0]).toMatchObject({ loggers: [], total: [], last: false, more: false, unmeasuredKinds: [] });
    expect(reports[1]!.total).toMatchObject([
      { level: Level.WARN, emitted: 1n, suppressed: 0n },
      { level: Level.DEBUG, emitted: 0n, suppressed: 1n },
    ]);
    const last = reports.at(-1)!;
    expect(last).toMatchObject({
      loggers: [
        { name: "ROOT", levels: [{ level: Level.WARN, emitted: 2n, suppressed: 0n }] },
        { name: "orders", levels: [{ level: Level.DEBUG, emitted: 0n, suppressed: 2n }] },
      ],
      last: true,
    });
    expect(reports.filter((report) => report.last)).toEqual([last]);
    const times = reports.map(({ elapsed }) => durationMs(elapsed!));
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(times.at(-1)).toBeGreaterThan(900);
    expect(lines).toHaveLength(2);
  });

  test("keeps to a prefix, and names the libraries that it lacks", async () => {
    const { client, loggers, root } = await serve({ heartbeatMs: 20 });
    onTestFinished(loggers.attach(libraryOf(["a"], "silent")));
    const events = eventsOf(client.measureLoggers({ namePrefix: "orders", ...long }));
    expect((await events.next()).value).toMatchObject({ unmeasuredKinds: ["silent"] });
    root.info("x");
    root.child({ name: "orders.payment" }).info("x");
    expect((await events.next()).value).toMatchObject({ loggers: [{ name: "orders.payment" }], last: false });
  });

  test("ends in time though nobody reads, and frees the place of another", async () => {
    const { client, changed } = await serve();
    const unread = eventsOf(client.measureLoggers(short));
    await unread.next();
    expect(changed()).toBe(true);
    await expect.poll(changed).toBe(false);
    expect((await allOf(client.measureLoggers(moment))).at(-1)).toMatchObject({ last: true });
    expect((await unread.next()).value).toMatchObject({ last: true });
  });

  test("lists no more than fits into a response, and counts the rest in the total", async () => {
    const { client, root } = await serve({ writeMaxBytes: 8_192, heartbeatMs: 20 });
    const events = eventsOf(client.measureLoggers(long));
    await events.next();
    for (let index = 0; index < 100; index++) root.child({ name: `orders.${index}` }).info("x");
    const report = (await events.next()).value!;
    expect(report).toMatchObject({ more: true, total: [{ emitted: 100n }] });
    expect(report.loggers.length).toBeGreaterThan(5);
    expect(report.loggers.length).toBeLessThan(50);
  });

  test("runs once at a time", async () => {
    const { client, changed } = await serve();
    const { events, abort } = abortable((options) => client.measureLoggers(long, options));
    await events.next();
    const error = await failure(eventsOf(client.measureLoggers(short)).next());
    expect([error?.code, errorInfo(error!)?.reason]).toEqual([Code.ResourceExhausted, "ALREADY_MEASURING"]);
    expect(changed()).toBe(true);
    abort();
    await expect.poll(changed).toBe(false);
  });

  test.each([
    ["0 s", {}],
    ["a negative time", { seconds: -1n }],
    ["more than 5 min", { seconds: 300n, nanos: 1_000_000 }],
    ["a time beyond measure", { seconds: 2n ** 62n }],
  ])("refuses %s", async (_, duration) => {
    const { client, changed, errors } = await serve();
    const error = await failure(eventsOf(client.measureLoggers({ duration })).next());
    expect([error?.code, errorInfo(error!)?.reason]).toEqual([Code.InvalidArgument, "INVALID_DURATION"]);
    expect(changed()).toBe(false);
    expect(errors).toEqual([]);
  });
});

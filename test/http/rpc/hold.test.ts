import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { type CallOptions, Code, ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../../src/actuator.ts";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import {
  LevelChange_Kind as Kind,
  LoggersService,
  HoldLoggerLevelResponse_Ended_Reason as Reason,
} from "../../../src/gen/actuator/v3/loggers_pb.ts";
import type { RpcOptions } from "../../../src/http/rpc/rpc-options.ts";
import type { LoggerAdapter } from "../../../src/loggers/adapter.ts";
import type { Level as LevelName } from "../../../src/loggers/level.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import type { LoggersOptions } from "../../../src/loggers/options.ts";
import { nativeHandle } from "../../support/native-handle.ts";
import { errorInfo, grpcClient, serveRpc, transportOver, WIRES, type Wire } from "../../support/rpc-harness.ts";
import { emptied } from "../../support/server-harness.ts";

async function serve(options: LoggersOptions = {}, rpc?: Partial<RpcOptions>) {
  const loggers = new Loggers({ instance: "i", ...options });
  const server = await serveRpc({ loggers }, rpc);
  return { ...server, loggers, client: grpcClient(LoggersService, server.url) };
}

const over = (wire: Wire, url: string) => createClient(LoggersService, transportOver(wire, url));
const configured = (loggers: Loggers, name = "a"): LevelName | undefined => loggers.get(name)?.configuredLevel;
const eventsOf = <T>(stream: AsyncIterable<T>) => stream[Symbol.asyncIterator]();
async function allOf<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of stream) all.push(each);
  return all;
}
/** The events of a stream, and what ends it: a client of connect ends a call by its signal alone. */
function abortable<T>(call: (options: CallOptions) => AsyncIterable<T>) {
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  return { events: eventsOf(call({ signal: abort.signal })), abort: () => abort.abort() };
}
const failure = (call: Promise<unknown>) => call.then(() => undefined, ConnectError.from);

/** Each way in which the stream of a hold ends; `end` answers when its client knows. */
const ends: readonly {
  readonly name: string;
  readonly end: (server: Awaited<ReturnType<typeof serve>>, wire: Wire) => Promise<void>;
}[] = [
  {
    name: "cancelled",
    async end({ url, loggers }, wire) {
      const { events, abort } = abortable((options) =>
        over(wire, url).holdLoggerLevel({ name: "a", level: Level.DEBUG }, options),
      );
      expect((await events.next()).value).toMatchObject({ event: { case: "held" } });
      expect(configured(loggers)).toBe("DEBUG");
      abort();
      expect(await failure(events.next())).toMatchObject({ code: Code.Canceled });
    },
  },
  {
    name: "of a client that is killed",
    async end({ url, loggers }, wire) {
      const module = join(import.meta.dirname, "..", "..", "support", "hold-client.ts");
      const client = fork(module, [wire.protocol, wire.httpVersion, url]);
      onTestFinished(() => void client.kill("SIGKILL"));
      expect((await once(client, "message"))[0]).toBe("held");
      expect(configured(loggers)).toBe("DEBUG");
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
      const stream = over(wire, url).holdLoggerLevel({ name: "a", level: Level.DEBUG }, { headers });
      expect(await failure(allOf(stream))).toMatchObject({ code: Code.DeadlineExceeded });
    },
  },
  {
    name: "of a server that drains",
    async end({ url, loggers, rpc }, wire) {
      const events = eventsOf(over(wire, url).holdLoggerLevel({ name: "a", level: Level.DEBUG }));
      await events.next();
      expect(configured(loggers)).toBe("DEBUG");
      rpc.endStreams();
      expect(await failure(events.next())).toMatchObject({ code: Code.Unavailable });
    },
  },
  {
    name: "whose time is over",
    async end({ url }, wire) {
      const ttl = { seconds: 0n, nanos: 300_000_000 };
      const stream = over(wire, url).holdLoggerLevel({ name: "a", level: Level.DEBUG, ttl });
      expect((await allOf(stream)).map(({ event }) => event.case)).toEqual(["held", "ended"]);
    },
  },
];

describe.each(ends)("a hold $name gives the level back", ({ end }) => {
  test.each(WIRES)("over $protocol, HTTP/$httpVersion", async (wire) => {
    const server = await serve();
    const { loggers, errors, listener } = server;
    loggers.setLevel("a", "WARN");
    await end(server, wire);
    await expect.poll(() => configured(loggers)).toBe("WARN");
    expect(loggers.history({ limit: 2 })).toMatchObject([
      { kind: "EXPIRED" },
      { kind: "SET", override: { held: true } },
    ]);
    // Streams are HTTP/2's; connections stay open for more.
    await expect.poll(() => listener.counts.streams).toBe(0);
    expect(errors).toEqual([]);
  });
});

test("a hold whose connection is cut with others gives every level back", async () => {
  const { loggers, url, listener } = await serve();
  const module = join(import.meta.dirname, "..", "..", "support", "hold-client.ts");
  const clients = [0, 1, 2].map(() => fork(module, ["gRPC", "2", url]));
  await Promise.all(clients.map((client) => once(client, "message")));
  for (const client of clients) client.kill("SIGKILL");
  await expect.poll(() => configured(loggers)).toBeUndefined();
  await emptied(listener);
});

describe("HoldLoggerLevel", () => {
  test("confirms what it did, then tells the time left", async () => {
    const { client, loggers } = await serve({}, { heartbeatMs: 20 });
    loggers.setLevel("a", "WARN");
    const ttl = { seconds: 60n, nanos: 0 };
    const events = eventsOf(client.holdLoggerLevel({ name: "a", level: Level.DEBUG, ttl, reason: "ticket 812" }));
    const first = (await events.next()).value!;
    expect(first).toMatchObject({
      event: {
        case: "held",
        value: {
          result: {
            case: "logger",
            value: { configuredLevel: Level.DEBUG, override: { reason: "ticket 812", instance: "i", held: true } },
          },
          previousLevel: Level.WARN,
          revision: BigInt(loggers.revision),
        },
      },
      covered: false,
    });
    const second = (await events.next()).value!;
    expect(second).toMatchObject({ event: { case: "heartbeat", value: { interval: { nanos: 20_000_000 } } } });
    const [before, after] = [durationMs(first.timeLeft!), durationMs(second.timeLeft!)];
    expect(before).toBeLessThanOrEqual(60_000);
    expect(after).toBeLessThan(before);
  });

  test("of what may be held for as long as the call tells no time left", async () => {
    const { client } = await serve();
    const events = eventsOf(client.holdLoggerLevel({ name: "a", level: Level.ERROR }));
    expect((await events.next()).value!.timeLeft).toBeUndefined();
  });

  test("says when a later temporary level covers it, and when that is over", async () => {
    const { client, loggers } = await serve({}, { heartbeatMs: 10 });
    const events = eventsOf(client.holdLoggerLevel({ name: "a", level: Level.DEBUG }));
    const covered = async () => (await events.next()).value?.covered;
    expect(await covered()).toBe(false);
    const { lease } = loggers.holdLevel("a", "TRACE");
    await expect.poll(covered).toBe(true);
    lease.release();
    await expect.poll(covered).toBe(false);
    expect(configured(loggers)).toBe("DEBUG");
  });

  test("of a group holds its members", async () => {
    const { client, loggers } = await serve({ groups: { g: ["b", "c"] } });
    const { events, abort } = abortable((options) =>
      client.holdLoggerLevel({ name: "g", level: Level.TRACE }, options),
    );
    expect((await events.next()).value).toMatchObject({ event: { value: { result: { case: "group" } } } });
    expect(["g", "b", "c"].map((name) => configured(loggers, name))).toEqual(["TRACE", "TRACE", "TRACE"]);
    abort();
    await expect
      .poll(() => ["g", "b", "c"].map((name) => configured(loggers, name)))
      .toEqual([undefined, undefined, undefined]);
  });

  test.each([
    ["set", (loggers: Loggers) => loggers.setLevel("a", "ERROR"), "ERROR"],
    ["cleared", (loggers: Loggers) => loggers.setLevel("a", undefined), undefined],
    ["restored", (loggers: Loggers) => loggers.restoreAllLevels(), undefined],
  ] as const)("ends, and leaves the level alone, when somebody has %s it for good", async (_, change, level) => {
    const { client, loggers } = await serve();
    const events = eventsOf(client.holdLoggerLevel({ name: "a", level: Level.DEBUG }));
    await events.next();
    change(loggers);
    const { revision } = loggers;
    expect((await events.next()).value).toMatchObject({
      event: { case: "ended", value: { reason: Reason.OVERRULED } },
    });
    expect(await events.next()).toMatchObject({ done: true });
    expect([configured(loggers), loggers.revision]).toEqual([level, revision]);
  });

  test("shows in the history with who held it and why", async () => {
    const { client } = await serve();
    const request = { name: "a", level: Level.DEBUG, reason: "ticket 812" };
    const { events, abort } = abortable((options) => client.holdLoggerLevel(request, options));
    await events.next();
    abort();
    const changes = async () => (await client.listLevelChanges({})).changes;
    await expect.poll(async () => (await changes()).map(({ kind }) => kind)).toEqual([Kind.EXPIRED, Kind.SET]);
    expect((await changes())[1]).toMatchObject({ override: { reason: "ticket 812", held: true } });
  });

  test("says that its time was over, and ends", async () => {
    const { client } = await serve();
    const ttl = { seconds: 0n, nanos: 1_000_000 };
    const events = await allOf(client.holdLoggerLevel({ name: "a", level: Level.DEBUG, ttl }));
    expect(events.at(-1)).toMatchObject({ event: { value: { reason: Reason.EXPIRED } }, timeLeft: { nanos: 0 } });
  });

  test.each([
    ["no level", { name: "a" }, Code.InvalidArgument, "INVALID_LEVEL"],
    ["no name", { name: "", level: Level.DEBUG }, Code.InvalidArgument, "INVALID_NAME"],
    [
      "a time over the longest",
      { name: "a", level: Level.DEBUG, ttl: { seconds: 86_401n } },
      Code.InvalidArgument,
      "INVALID_TTL",
    ],
    ["DEBUG for ever", { name: "a", level: Level.DEBUG, ttl: {} }, Code.InvalidArgument, "INVALID_TTL"],
    ["a negative time", { name: "a", level: Level.INFO, ttl: { nanos: -1 } }, Code.InvalidArgument, "INVALID_TTL"],
    [
      "another revision",
      { name: "a", level: Level.INFO, ifRevision: 99n },
      Code.FailedPrecondition,
      "REVISION_CHANGED",
    ],
  ])("refuses %s", async (_, request, code, reason) => {
    const { client, loggers } = await serve();
    const error = await failure(eventsOf(client.holdLoggerLevel(request)).next());
    expect([error?.code, errorInfo(error!)?.reason]).toEqual([code, reason]);
    expect(loggers.get("a")).toBeUndefined();
  });
});

describe("an actuator that closes gives back what is held before it leaves the library", () => {
  test.each(["on its own port", "on a server of the application's own"])("%s", async (where) => {
    const applied: LevelName[] = [];
    const library: LoggerAdapter = {
      kind: "test",
      attach(host) {
        const handle = nativeHandle("INFO", (level) => {
          applied.push(level);
          return level;
        });
        host.discovered("a", handle);
        return () => void applied.push("OFF");
      },
    };
    const actuator = createActuator({
      access: "loopback",
      loggers: { adapters: [library], logLevelChanges: false },
    });
    onTestFinished(() => actuator.close({ deadlineMs: 0 }));
    let port: number;
    if (where === "on its own port") ({ port } = await actuator.listen({ port: 0 }));
    else {
      const server = createServer(actuator.handler);
      onTestFinished(() => void server.close());
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      ({ port } = server.address() as AddressInfo);
    }
    const wire = { protocol: "Connect JSON", httpVersion: "1.1" } as const;
    const events = eventsOf(over(wire, `http://127.0.0.1:${port}`).holdLoggerLevel({ name: "a", level: Level.DEBUG }));
    await events.next();
    const [error] = await Promise.all([failure(events.next()), actuator.close()]);
    expect(error).toMatchObject({ code: Code.Unavailable });
    expect(applied.slice(-3)).toEqual(["DEBUG", "INFO", "OFF"]);
  });
});

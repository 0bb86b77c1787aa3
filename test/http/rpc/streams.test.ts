import { once } from "node:events";
import { constants } from "node:http2";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Health } from "../../../src/gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { OpenStreams } from "../../../src/http/rpc/calls/open-streams.ts";
import { states } from "../../../src/http/rpc/streams.ts";
import { Sessions } from "../../../src/sessions/sessions.ts";
import {
  errorInfo,
  grpcClient,
  serveRpc,
  silentStore,
  transportOver,
  WIRES,
  type Wire,
} from "../../support/rpc-harness.ts";
import { emptied, eventually, http2Connect, rawClient } from "../../support/server-harness.ts";

describe("open streams", () => {
  test("end with UNAVAILABLE, and no new one begins", async () => {
    const { url, rpc, health, errors } = await serveRpc();
    const client = grpcClient(Health, url);
    const watches = Array.from({ length: 20 }, () => client.watch({})[Symbol.asyncIterator]());
    await Promise.all(watches.map((watch) => watch.next()));
    expect(health.listeners).toBe(20);
    rpc.endStreams();
    const ends = await Promise.all(watches.map((watch) => watch.next().catch(ConnectError.from)));
    expect(ends.map((end) => (end as ConnectError).code)).toEqual(ends.map(() => Code.Unavailable));
    expect(health.listeners).toBe(0);
    const late = client.watch({})[Symbol.asyncIterator]();
    await expect(late.next()).rejects.toMatchObject({ code: Code.Unavailable });
    expect(errors).toEqual([]);
  });

  test("of clients that still send end too, and leave no HTTP/2 stream", async () => {
    const { url, rpc, listener } = await serveRpc();
    let more = () => {};
    const answers = grpcClient(ServerReflection, url)
      .serverReflectionInfo(
        (async function* () {
          yield { messageRequest: { case: "listServices" as const, value: "" } };
          await new Promise<void>((resolve) => {
            more = resolve;
          });
        })(),
      )
      [Symbol.asyncIterator]();
    await answers.next();
    rpc.endStreams();
    await expect(answers.next()).rejects.toMatchObject({ code: Code.Unavailable });
    await eventually(
      () => listener.counts.streams === 0,
      () => `${listener.counts.streams} streams`,
    );
    more();
  });

  test("are limited in number", async () => {
    const { url, health } = await serveRpc({}, { streams: { max: 2 } });
    const client = grpcClient(Health, url);
    const abort = new AbortController();
    for (let index = 0; index < 2; index++) {
      await client.watch({}, { signal: abort.signal })[Symbol.asyncIterator]().next();
    }
    const error = await client.watch({})[Symbol.asyncIterator]().next().catch(ConnectError.from);
    expect((error as ConnectError).code).toBe(Code.ResourceExhausted);
    expect(errorInfo(error as ConnectError)?.reason).toBe("TOO_MANY_STREAMS");
    abort.abort();
    await eventually(
      () => health.listeners === 0,
      () => `${health.listeners} listeners`,
    );
    expect((await client.watch({})[Symbol.asyncIterator]().next()).done).toBe(false);
  });

  test.each([
    ["Health/Watch, its request complete", "/grpc.health.v1.Health/Watch", true],
    ["Health/Watch, its request still open", "/grpc.health.v1.Health/Watch", false],
    ["reflection", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", false],
  ])("of a client whose connection is cut leave nothing behind: %s", async (_, path, complete) => {
    const { url, listener, errors } = await serveRpc();
    const session = await http2Connect(url);
    for (let index = 0; index < 10; index++) {
      const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
      const stream = session.request(headers);
      stream.on("error", () => {});
      stream.write(Buffer.from([0, 0, 0, 0, 0]));
      if (complete) stream.end();
    }
    await eventually(
      () => listener.counts.streams === 10,
      () => `${listener.counts.streams} streams`,
    );
    session.destroy();
    await emptied(listener);
    expect(errors).toEqual([]);
  });

  test.each(["NO_ERROR", "CANCEL", "INTERNAL_ERROR", "REFUSED_STREAM"] as const)(
    "of a client that resets them with %s leave nothing behind",
    async (code) => {
      const { url, health, errors } = await serveRpc();
      const session = await http2Connect(url);
      const stream = session.request({
        ":method": "POST",
        ":path": "/grpc.health.v1.Health/Watch",
        "content-type": "application/grpc",
        te: "trailers",
      });
      stream.on("error", () => {});
      stream.end(Buffer.from([0, 0, 0, 0, 0]));
      await once(stream, "response");
      expect(health.listeners).toBe(1);
      stream.close(constants[`NGHTTP2_${code}`]);
      await eventually(
        () => health.listeners === 0,
        () => `${health.listeners} listeners`,
      );
      expect(errors).toEqual([]);
    },
  );

  test.each([false, true])("over HTTP/1.1 end with their connection (pipelined: %s)", async (pipelined) => {
    const { port, health, errors } = await serveRpc({ sessions: new Sessions(silentStore(), { ids: "raw" }) });
    const client = await rawClient(port);
    const post = (path: string, type: string, body: string) =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const unanswered = post("/actuator.v3.SessionsService/GetSession", "application/json", '{"id":"1"}');
    const watch = post("/grpc.health.v1.Health/Watch", "application/connect+json", "\0\0\0\0\x02{}");
    client.socket.write(pipelined ? unanswered + watch : watch);
    await eventually(
      () => health.listeners === 1,
      () => `${health.listeners} listeners`,
    );
    client.socket.destroy();
    await eventually(
      () => health.listeners === 0,
      () => `${health.listeners} listeners`,
    );
    expect(errors).toEqual([]);
  });

  test("pipelined over HTTP/1.1 are answered in order", async () => {
    const { port } = await serveRpc();
    const client = await rawClient(port);
    const get = (more: string) =>
      `GET /grpc.health.v1.Health/Check?encoding=json&message=%7B%7D HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
    client.socket.write(get("") + get("") + get("Connection: close\r\n"));
    expect([...(await client.closed).matchAll(/"SERVING"/g)]).toHaveLength(3);
  });

  test("pipelined by the hundred over HTTP/1.1 leave one listener on their connection", async () => {
    const warnings: Error[] = [];
    const listener = (warning: Error) => warnings.push(warning);
    process.on("warning", listener);
    const { port } = await serveRpc();
    const client = await rawClient(port);
    const get = (more: string) =>
      `GET /grpc.health.v1.Health/Check?encoding=json&message=%7B%7D HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
    client.socket.write(get("").repeat(100) + get("Connection: close\r\n"));
    expect([...(await client.closed).matchAll(/"SERVING"/g)]).toHaveLength(101);
    process.off("warning", listener);
    expect(warnings).toEqual([]);
  });

  test("end when they have gone on for as long as they may, and can begin again", async () => {
    const { url, health, errors } = await serveRpc({}, { streams: { maxAgeMs: 1 } });
    const watched = async (wire: Wire) => {
      const watch = createClient(Health, transportOver(wire, url)).watch({})[Symbol.asyncIterator]();
      expect((await watch.next()).value).toMatchObject({ status: 1 });
      return watch.next().catch(ConnectError.from);
    };
    for (let time = 0; time < 2; time++) {
      const ends = (await Promise.all(WIRES.map(watched))) as ConnectError[];
      expect(ends.map(({ code }) => code)).toEqual(WIRES.map(() => Code.Unavailable));
      expect(new Set(ends.map((end) => errorInfo(end)?.reason))).toEqual(new Set(["STREAM_TOO_OLD"]));
    }
    expect(health.listeners).toBe(0);
    expect(errors).toEqual([]);
  });

  test("go on for as long as they may, and without end where nothing else is said", () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const ended: string[] = [];
    const hour = 3_600_000;
    for (const [name, options] of [
      ["an hour", { maxAgeMs: hour }],
      ["0", { maxAgeMs: 0 }],
      ["by default", {}],
    ] as const) {
      const remove = new OpenStreams(options).add(() => ended.push(name), { method: "s/M" });
      onTestFinished(remove);
    }
    vi.advanceTimersByTime(0.89 * hour);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(0.12 * hour);
    expect(new Set(ended)).toEqual(new Set(["an hour"]));
    vi.advanceTimersByTime(10 * hour);
    expect(new Set(ended)).toEqual(new Set(["an hour"]));
  });

  test("of one caller are limited, whatever the others have", () => {
    const streams = new OpenStreams({ max: 5, maxPerCaller: 2 });
    const add = (caller?: string) => streams.add(() => {}, { method: "s/M", caller });
    const remove = add("token a");
    add("token a");
    expect(() => add("token a")).toThrow("The caller has 2 open streams");
    add("token b");
    add();
    remove();
    remove();
    add("token a");
    add();
    expect(() => add("token c")).toThrow("streams.max)");
    expect(streams.sizeOf("s/M")).toBe(5);
  });

  test("do not stay counted when they fail to begin", () => {
    const streams = new OpenStreams({ max: 1 });
    const add = () => streams.add(() => {}, { method: "s/M" });
    const remove = add();
    expect(() => add()).toThrow("1 streams are open");
    remove();
    remove();
    expect(streams.sizeOf("s/M")).toBe(0);
  });
});

describe("states", () => {
  function variable<T>(initial: T) {
    const listeners = new Set<() => void>();
    let state = initial;
    return {
      listeners,
      set(next: T) {
        state = next;
        for (const listener of listeners) listener();
      },
      states: () =>
        states(
          () => state,
          (listener) => {
            listeners.add(listener);
            return () => listeners.delete(listener);
          },
        ),
    };
  }

  test("a slow reader sees the latest and nothing twice", async () => {
    const { set, states } = variable(1);
    const seen = states();
    expect((await seen.next()).value).toBe(1);
    set(2);
    set(3);
    expect((await seen.next()).value).toBe(3);
    const next = seen.next();
    set(3);
    set(4);
    expect((await next).value).toBe(4);
  });

  test("listens from the first state on until it is ended, even while it waits", async () => {
    const { listeners, states } = variable(1);
    const seen = states();
    expect(listeners.size).toBe(0);
    await seen.next();
    const waiting = seen.next();
    expect(listeners.size).toBe(1);
    await seen.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await seen.next()).toEqual({ done: true, value: undefined });
    expect(listeners.size).toBe(0);
  });
});

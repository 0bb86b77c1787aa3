import { setTimeout as delay } from "node:timers/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { SessionsService } from "../../../src/gen/actuator/v3/sessions_pb.ts";
import { takeDeadline } from "../../../src/http/rpc/calls/deadline.ts";
import { Interruption } from "../../../src/http/rpc/connect/interceptor.ts";
import { Sessions } from "../../../src/sessions/sessions.ts";
import type { SessionStore } from "../../../src/sessions/store.ts";
import { fixedStore, grpcClient, serveRpc, silentStore, transportOver, WIRES } from "../../support/rpc-harness.ts";
import { eventually, http2Connect } from "../../support/server-harness.ts";

const GRPC = { protocol: "gRPC", httpVersion: "2" } as const;
const CONNECT = { protocol: "Connect JSON", httpVersion: "1.1" } as const;

async function serveStore(store: SessionStore, options = {}) {
  const server = await serveRpc({ sessions: new Sessions(store, { ids: "raw" }) }, options);
  return { ...server, client: grpcClient(SessionsService, server.url) };
}

/** Every wire with a deadline as its protocol writes it. */
const wiresWith = (grpc: string, connect: string) =>
  WIRES.map((wire) => ({
    ...wire,
    wire,
    headers: wire.protocol.startsWith("Connect") ? { "connect-timeout-ms": connect } : { "grpc-timeout": grpc },
  }));

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "ok",
    (error) => Code[ConnectError.from(error).code],
  );

test.each(wiresWith("0m", "0"))(
  "a deadline that has passed already ends the call before anything is done: $protocol over HTTP/$httpVersion",
  async ({ wire, headers }) => {
    let deleted = 0;
    const store = { ...silentStore(), delete: async () => ++deleted > 0 };
    const { url, errors } = await serveStore(store);
    const call = createClient(SessionsService, transportOver(wire, url)).deleteSession({ id: "1" }, { headers });
    expect(await codeOf(call)).toBe("DeadlineExceeded");
    expect([deleted, errors]).toEqual([0, []]);
  },
);

test("work that ends in time is not touched by its deadline", async () => {
  const { client } = await serveStore({ ...silentStore(), delete: async () => true });
  expect(await codeOf(client.deleteSession({ id: "1" }, { headers: { "grpc-timeout": "10S" } }))).toBe("ok");
});

test.each(wiresWith("30m", "30"))(
  "work that fails after its deadline still reaches onError: $protocol over HTTP/$httpVersion",
  async ({ wire, headers }) => {
    let fail = (_: unknown) => {};
    const failing = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const { url, errors } = await serveStore({ ...silentStore(), delete: () => failing });
    const call = createClient(SessionsService, transportOver(wire, url)).deleteSession({ id: "1" }, { headers });
    expect(await codeOf(call)).toBe("DeadlineExceeded");
    const late = new Error("too late");
    fail(late);
    await eventually(
      () => errors.length === 1,
      () => `${errors.length} errors`,
    );
    expect(errors[0]?.error).toBe(late);
  },
);

test("a stream whose request message never comes ends at its deadline", async () => {
  const { url, listener } = await serveRpc();
  const session = await http2Connect(url);
  const stream = session.request({
    ":method": "POST",
    ":path": "/grpc.health.v1.Health/Watch",
    "content-type": "application/grpc",
    te: "trailers",
    "grpc-timeout": "50m",
  });
  stream.resume();
  const trailers = await new Promise<Record<string, unknown>>((resolve) => stream.once("trailers", resolve));
  expect(trailers["grpc-status"]).toBe("4");
  await eventually(
    () => listener.counts.streams === 0,
    () => `${listener.counts.streams} streams`,
  );
});

describe("a deadline further away than a timer can wait", () => {
  test.each([
    [GRPC, { "grpc-timeout": "99999999H" }],
    [CONNECT, { "connect-timeout-ms": "9999999999" }],
  ])("does not end the call at once", async (wire, headers) => {
    const { url } = await serveStore(fixedStore([]));
    const slow = { ...silentStore(), findById: () => delay(50, undefined) };
    const { url: slowUrl } = await serveStore(slow);
    for (const target of [url, slowUrl]) {
      const call = createClient(SessionsService, transportOver(wire, target)).getSession({ id: "1" }, { headers });
      expect(await codeOf(call)).toBe("NotFound");
    }
  });

  test.each([
    ["grpc", "grpc-timeout", "597H", 597 * 3_600_000],
    ["grpc-web", "grpc-timeout", "99999999m", 99_999_999],
    ["grpc", "grpc-timeout", "0n", 0],
    ["grpc", "grpc-timeout", "garbage", undefined],
    ["grpc", "grpc-timeout", "1234567890S", undefined],
    ["grpc", "connect-timeout-ms", "1", undefined],
    ["connect", "connect-timeout-ms", "2147483648", 2_147_483_648],
    ["connect", "connect-timeout-ms", "99999999999", undefined],
    ["connect", "connect-timeout-ms", "garbage", undefined],
  ] as const)("is taken from connect, unless it is malformed: %s, %s %s", (protocol, name, given, taken) => {
    const headers = { [name]: given };
    expect(takeDeadline(headers, protocol)).toBe(taken);
    expect(headers).toEqual(taken === undefined ? { [name]: given } : {});
  });
});

test.each(wiresWith("soon", "-1"))(
  "a deadline that is none is INVALID_ARGUMENT: $protocol over HTTP/$httpVersion",
  async ({ wire, headers }) => {
    const { url } = await serveStore(silentStore());
    const call = createClient(SessionsService, transportOver(wire, url)).getSession({ id: "1" }, { headers });
    expect(await codeOf(call)).toBe("InvalidArgument");
  },
);

describe("an interruption", () => {
  test("ends a wait, refuses later ones and begins no more work", async () => {
    const interruption = new Interruption();
    const waiting = interruption.wait(() => new Promise(() => {}));
    interruption.interrupt("first");
    interruption.interrupt("second");
    await expect(waiting).rejects.toBe("first");
    await expect(interruption.wait(() => expect.unreachable())).rejects.toBe("first");
  });

  test("leaves work alone that ended before it", async () => {
    const interruption = new Interruption();
    expect(await interruption.wait(async () => 1)).toBe(1);
    expect(interruption.interrupted).toBe(false);
  });
});

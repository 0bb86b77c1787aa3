import { once } from "node:events";
import http from "node:http";
import { constants } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import * as grpc from "@grpc/grpc-js";
import express from "express";
import fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import type { ActuatorHandler } from "../../src/actuator.ts";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { createActuator } from "../../src/index.ts";
import { PREFACE } from "../../src/server/port.ts";
import { FRAME, frame, framesOf, settings } from "../support/server-frames.ts";
import { rawClient } from "../support/server-harness.ts";

const MOUNTS: Readonly<Record<string, (handler: ActuatorHandler) => Server | Promise<Server>>> = {
  "node:http": (handler) => http.createServer((req, res) => handler(req, res, () => res.end("the application"))),
  Express: (handler) => http.createServer(express().use(handler)),
  Fastify: async (handler) => {
    const app = fastify();
    app.addHook("onRequest", (request, reply, next) => handler(request.raw, reply.raw, next));
    await app.ready();
    return app.server;
  },
};

async function mounted(mount: (handler: ActuatorHandler) => Server | Promise<Server>) {
  const actuator = createActuator({ access: "loopback", loggers: {}, audit: false });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const server = await mount(actuator.handler);
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { actuator, server, port: (server.address() as AddressInfo).port };
}

const WRONG = /^This server speaks HTTP\/1\.1 and gRPC needs HTTP\/2: use gRPC-Web or Connect/;

test.each(Object.entries(MOUNTS))("a native gRPC client at %s is told what is wrong", async (_, mount) => {
  const { port } = await mounted(mount);
  for (let call = 0; call < 2; call++) {
    const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` });
    const error = ConnectError.from(
      await createClient(Health, transport)
        .check({})
        .catch((error: unknown) => error),
    );
    expect([Code[error.code], error.rawMessage]).toEqual(["Unimplemented", expect.stringMatching(WRONG)]);
  }
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  onTestFinished(() => client.close());
  const same = (value: Buffer) => value;
  const path = "/grpc.health.v1.Health/Check";
  const failed = await new Promise<grpc.ServiceError | null>((resolve) => {
    client.makeUnaryRequest(path, same, same, Buffer.alloc(0), (error) => resolve(error));
  });
  expect(failed).toMatchObject({ code: grpc.status.UNIMPLEMENTED, details: expect.stringMatching(WRONG) });
  expect(await (await fetch(`http://127.0.0.1:${port}/actuator/health`)).json()).toEqual({ status: "UP" });
});

test("a port of the actuator's own leaves the servers of the application as they are", async () => {
  const actuator = createActuator({ access: "loopback", audit: false });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  await actuator.listen({ port: 0 });
  const server = http.createServer((_, res) => res.end("the application")).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(Object.hasOwn(server, "emit")).toBe(false);
});

test("other errors of clients are answered as before, and after the end the preface too", async () => {
  const { actuator, server, port } = await mounted(MOUNTS["node:http"]!);
  const send = async (text: string) => {
    const client = await rawClient(port);
    client.socket.write(text);
    return client.closed;
  };
  expect(await send("NONSENSE\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
  expect(await send(`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
  expect(Object.hasOwn(server, "emit")).toBe(true);
  await actuator.close();
  expect(Object.hasOwn(server, "emit")).toBe(false);
  expect(await send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
});

test("a client that sends without end before its first request is cut off", async () => {
  const { port } = await mounted(MOUNTS["node:http"]!);
  const client = await rawClient(port);
  client.socket.on("error", () => {});
  client.socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  for (let at = 0; at < 20; at++)
    client.socket.write(Buffer.concat([Buffer.from([0, 31, 64, 4, 0, 0, 0, 0, 0]), Buffer.alloc(8_000)]));
  await client.closed;
});

test("a PING before the first request is answered with the version that the server speaks", async () => {
  const { port } = await mounted(MOUNTS["node:http"]!);
  const client = await rawClient(port);
  client.socket.write(Buffer.concat([PREFACE, settings(), frame(FRAME.PING, 0, 0, Buffer.alloc(8))]));
  const [, goAway, ...rest] = framesOf(await client.closed);
  expect(rest).toEqual([]);
  expect(goAway).toMatchObject({ type: FRAME.GOAWAY, streamId: 0 });
  expect(goAway!.payload.readUInt32BE(4)).toBe(constants.NGHTTP2_HTTP_1_1_REQUIRED);
});

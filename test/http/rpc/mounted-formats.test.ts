/** Calls in every format at a handler that is mounted in a server of the application. */
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { createClient } from "@connectrpc/connect";
import express from "express";
import { describe, expect, onTestFinished, test } from "vitest";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { createActuator } from "../../../src/index.ts";
import {
  bodyOf,
  exchange,
  type HttpVersion,
  headersOf,
  messageIn,
  outcomeOf,
  UNARY_FORMATS,
} from "../../support/rpc-exchange.ts";
import { libraryOf, transportOver, WIRES } from "../../support/rpc-harness.ts";

const SERVICE = "/actuator.v3.LoggersService";

type Serve = (handler: http.RequestListener) => http.Server | http2.Http2Server;

const onExpress = (...middleware: express.RequestHandler[]): Serve => {
  return (handler) => http.createServer(express().use(...middleware, handler as express.RequestHandler));
};

const MOUNTS: Readonly<Record<string, readonly [HttpVersion, Serve]>> = {
  "node:http": ["HTTP/1.1", (handler) => http.createServer(handler)],
  "node:http2": ["HTTP/2", (handler) => http2.createServer(handler as never)],
  Express: ["HTTP/1.1", onExpress((_req, _res, next) => next())],
  "Express with parsers of bodies": ["HTTP/1.1", onExpress(express.json(), express.raw({ type: "application/*" }))],
};

async function mounted(serve: Serve): Promise<string> {
  const names = Array.from({ length: 100 }, (_, index) => `logger${index}`);
  const loggers = { adapters: [libraryOf(names)], logLevelChanges: false };
  const actuator = createActuator({ access: "loopback", audit: false, loggers });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const server = serve(actuator.handler as http.RequestListener);
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const rows = Object.entries(MOUNTS).map(([where, [version, serve]]) => ({ where, version, serve }));

describe.each(rows)("on $where", ({ where, version, serve }) => {
  test.each([...UNARY_FORMATS])("$name", async (format) => {
    const url = await mounted(serve);
    const call = async (method: string, message: Buffer) => {
      const sent = { path: `${SERVICE}/${method}`, headers: headersOf(format), body: bodyOf(format, message) };
      const { code, messages } = outcomeOf(format, await exchange(url, version, sent));
      return [code, messages.length];
    };
    const named = (name: string) =>
      messageIn(format, { name }, Buffer.concat([Buffer.from([10, name.length]), Buffer.from(name)]));
    expect(await call("GetLogger", named("logger7"))).toEqual(["OK", 1]);
    expect(await call("GetLogger", named("nothing"))).toEqual(["NOT_FOUND", 0]);
    expect(await call("ListLoggers", messageIn(format, {}, Buffer.alloc(0)))).toEqual(["OK", 1]);
    // A parser of JSON answers this by itself.
    if (where.includes("parsers") && format.json) return;
    expect(await call("GetLogger", Buffer.from([0x0a, 0x7f, 0x61]))).toEqual(["INVALID_ARGUMENT", 0]);
  });

  test.each(WIRES.filter(({ httpVersion }) => version.endsWith(httpVersion)))("a stream of $protocol", async (wire) => {
    const client = createClient(LoggersService, transportOver(wire, await mounted(serve)));
    const abort = new AbortController();
    const events = client.watchLoggers({}, { signal: abort.signal })[Symbol.asyncIterator]();
    expect((await events.next()).value).toMatchObject({ event: { case: "snapshot" } });
    abort.abort();
  });
});

test("a body that the application has read and kept is missing, and the call ends with that", async () => {
  const reading: express.RequestHandler = (req, _res, next) => void req.resume().on("end", () => next());
  const url = await mounted(onExpress(reading));
  for (const format of UNARY_FORMATS) {
    const sent = { path: `${SERVICE}/ListLoggers`, headers: headersOf(format) };
    const heard = await exchange(url, "HTTP/1.1", { ...sent, body: bodyOf(format, Buffer.from("{}")) });
    const code = format.protocol === "Connect" ? "INVALID_ARGUMENT" : "UNIMPLEMENTED";
    expect(outcomeOf(format, heard).code, format.name).toBe(code);
  }
});

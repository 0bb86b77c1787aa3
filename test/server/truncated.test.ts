import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import type { RequestHandler } from "../../src/server/handler.ts";
import type { Listener } from "../../src/server/listener.ts";
import { PREFACE } from "../../src/server/port.ts";
import { END_HEADERS, END_STREAM, FRAME, frame, framesOf, requestHeaders, settings } from "../support/server-frames.ts";
import { emptied, eventually, type RawClient, rawClient, serve } from "../support/server-harness.ts";
import { serveTls, testTrust, tlsClient } from "../support/server-tls.ts";

/** Ways for a client to give up in the middle of a body. */
const ways: Record<string, { hello: Buffer | string; giveUp: (client: RawClient) => unknown }> = {
  "HTTP/1.1, the connection closed": { hello: http1(), giveUp: ({ socket }) => socket.end() },
  "HTTP/1.1, the connection reset": { hello: http1(), giveUp: ({ socket }) => socket.resetAndDestroy() },
  "HTTP/2, the connection closed": { hello: http2(), giveUp: ({ socket }) => socket.end() },
  "HTTP/2, the connection reset": { hello: http2(), giveUp: ({ socket }) => socket.resetAndDestroy() },
  ...Object.fromEntries(
    // Every code of RFC 9113 section 7, NO_ERROR among them.
    Array.from({ length: 14 }, (_, code) => [
      `HTTP/2, the stream reset with code ${code}`,
      { hello: http2(), giveUp: ({ socket }: RawClient) => socket.write(frame(FRAME.RST_STREAM, 0, 1, uint32(code))) },
    ]),
  ),
};

describe("a body cut short is never taken for whole", () => {
  test.each(Object.entries(ways))("%s", async (_, { hello, giveUp }) => {
    const { handler, events } = listening();
    const { port, listener } = await serve(handler);
    const client = await rawClient(port);
    client.socket.write(hello);
    await isAborted(client, listener, events, () => giveUp(client));
  });

  const secured = Object.entries(ways).filter(([name]) => !name.endsWith("connection reset"));
  test.each(secured)("over TLS: %s", async (name, { hello, giveUp }) => {
    const { handler, events } = listening();
    const { port, listener } = await serveTls(handler);
    const client = await tlsClient(port, { ALPNProtocols: name.startsWith("HTTP/2") ? ["h2"] : ["http/1.1"] });
    client.socket.write(hello);
    await isAborted(client, listener, events, () => giveUp(client));
  });

  // Without the alert that says that it is the end (RFC 8446 section 6.1), as whoever is in between could do it.
  test.each(["http/1.1", "h2"])("over TLS: %s, the connection cut under it", async (protocol) => {
    const { handler, events } = listening();
    const { port, listener } = await serveTls(handler);
    const tcp = net.connect(port, "127.0.0.1");
    onTestFinished(() => void tcp.destroy());
    const { authority } = await testTrust();
    const socket = tls.connect({ socket: tcp, ca: authority.ca, servername: "localhost", ALPNProtocols: [protocol] });
    for (const each of [tcp, socket]) each.on("error", () => {});
    await once(socket, "secureConnect");
    socket.write(protocol === "h2" ? http2() : http1());
    await isAborted({ socket }, listener, events, () => tcp.destroy());
  });

  function listening() {
    const events: string[] = [];
    const handler: RequestHandler = (req) => {
      for (const event of ["data", "end", "aborted", "close"]) req.on(event, () => events.push(event));
      req.on("error", () => {});
    };
    return { handler, events };
  }

  async function isAborted(
    { socket }: Pick<RawClient, "socket">,
    listener: Listener,
    events: readonly string[],
    giveUp: () => unknown,
  ): Promise<void> {
    await eventually(
      () => events.includes("data"),
      () => "the body never came",
    );
    giveUp();
    await eventually(
      () => events.includes("close"),
      () => events.join(),
    );
    // An end behind the close is Node's way to let go of its buffers.
    expect(events.slice(0, events.indexOf("close"))).toEqual(["data", "aborted"]);
    socket.destroy();
    await emptied(listener);
  }
});

describe("a stream that is over in the very bytes that begin its connection", () => {
  const fields = { ":method": "POST", ":path": "/first" };
  test.each([
    { name: "asks whether to go on", headers: { expect: "100-continue" } },
    { name: "expects what nobody knows", headers: { expect: "something" } },
    { name: "expects nothing", headers: {} },
  ])("and $name reaches nobody, and ends nothing", async ({ headers }) => {
    for (const code of [0, 2, 4, 8]) {
      const asked: (string | undefined)[] = [];
      const { port, listener } = await serve((req, res) => {
        asked.push(req.url);
        res.end("hello");
      });
      const client = await rawClient(port);
      client.socket.write(
        Buffer.concat([
          PREFACE,
          settings(),
          requestHeaders(1, { ...fields, ...headers }, END_HEADERS),
          frame(FRAME.RST_STREAM, 0, 1, uint32(code)),
          requestHeaders(3, { ":path": "/second" }, END_HEADERS | END_STREAM),
        ]),
      );
      const answer = () => framesOf(client.received()).find(({ type }) => type === FRAME.DATA);
      await eventually(() => answer() !== undefined, client.received);
      expect(answer()!.payload.toString()).toBe("hello");
      expect(asked).toEqual(["/second"]);
      client.socket.destroy();
      await emptied(listener);
    }
  });
});

function http1(): string {
  return "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n123";
}

function http2(): Buffer {
  const headers = requestHeaders(1, { ":method": "POST" }, END_HEADERS);
  return Buffer.concat([PREFACE, settings(), headers, frame(FRAME.DATA, 0, 1, Buffer.from("123"))]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

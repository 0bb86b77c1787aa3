import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { PREFACE, protocolOf } from "../../src/server/port.ts";
import { settings } from "../support/server-frames.ts";
import { emptied, eventually, http1Request, rawClient, serve } from "../support/server-harness.ts";

const request = (method: string) => `${method} / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
const echo = () =>
  serve((req, res) => {
    res.setHeader("x-method", req.method!);
    res.end();
  });

describe("the protocol shows in the first bytes", () => {
  test.each(["GET", "POST", "PUT", "PATCH", "PROPFIND", "PRI", "P"])(
    "%s is HTTP/1.1 as soon as it differs",
    (method) => {
      const bytes = Buffer.from(`${method} /`);
      const differs = [...bytes].findIndex((byte, at) => byte !== PREFACE[at]);
      for (let length = 0; length <= bytes.length; length++) {
        expect(protocolOf(bytes.subarray(0, length))).toBe(length > differs ? "http/1.1" : undefined);
      }
    },
  );

  test("the preface is HTTP/2 with its last byte and not before", () => {
    for (let length = 0; length < PREFACE.length; length++) {
      expect(protocolOf(PREFACE.subarray(0, length))).toBeUndefined();
    }
    expect(protocolOf(PREFACE)).toBe("h2");
    expect(protocolOf(Buffer.concat([PREFACE, Buffer.from("more")]))).toBe("h2");
  });

  test("a byte that differs late makes it HTTP/1.1", () => {
    for (let at = 0; at < PREFACE.length; at++) {
      const bytes = Buffer.from(PREFACE);
      bytes[at]! ^= 1;
      expect(protocolOf(bytes)).toBe("http/1.1");
    }
  });
});

describe("whatever way the bytes arrive", () => {
  const methods = ["GET", "POST", "PUT", "PATCH", "PROPFIND", "OPTIONS"];

  test.each(methods)("%s byte by byte", async (method) => {
    const { port } = await echo();
    const client = await rawClient(port);
    for (const byte of request(method)) await write(client.socket, byte);
    expect(await client.closed).toContain(`x-method: ${method}`);
  });

  test.each(methods)("%s with the end of the connection behind it", async (method) => {
    const { port } = await echo();
    const client = await rawClient(port);
    client.socket.end(request(method));
    expect(await client.closed).toContain(`x-method: ${method}`);
  });

  test("the HTTP/2 preface byte by byte", async () => {
    const { port, listener } = await echo();
    const client = await rawClient(port);
    for (const byte of PREFACE) await write(client.socket, Buffer.from([byte]));
    await write(client.socket, settings());
    await eventually(() => client.received().length > 0, client.received);
    expect(client.received().charCodeAt(3)).toBe(4);
    expect(listener.counts.sessions).toBe(1);
  });

  test("pipelined requests in one piece are answered in order", async () => {
    const { port } = await serve((req, res) => void setImmediate(() => res.end(`<${req.url}>`)));
    const client = await rawClient(port);
    const paths = Array.from({ length: 20 }, (_, index) => `/${index}`);
    client.socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(""));
    await eventually(() => client.received().includes("</19>"), client.received);
    expect(client.received().match(/<\/\d+>/g)).toEqual(paths.map((path) => `<${path}>`));
  });
});

describe("what is neither", () => {
  const inputs: Record<string, string | Buffer> = {
    "a preface that differs at its end": "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
    garbage: Buffer.from([0, 1, 2, 3, 255, 254, 13, 10, 13, 10]),
    "a TLS ClientHello": Buffer.from("16030100f4010000f0030357c9", "hex"),
    "a header without a colon": "GET / HTTP/1.1\r\nHost: localhost\r\nbroken\r\n\r\n",
    "both Content-Length and Transfer-Encoding":
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  };

  test.each(Object.entries(inputs))("%s: a plain 400 without a body", async (_, bytes) => {
    const { port, listener } = await echo();
    const client = await rawClient(port);
    client.socket.write(bytes);
    const [head, body] = (await client.closed).split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(body).toBe("");
    await emptied(listener);
  });

  test("no Host: a 400 without a body", async () => {
    const { url } = await echo();
    expect(await http1Request(url, { setHost: false })).toMatchObject({ status: 400, body: "" });
  });

  // Node's parser knows PRI and waits for what follows it in the preface; its time limit decides then.
  test.each(["PRI / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\rX"])("%j: 400 or 408", async (bytes) => {
    const { port, listener } = await serve((_, res) => void res.end(), {
      limits: { headersTimeoutMs: 50, sweepIntervalMs: 20 },
    });
    const client = await rawClient(port);
    client.socket.write(bytes);
    expect(await client.closed).toMatch(/^HTTP\/1\.1 40[08] /);
    await emptied(listener);
  });

  test("headers over the limit: 431", async () => {
    const { port } = await serve((_, res) => void res.end(), { limits: { maxHeaderBytes: 1_000 } });
    const client = await rawClient(port);
    client.socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(2_000)}\r\n\r\n`);
    expect(await client.closed).toMatch(/^HTTP\/1\.1 431 /);
  });
});

describe("a connection that never says what it is", () => {
  test.each(["", "P", "PRI * HT", PREFACE.subarray(0, 23)])("ends after the time limit (%j)", async (bytes) => {
    const { port, listener } = await serve((_, res) => void res.end(), { limits: { protocolTimeoutMs: 50 } });
    const client = await rawClient(port);
    if (bytes.length > 0) client.socket.write(bytes);
    await eventually(
      () => listener.counts.connections === 1 || client.socket.closed,
      () => "never connected",
    );
    expect(await client.closed).toBe("");
    await emptied(listener);
  });

  test.each(["", "P", "PRI * HT"])("ends with its client (%j)", async (bytes) => {
    const { port, listener } = await serve((_, res) => void res.end());
    const client = await rawClient(port);
    client.socket.end(bytes);
    await client.closed;
    await emptied(listener);
  });

  test.each(["", "P", "PRI * HT"])("may be reset (%j)", async (bytes) => {
    const { port, listener } = await serve((_, res) => void res.end());
    const client = await rawClient(port);
    await eventually(
      () => listener.counts.connections === 1,
      () => "never connected",
    );
    if (bytes !== "") await write(client.socket, bytes);
    client.socket.resetAndDestroy();
    await emptied(listener);
  });
});

/** Writes and waits until the bytes are on their way, so that each write travels alone. */
function write(socket: Socket, bytes: string | Buffer): Promise<void> {
  return new Promise((resolve) => socket.write(bytes, () => setImmediate(resolve)));
}

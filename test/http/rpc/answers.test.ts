/** What answers consist of, to the byte: status, headers, trailers, envelopes and compression. */
import { brotliCompressSync, gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { ActuatorError } from "../../../src/common/error.ts";
import { directPath } from "../../../src/http/rpc/direct/switch.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { Sessions } from "../../../src/sessions/sessions.ts";
import {
  acceptHeader,
  bodyOf,
  encodingHeader,
  envelope,
  exchange,
  framesOf,
  fromBase64,
  type Heard,
  headersOf,
  messageIn,
  outcomeOf,
  overEach,
  type RpcFormat,
  type Sent,
  TEXT_FORMATS,
  UNARY_FORMATS,
} from "../../support/rpc-exchange.ts";
import { libraryOf, serveRpc } from "../../support/rpc-harness.ts";

const GET_LOGGER = "/actuator.v3.LoggersService/GetLogger";
const LIST_LOGGERS = "/actuator.v3.LoggersService/ListLoggers";
const GET_SESSION = "/actuator.v3.SessionsService/GetSession";
const ROOT = Buffer.from("\n\u0004ROOT");

/** The formats that the path under test answers. connect answers gRPC-Web in base64 with 415. */
const ANSWERED = overEach(directPath.enabled ? [...UNARY_FORMATS, ...TEXT_FORMATS] : UNARY_FORMATS);
const ENVELOPED = ANSWERED.filter(({ format }) => format.protocol !== "Connect");

const root = (format: RpcFormat) => messageIn(format, { name: "ROOT" }, ROOT);
const session = (format: RpcFormat) => bodyOf(format, messageIn(format, { id: "1" }, Buffer.from("\n\u00011")));

async function serveLoggers(count = 0) {
  const loggers = new Loggers();
  loggers.attach(libraryOf(Array.from({ length: count }, (_, index) => `logger${index}`)));
  return (await serveRpc({ loggers })).url;
}

async function serveFailure(failure: unknown) {
  const findById = () => Promise.reject(failure);
  const sessions = new Sessions({ kind: "failing", findById, delete: async () => false }, { ids: "raw" });
  return (await serveRpc({ sessions })).url;
}

function getLogger(format: RpcFormat, different: Partial<Sent> = {}): Sent {
  return {
    path: GET_LOGGER,
    body: bodyOf(format, root(format)),
    ...different,
    headers: { ...headersOf(format), ...different.headers },
  };
}

/** The body of a request of the bytes between, which gRPC-Web text has in base64. */
function written({ text }: RpcFormat, bytes: Buffer): Buffer {
  return text ? Buffer.from(bytes.toString("base64")) : bytes;
}

/** The bytes of an answer. */
function bytesOf({ text }: RpcFormat, { body }: Heard): Buffer {
  return text ? fromBase64(body.toString("latin1")) : body;
}

/** The content type of the answer: of two names for one format, connect answers the longer one. */
function answeredType({ type, protocol }: RpcFormat): string {
  return protocol === "Connect" || type.includes("+") ? type : `${type}+proto`;
}

describe("a logger", () => {
  test.each(ANSWERED)("$over", async ({ format, version }) => {
    const heard = await exchange(await serveLoggers(), version, getLogger(format));
    expect(heard.status).toBe(200);
    const { date: _, connection: __, "transfer-encoding": ___, "content-length": length, ...headers } = heard.headers;
    const isConnect = format.protocol === "Connect";
    expect(headers).toEqual({ "content-type": answeredType(format) });
    if (isConnect || length !== undefined) expect(length).toBe(`${heard.body.length}`);
    expect(heard.trailers).toEqual(format.protocol === "gRPC" ? { "grpc-status": "0" } : {});
    const { code, messages, metadata } = outcomeOf(format, heard);
    expect([code, messages.length, metadata]).toEqual(["OK", 1, {}]);
    if (format.json) expect(JSON.parse(messages[0]!.toString())).toMatchObject({ logger: { name: "ROOT" } });
    else expect(messages[0]!.subarray(0, 8).toString("latin1")).toBe("\n\u000c\n\u0004ROOT");
    if (!isConnect) {
      const flags = framesOf(bytesOf(format, heard)).map((frame) => frame.flags);
      expect(flags).toEqual(format.protocol === "gRPC" ? [0] : [0, 0x80]);
    }
  });
});

describe("an error with metadata has all of it, and nothing of the protocol's own", () => {
  const failure = () =>
    new ConnectError("It failed: é%.", Code.Aborted, [
      ["x-one", "1"],
      ["x-one", "2"],
      ["x-bin", "AAEC"],
      ["x-bin", "AwQ"],
      ["content-type", "text/other"],
      ["content-length", "3"],
      ["grpc-status", "0"],
      ["grpc-message", "fine"],
      ["accept-encoding", "other"],
    ]);

  test.each(ANSWERED)("$over", async ({ format, version }) => {
    const url = await serveFailure(failure());
    const sent = { path: GET_SESSION, headers: headersOf(format), body: session(format) };
    const heard = await exchange(url, version, sent);
    const isConnect = format.protocol === "Connect";
    expect(heard.status).toBe(isConnect ? 409 : 200);
    expect(heard.headers["content-type"]).toBe(isConnect ? "application/json" : answeredType(format));
    const { code, message, metadata } = outcomeOf(format, heard);
    expect([code, message]).toEqual(["ABORTED", "It failed: é%."]);
    expect(metadata).toMatchObject({ "x-one": "1, 2", "x-bin": "AAEC, AwQ" });
    if (isConnect) expect(Object.keys(metadata)).not.toContain("grpc-message");
    else expect(Object.keys(metadata).sort()).toEqual(["x-bin", "x-one"]);
  });

  test.each(ANSWERED)("$over, and the time to wait of an error of the domain", async ({ format, version }) => {
    const url = await serveFailure(
      new ActuatorError("RESOURCE_EXHAUSTED", "BUSY", "Later.", { retryAfterSeconds: "7" }),
    );
    const sent = { path: GET_SESSION, headers: headersOf(format), body: session(format) };
    const { code, metadata } = outcomeOf(format, await exchange(url, version, sent));
    expect([code, metadata["retry-after"]]).toEqual(["RESOURCE_EXHAUSTED", "7"]);
  });
});

describe("a message over the limit is RESOURCE_EXHAUSTED", () => {
  const large = Buffer.alloc(70_000, " ");

  test.each(ANSWERED.flatMap((row) => ["of a known length", "in pieces"].map((how) => ({ ...row, how }))))(
    "$over, $how",
    async ({ format, version, how }) => {
      const url = await serveLoggers();
      const body = bodyOf(format, large);
      const headers: Record<string, string> = how === "in pieces" ? {} : { "content-length": `${body.length}` };
      const heard = await exchange(url, version, getLogger(format, { headers, body }));
      expect(outcomeOf(format, heard).code).toBe("RESOURCE_EXHAUSTED");
      if (format.protocol === "Connect") expect(heard.status).toBe(429);
    },
  );

  const compressions = [
    ["gzip", gzipSync(Buffer.alloc(2_000_000, " "))],
    ["br", brotliCompressSync(Buffer.alloc(2_000_000, " "))],
  ] as const;

  test.each(
    ANSWERED.flatMap((row) => compressions.map(([encoding, compressed]) => ({ ...row, encoding, compressed }))),
  )("$over, once it is decompressed: $encoding", async ({ format, version, encoding, compressed }) => {
    const body = format.protocol === "Connect" ? compressed : written(format, envelope(compressed, 1));
    const headers = { [encodingHeader(format)]: encoding };
    const heard = await exchange(await serveLoggers(), version, getLogger(format, { headers, body }));
    expect(outcomeOf(format, heard).code).toBe("RESOURCE_EXHAUSTED");
  });

  test.each(ENVELOPED)("$over, by what its envelope declares", async ({ format, version }) => {
    const body = written(format, envelope(root(format), 0, 70_000));
    const heard = await exchange(await serveLoggers(), version, getLogger(format, { body }));
    expect(outcomeOf(format, heard).code).toBe("RESOURCE_EXHAUSTED");
  });
});

describe("envelopes", () => {
  const trailers = envelope(Buffer.from("x-a: 1\r\n"), 0x80);
  const cases: Readonly<Record<string, (one: Buffer) => readonly [Buffer, string]>> = {
    "no message": () => [Buffer.alloc(0), "UNIMPLEMENTED"],
    "a second message": (one) => [Buffer.concat([one, one]), "UNIMPLEMENTED"],
    "a cut message": (one) => [one.subarray(0, -1), "INVALID_ARGUMENT"],
    "a cut head": (one) => [one.subarray(0, 4), "INVALID_ARGUMENT"],
    "a compressed flag without a compression": (one) => [envelope(one.subarray(5), 1), "INTERNAL"],
  };

  test.each(ENVELOPED.flatMap((row) => Object.entries(cases).map(([what, make]) => ({ ...row, what, make }))))(
    "$over: $what",
    async ({ format, version, make }) => {
      const [body, code] = make(envelope(root(format)));
      const heard = await exchange(await serveLoggers(), version, getLogger(format, { body: written(format, body) }));
      expect(outcomeOf(format, heard).code).toBe(code);
    },
  );

  const ofWeb = ENVELOPED.filter(({ format }) => format.protocol === "gRPC-Web");
  test.each(ofWeb)("$over: trailers of a client are passed over", async ({ format, version }) => {
    for (const pieces of [
      [envelope(root(format)), trailers],
      [trailers, envelope(root(format))],
    ]) {
      const body = written(format, Buffer.concat(pieces));
      const heard = await exchange(await serveLoggers(), version, getLogger(format, { body }));
      expect(outcomeOf(format, heard).code).toBe("OK");
    }
  });
});

test.each(ANSWERED)("$over: a message that comes byte by byte is read", async ({ format, version }) => {
  const url = await serveLoggers();
  const heard = await exchange(url, version, { ...getLogger(format), isSlow: true });
  expect(outcomeOf(format, heard)).toMatchObject({ code: "OK", messages: { length: 1 } });
  const long = bodyOf(format, messageIn(format, { name: "x".repeat(600) }, longName()));
  const refused = await exchange(url, version, { ...getLogger(format, { body: long }), isSlow: true });
  expect(outcomeOf(format, refused)).toMatchObject({ code: "INVALID_ARGUMENT" });
});

function longName(): Buffer {
  return Buffer.concat([Buffer.of(10, 0xd8, 4), Buffer.alloc(600, "x")]);
}

describe("compression", () => {
  const both = ANSWERED.flatMap((row) => ["gzip", "br"].map((encoding) => ({ ...row, encoding })));

  test.each(both)("$over: $encoding of a request", async ({ format, version, encoding }) => {
    const compressed = encoding === "gzip" ? gzipSync(root(format)) : brotliCompressSync(root(format));
    const body = format.protocol === "Connect" ? compressed : written(format, envelope(compressed, 1));
    const headers = { [encodingHeader(format)]: encoding };
    const heard = await exchange(await serveLoggers(), version, getLogger(format, { headers, body }));
    expect(outcomeOf(format, heard).code).toBe("OK");
  });

  test.each(both)("$over: $encoding of answers of 1,024 bytes and more", async ({ format, version, encoding }) => {
    const url = await serveLoggers(100);
    const headers = { [acceptHeader(format)]: encoding };
    const small = await exchange(url, version, getLogger(format, { headers }));
    const list = { path: LIST_LOGGERS, headers, body: bodyOf(format, messageIn(format, {}, Buffer.alloc(0))) };
    const large = await exchange(url, version, getLogger(format, list));
    const announced = [small, large].map((heard) => heard.headers[encodingHeader(format)]);
    // gRPC announces what messages may have, Connect what this one has.
    expect(announced).toEqual([format.protocol === "Connect" ? undefined : encoding, encoding]);
    expect(outcomeOf(format, large).messages[0]!.length).toBeGreaterThan(1_024);
    expect(large.body.length).toBeLessThan(1_024);
    if (format.protocol === "Connect") return;
    const flags = [small, large].map((heard) => framesOf(bytesOf(format, heard))[0]!.flags);
    expect(flags).toEqual([0, 1]);
  });

  test.each(both)(
    "$over: large errors are read by clients that accept $encoding",
    async ({ format, version, encoding }) => {
      const url = await serveFailure(new ActuatorError("NOT_FOUND", "LARGE", "x".repeat(3_000)));
      const headers = { ...headersOf(format), [acceptHeader(format)]: encoding };
      const heard = await exchange(url, version, { path: GET_SESSION, headers, body: session(format) });
      expect(outcomeOf(format, heard)).toMatchObject({ code: "NOT_FOUND", message: "x".repeat(3_000) });
    },
  );

  test.each(ANSWERED)("$over: an unknown one is UNIMPLEMENTED in a request and ignored for an answer", async (row) => {
    const { format, version } = row;
    const url = await serveLoggers();
    const asked = await exchange(url, version, getLogger(format, { headers: { [acceptHeader(format)]: "zip" } }));
    expect([outcomeOf(format, asked).code, asked.headers[encodingHeader(format)]]).toEqual(["OK", undefined]);
    const sent = await exchange(url, version, getLogger(format, { headers: { [encodingHeader(format)]: "zip" } }));
    expect(outcomeOf(format, sent).code).toBe("UNIMPLEMENTED");
  });
});

describe("gRPC-Web text", () => {
  const text = overEach(TEXT_FORMATS);
  const message = envelope(ROOT);

  const pieces: Readonly<Record<string, readonly Buffer[]>> = {
    "one piece": [message],
    "a piece for the head and one for the message": [message.subarray(0, 5), message.subarray(5)],
    "a piece for each byte": [...message].map((byte) => Buffer.of(byte)),
    "pieces with and without padding": [message.subarray(0, 3), message.subarray(3, 4), message.subarray(4)],
  };

  if (!directPath.enabled) {
    test.each(text)("$over is 415 over connect's path", async ({ format, version }) => {
      expect((await exchange(await serveLoggers(), version, getLogger(format))).status).toBe(415);
    });
  } else {
    test.each(text.flatMap((row) => Object.entries(pieces).map(([what, parts]) => ({ ...row, what, parts }))))(
      "$over: a request in $what",
      async ({ format, version, parts }) => {
        const body = Buffer.from(parts.map((part) => part.toString("base64")).join(""));
        const heard = await exchange(await serveLoggers(), version, getLogger(format, { body }));
        expect(heard.headers["content-type"]).toBe("application/grpc-web-text+proto");
        expect(heard.body.toString("latin1")).toMatch(/^[\w+/=]+$/);
        expect(outcomeOf(format, heard)).toMatchObject({ code: "OK", metadata: {} });
      },
    );

    test.each(text)("$over: bytes that are not base64 are INVALID_ARGUMENT", async ({ format, version }) => {
      for (const body of ["!!!!", "AAAAAAA", `${message.toString("base64").slice(0, -3)}`]) {
        const heard = await exchange(await serveLoggers(), version, getLogger(format, { body: Buffer.from(body) }));
        expect(outcomeOf(format, heard).code, body).not.toBe("OK");
      }
    });
  }
});

describe("a Connect GET", () => {
  const binary = Buffer.from("\n\u0004ROOT");
  const base64 = binary.toString("base64");
  const compressed = gzipSync(binary);
  const odd = Buffer.from(`\n\u0005\u00fb\u00ff\u00fe~?`, "latin1");

  test.each([
    ["padded base64", `message=${encodeURIComponent(base64)}&base64=1`, 200],
    ["base64 without padding", `message=${base64.replaceAll("=", "")}&base64=1`, 200],
    ["URL-safe base64", `message=${binary.toString("base64url")}&base64=1`, 200],
    ["protobuf that is not base64", "message=%0A%04ROOT", 200],
    ["gzip", `message=${compressed.toString("base64url")}&base64=1&compression=gzip`, 200],
    ["brotli", `message=${brotliCompressSync(binary).toString("base64url")}&base64=1&compression=br`, 200],
    ["no compression, by name", `message=${base64}&base64=1&compression=identity`, 200],
    ["an unknown compression", `message=${base64}&base64=1&compression=zip`, 501],
    ["no message", "base64=1", 400],
    ["bytes that are not UTF-8", `message=${odd.toString("base64url")}&base64=1`, 400],
    [
      "a message over the limit",
      `message=${gzipSync(Buffer.alloc(70_000, " ")).toString("base64url")}&base64=1&compression=gzip`,
      429,
    ],
  ])("in %s is %s", async (_, query, status) => {
    const url = await serveLoggers();
    for (const version of ["HTTP/1.1", "HTTP/2"] as const) {
      const path = `${GET_LOGGER}?connect=v1&encoding=proto&${query}`;
      const heard = await exchange(url, version, { method: "GET", path, headers: {} });
      expect(heard.status, version).toBe(status);
      expect(heard.headers["content-type"]).toBe(status === 200 ? "application/proto" : "application/json");
    }
  });

  test.each([
    ["an unknown encoding", "encoding=xml&message=a", 415],
    ["no encoding", "message=a", 415],
  ])("with %s is %i", async (_, query, status) => {
    const url = await serveLoggers();
    for (const version of ["HTTP/1.1", "HTTP/2"] as const) {
      const sent = { method: "GET", path: `${GET_LOGGER}?connect=v1&${query}`, headers: {} };
      expect((await exchange(url, version, sent)).status, version).toBe(status);
    }
  });
});

test.each(overEach(UNARY_FORMATS))("$over: what is no call is told so by status alone", async (row) => {
  const { format, version } = row;
  const url = await serveLoggers();
  const other = await exchange(url, version, getLogger(format, { headers: { "content-type": "text/plain" } }));
  expect(other.status).toBe(415);
  const put = await exchange(url, version, getLogger(format, { method: "PUT" }));
  expect([put.status, put.headers.allow]).toEqual([405, "POST, GET"]);
});

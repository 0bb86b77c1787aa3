import { PREFACE } from "../../src/server/port.ts";
import type { Random } from "./random.ts";
import { END_HEADERS, END_STREAM, FRAME, frame, hpack, requestHeaders, settings } from "./server-frames.ts";

/** Writes in order, each on its own; a number is a pause in milliseconds. */
export type Input = readonly (Buffer | string | number)[];

/** The name that every truncated change is about. It must never come to be. */
export const TRUNCATED = "truncated";

const HOSTS = [
  "[",
  "a b",
  "::::",
  "%",
  "",
  "x:99999999",
  "<script>",
  "//",
  "user:pw@host",
  "[::1",
  "\u00ff",
  "a,b",
  "@",
  "?",
];
const PATHS = [
  "/actuator",
  "/actuator/loggers",
  "/actuator/loggers/ROOT",
  "/actuator/loggers/%",
  "/actuator/loggers/%zz",
  "/actuator/loggers/%c0%af",
  "/actuator/loggers/%ed%a0%80",
  "/actuator/sessions?username=ada",
  "/actuator/sessions/known",
  "/actuator/integrationgraph",
  "/actuator/health",
  "//",
  "/",
  "*",
  "",
  "/actuator/../x",
  "/actuator/loggers/__proto__",
  "/actuator.v3.LoggersService/GetLogger",
  "/actuator.v3.LoggersService/SetLoggerLevel",
  "/actuator.v3.Nobody/Nothing",
  "/actuator.v3.SessionsService/ListSessions",
  "/actuator.v3.IntegrationGraphService/GetIntegrationGraph",
  "/actuator.v3.LoggersService/GetLogger?connect=v1&encoding=json&message=%7B",
  "/grpc.health.v1.Health/Watch",
  "/actuator.v3.LoggersService/GetLogger?connect=v1&encoding=proto&base64=1&message=!!!!",
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  "/grpc.health.v1.Health/Check",
];
const METHODS = [
  "GET",
  "POST",
  "PUT",
  "DELETE",
  "OPTIONS",
  "HEAD",
  "PATCH",
  "PROPFIND",
  "TRACE",
  "CONNECT",
  "PRI",
  "get",
  "\u0000",
];
const TYPES = [
  "application/json",
  "application/grpc",
  "application/grpc-web",
  "application/grpc-web-text",
  "application/proto",
  "application/connect+proto",
  "application/connect+json",
  "application/grpc+json",
  "text/plain",
  "",
  ";;;",
  "application/",
];

/** What an attacker or a broken client may send, by name. */
const KINDS: Readonly<Record<string, (random: Random) => Input>> = {
  "random bytes": (random) => [random.bytes(1 + random.below(300))],

  "a half preface": (random) => [PREFACE.subarray(0, random.below(24)), random.below(20)],

  "a preface, then bytes": (random) => [PREFACE, random.bytes(random.below(100))],

  "a bad Host": (random) => [
    `${random.pick(["GET", "POST"])} ${random.pick(PATHS)} HTTP/1.1\r\nHost: ${random.pick([...HOSTS, random.text(10)])}\r\n` +
      `Content-Type: ${random.pick(TYPES)}\r\nContent-Length: 2\r\n\r\n{}`,
  ],

  "a request line of any kind": (random) => [
    `${random.pick(METHODS)} ${random.pick([...PATHS, random.text(30)])} HTTP/${random.pick(["1.1", "1.0", "0.9", "2.0", "x"])}\r\n` +
      `Host: localhost\r\n${random.text(random.below(30))}\r\n\r\n`,
  ],

  "headers of any kind": (random) => [
    `GET ${random.pick(PATHS)} HTTP/1.1\r\nHost: localhost\r\nAccept: ${random.text(20)}\r\nAccept-Encoding: ${random.text(9)}\r\n` +
      `If-None-Match: ${random.text(9)}\r\nConnect-Timeout-Ms: ${random.text(4)}\r\nX-Forwarded-Host: ${random.text(9)}\r\n\r\n`,
  ],

  "a truncated change over HTTP/1.1": (random) => {
    const body = '{"configuredLevel":"off"}';
    return [
      `POST /actuator/loggers/${TRUNCATED} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length + 1 + random.below(1_000)}\r\n\r\n${body}`,
      random.below(10),
    ];
  },

  "a truncated change over HTTP/2": (random) => {
    const headers = {
      ":method": "POST",
      ":path": `/actuator/loggers/${TRUNCATED}`,
      "content-type": "application/json",
    };
    const close = Buffer.alloc(4);
    close.writeUInt32BE(random.below(14));
    return [
      PREFACE,
      settings(),
      requestHeaders(1, headers, END_HEADERS),
      frame(FRAME.DATA, 0, 1, Buffer.from('{"configuredLevel":"off"}')),
      random.below(10),
      ...(random.below(2) === 0 ? [frame(FRAME.RST_STREAM, 0, 1, close)] : []),
    ];
  },

  "a truncated change over RPC": (random) => {
    const path = "/actuator.v3.LoggersService/SetLoggerLevel";
    const message = Buffer.concat([Buffer.from([10, TRUNCATED.length]), Buffer.from(TRUNCATED), Buffer.from([16, 1])]);
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length + 1 + random.below(100), 1);
    return [
      PREFACE,
      settings(),
      requestHeaders(
        1,
        { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" },
        END_HEADERS,
      ),
      frame(FRAME.DATA, random.pick([0, END_STREAM]), 1, Buffer.concat([head, message])),
      random.below(10),
    ];
  },

  "broken chunks": (random) => [
    `POST ${random.pick(PATHS)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${random.pick(TYPES)}\r\n` +
      `Transfer-Encoding: ${random.pick(["chunked", "gzip, chunked", "x"])}\r\n\r\n`,
    `${random.pick(["5", "zz", "ffffffffffff", "-1", "0"])}\r\n${random.text(5)}\r\n`,
    random.text(5),
  ],

  "an RPC body of any kind over HTTP/1.1": (random) => {
    const body = random.bytes(random.below(100));
    const length = body.length + random.pick([0, 0, 0, 5, -1]);
    return [
      `POST ${random.pick(PATHS)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${random.pick(TYPES)}\r\n` +
        `Content-Encoding: ${random.pick(["identity", "gzip", "br", random.text(5)])}\r\nContent-Length: ${Math.max(0, length)}\r\n\r\n`,
      body,
    ];
  },

  "a gRPC frame that claims too much": (random) => {
    const head = random.bytes(5 + random.below(20));
    return [
      PREFACE,
      settings(),
      requestHeaders(
        1,
        { ":method": "POST", ":path": random.pick(PATHS), "content-type": random.pick(TYPES), te: "trailers" },
        END_HEADERS,
      ),
      frame(FRAME.DATA, random.pick([0, END_STREAM]), 1, head),
    ];
  },

  "frames of any kind": (random) => [
    PREFACE,
    settings(),
    ...Array.from({ length: 1 + random.below(10) }, () =>
      frame(
        random.below(12),
        random.below(256),
        random.pick([0, 1, 2, 3, 2 ** 31 - 1]),
        random.bytes(random.below(40)),
      ),
    ),
  ],

  "frames whose length lies": (random) => {
    const lying = frame(random.below(10), random.below(256), random.below(5), random.bytes(20));
    lying.writeUIntBE(random.below(2 ** 24), 0, 3);
    return [PREFACE, settings(), lying];
  },

  "requests with fields of any kind over HTTP/2": (random) => {
    const fields = {
      ":method": random.pick(METHODS),
      ":authority": random.pick([...HOSTS, random.text(10)]),
      ":path": random.pick([...PATHS, random.text(20)]),
      ":scheme": random.pick(["http", "https", "", random.text(4)]),
      [random.pick([
        "host",
        "content-type",
        "content-length",
        "te",
        "grpc-timeout",
        "connection",
        ":status",
        "X-Upper",
        "",
      ])]: random.pick(["trailers", "1S", "5", random.text(8)]),
    };
    const flags = random.pick([END_HEADERS, END_HEADERS | END_STREAM]);
    return [
      PREFACE,
      settings(),
      frame(FRAME.HEADERS, flags, random.pick([1, 3, 2]), hpack(fields)),
      random.bytes(random.below(9)),
    ];
  },

  "many streams, reset at once": (random) => {
    const frames: Buffer[] = [];
    for (let id = 1; id < 60; id += 2) {
      const expect = random.below(3) === 0 ? { expect: random.pick(["100-continue", "something"]) } : {};
      const flags = random.pick([END_HEADERS, END_HEADERS | END_STREAM]);
      frames.push(requestHeaders(id, { ":path": random.pick(PATHS) || "/", ...expect }, flags));
      frames.push(frame(FRAME.RST_STREAM, 0, id, Buffer.from([0, 0, 0, random.pick([0, 8])])));
    }
    return [Buffer.concat([PREFACE, settings(), ...frames])];
  },

  "headers that never end": (random) => [
    PREFACE,
    settings(),
    requestHeaders(1, {}, 0),
    ...Array.from({ length: random.below(5) }, () => frame(FRAME.CONTINUATION, 0, 1, random.bytes(20))),
  ],

  "an answer at window 0": (random) => [
    PREFACE,
    settings(0),
    requestHeaders(1, { ":path": random.pick(PATHS) || "/" }, END_HEADERS | END_STREAM),
    random.below(20),
  ],

  "watches that are left": (random) => {
    const headers = {
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Watch",
      "content-type": "application/grpc",
      te: "trailers",
    };
    return [
      PREFACE,
      settings(),
      requestHeaders(1, headers, END_HEADERS),
      frame(FRAME.DATA, END_STREAM, 1, Buffer.alloc(5)),
      random.below(20),
    ];
  },

  "good requests with a few wrong bytes": (random) => {
    const good =
      random.below(2) === 0
        ? Buffer.from(
            `POST /actuator/loggers/flipped HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 26\r\n\r\n` +
              '{"configuredLevel":"info"}',
          )
        : Buffer.concat([
            PREFACE,
            settings(),
            requestHeaders(1, { ":path": "/actuator/loggers" }, END_HEADERS | END_STREAM),
          ]);
    for (let flips = 1 + random.below(4); flips > 0; flips--) good[random.below(good.length)] = random.below(256);
    return [good];
  },

  "good requests, piled up": (random) => [
    `GET ${random.pick(["/actuator", "/actuator/loggers", "/actuator/health"])} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(
      1 + random.below(30),
    ),
  ],
};

/** How a client leaves: with FIN, with RST, at once, or only when the server closes. */
export type Leave = "end" | "reset" | "stay";

/** One hostile input: what it is, what is sent, in how large pieces, and how the client leaves. */
export function hostileInput(random: Random): { kind: string; writes: (Buffer | number)[]; leave: Leave } {
  const kind = random.pick(Object.keys(KINDS));
  const writes: (Buffer | number)[] = [];
  // Most at once, some byte by byte or in halves, as networks deliver it.
  const piece = random.pick([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 40, 9]);
  for (const write of KINDS[kind]!(random)) {
    if (typeof write === "number") writes.push(write);
    else {
      const bytes = typeof write === "string" ? Buffer.from(write, "latin1") : write;
      for (let at = 0; at < bytes.length; at += piece) writes.push(bytes.subarray(at, at + piece));
    }
  }
  const leave = random.below(100) === 0 ? "stay" : random.pick<Leave>(["end", "reset"]);
  return { kind, writes, leave };
}

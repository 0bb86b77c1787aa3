import { gzipSync } from "node:zlib";
import { PREFACE } from "../../src/server/port.ts";
import type { Random } from "../support/random.ts";
import { END_HEADERS, END_STREAM, FRAME, frame, requestHeaders, settings } from "../support/server-frames.ts";
import type { Input } from "../support/server-hostile-inputs.ts";

const MEMBER = gzipSync(Buffer.alloc(16 * 1024 * 1024));
/** A gigabyte in a megabyte, and 48 MB in what fits a small limit. A file of gzip may have many members. */
const BOMBS = [Buffer.concat(Array(64).fill(MEMBER)), Buffer.concat(Array(3).fill(MEMBER)), MEMBER, gzipSync(MEMBER)];

const REST = "/actuator/loggers/bombed";
const GET = "/actuator.v3.LoggersService/GetLogger";
const SET = "/actuator.v3.LoggersService/SetLoggerLevel";
const WATCH = "/actuator.v3.LoggersService/WatchLoggers";
const REFLECT = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

const JSONS: readonly ((random: Random) => string | Buffer)[] = [
  () => "[".repeat(100_000),
  () => '{"a":'.repeat(12_000),
  () => `${"[".repeat(30_000)}${"]".repeat(30_000)}`,
  () => `{"name":${"[".repeat(20_000)}1${"]".repeat(20_000)}}`,
  () => '{"configuredLevel":1e999}',
  () => `{"configuredLevel":${"9".repeat(60_000)}}`,
  () => '{"configuredLevel":-0,"configuredLevel":"debug"}',
  () => '{"__proto__":{"configuredLevel":"debug"},"constructor":{"prototype":{"polluted":1}}}',
  () => '{"name":"__proto__","level":"LEVEL_DEBUG","ttl":"1e9s"}',
  () => '{"name":"constructor","level":99}',
  () => '{"configuredLevel":"\\ud800"}',
  () => '{"configuredLevel":"\\u0000"}',
  () => Buffer.from('{"configuredLevel":"\xff\xfe\xc0\xaf"}', "latin1"),
  () => Buffer.from('\ufeff{"configuredLevel":"info"}', "utf16le"),
  () => '\ufeff{"configuredLevel":{}}',
  () => `{"configuredLevel":"${"x".repeat(60_000)}"}`,
  () => `{${Array.from({ length: 5_000 }, (_, index) => `"k${index}":null`).join()}}`,
  () => '{"ttl":"-1s","name":"ROOT","level":"LEVEL_INFO"}',
  () => '{"ttl":"315576000001s","name":"ROOT","level":"LEVEL_INFO"}',
  () => '{"pageToken":"AAAA","pageSize":-1}',
  () => `{"pageSize":2147483647,"filter":"${"(a+)+$".repeat(500)}"}`,
  () => `{"name":"${"a.".repeat(20_000)}"}`,
  () => "",
  () => "null",
  () => '"',
  (random) => random.text(random.below(500)),
  (random) => random.bytes(random.below(500)),
];

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}

/** A field of bytes in a field of bytes, and so on, innermost first. */
function nested(field: number, depth: number): Buffer {
  const parts: Buffer[] = [];
  for (let level = 0, size = 0; level < depth; level++) {
    const head = Buffer.concat([Buffer.from([(field << 3) | 2]), varint(size)]);
    parts.push(head);
    size += head.length;
  }
  return Buffer.concat(parts.reverse());
}

const field = (number: number, content: Buffer) =>
  Buffer.concat([varint((number << 3) | 2), varint(content.length), content]);

const PROTOS: readonly ((random: Random) => Buffer)[] = [
  (random) => random.bytes(random.below(300)),
  () => Buffer.alloc(11, 0xff),
  () => Buffer.alloc(60_000, 0x0b), // Groups in groups, of which none ends.
  () => Buffer.concat([Buffer.alloc(30_000, 0x0b), Buffer.alloc(30_000, 0x0c)]),
  () => nested(1, 15_000),
  () => Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
  () => Buffer.from([0x0a, 0x02, 0xff, 0xfe]),
  () => Buffer.concat(Array(20_000).fill(Buffer.from([0x0a, 0x00]))),
  () => field(1, Buffer.from("__proto__")),
  () => field(1, Buffer.alloc(60_000, "a")),
  () =>
    Buffer.concat([
      field(1, Buffer.from("ROOT")),
      Buffer.from([0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
    ]),
  (random) =>
    Buffer.concat(
      Array.from({ length: 50 }, () => Buffer.concat([varint(random.below(1e6)), random.bytes(random.below(9))])),
    ),
];

/** An OTLP request whose one attribute holds lists in lists: AnyValue.array_value (5), ArrayValue.values (1). */
function deepSpans(depth: number): Buffer {
  let parts: Buffer[] = [];
  for (let level = 0, size = 0; level < depth; level++) {
    for (const number of [1, 5]) {
      const head = Buffer.concat([Buffer.from([(number << 3) | 2]), varint(size)]);
      parts.push(head);
      size += head.length;
    }
  }
  parts = parts.reverse();
  const attribute = Buffer.concat([field(1, Buffer.from("a")), field(2, Buffer.concat(parts))]);
  const span = Buffer.concat([field(1, Buffer.alloc(16, 1)), field(2, Buffer.alloc(8, 2)), field(9, attribute)]);
  return field(1, field(2, field(2, span)));
}

const deepJsonSpans = (depth: number) =>
  `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"${"a".repeat(32)}","spanId":"${"b".repeat(16)}","attributes":[{"key":"__proto__","value":` +
  `${'{"arrayValue":{"values":['.repeat(depth)}${"]}}".repeat(depth)}}]}]}]}]}`;

const OTLP_JSONS = [
  deepJsonSpans(5_000),
  deepJsonSpans(50),
  `{"resourceSpans":${"[".repeat(100_000)}`,
  '{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"__proto__"}}]},"scopeSpans":[{"spans":[null]}]}]}',
  '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"zz","startTimeUnixNano":"-1","endTimeUnixNano":"99999999999999999999999"}]}]}]}',
  `{"resourceSpans":[${"{},".repeat(20_000)}{}]}`,
];
const OTLP_PROTOS = [deepSpans(20), deepSpans(5_000), deepSpans(20_000), nested(1, 20_000), Buffer.alloc(60_000, 0x0b)];

function http1(path: string, type: string, body: string | Buffer, ...fields: readonly string[]): Input {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: localhost",
    `Content-Type: ${type}`,
    `Content-Length: ${bytes.length}`,
    ...fields,
    "Connection: close",
  ];
  return [Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), bytes])];
}

/** One request over HTTP/2, its body in frames as large as they may be. The window of a stream is not waited for. */
function http2(path: string, type: string, body: Buffer, fields: Readonly<Record<string, string>> = {}): Input {
  const frames = [
    PREFACE,
    settings(),
    requestHeaders(
      1,
      { ":method": "POST", ":path": path, "content-type": type, te: "trailers", ...fields },
      END_HEADERS,
    ),
  ];
  const sent = body.subarray(0, 65_535);
  for (let at = 0; at < sent.length; at += 16_384) frames.push(frame(FRAME.DATA, 0, 1, sent.subarray(at, at + 16_384)));
  frames.push(frame(FRAME.DATA, END_STREAM, 1));
  return [Buffer.concat(frames), 5];
}

function envelope(flags: number, message: Buffer, claimed = message.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(claimed, 1);
  return Buffer.concat([head, message]);
}

const STREAM_TYPES = [
  "application/grpc",
  "application/grpc+json",
  "application/grpc-web+proto",
  "application/grpc-web-text",
  "application/connect+proto",
  "application/connect+json",
];
const METHODS = [
  GET,
  SET,
  WATCH,
  REFLECT,
  EXPORT,
  "/grpc.health.v1.Health/Watch",
  "/actuator.v3.LoggersService/HoldLoggerLevel",
];

/** Bodies that are made to harm their reader. */
export const BODY_INPUTS: Readonly<Record<string, (random: Random) => Input>> = {
  "hostile JSON over REST": (random) =>
    http1(REST, random.pick(["application/json", "application/json;charset=utf-7"]), random.pick(JSONS)(random)),
  "hostile JSON over Connect": (random) =>
    http1(random.pick([GET, SET]), "application/json", random.pick(JSONS)(random)),
  "hostile JSON over HTTP/2": (random) =>
    http2(random.pick([REST, GET, SET]), "application/json", Buffer.from(random.pick(JSONS)(random))),
  "hostile protobuf over Connect": (random) =>
    http1(random.pick([GET, SET]), "application/proto", random.pick(PROTOS)(random)),
  "hostile protobuf over gRPC": (random) =>
    http2(random.pick(METHODS), "application/grpc", envelope(0, random.pick(PROTOS)(random))),
  "hostile protobuf over gRPC-Web": (random) =>
    http1(random.pick(METHODS), "application/grpc-web+proto", envelope(0, random.pick(PROTOS)(random))),
  "a frame of 4 GiB": (random) =>
    http2(random.pick(METHODS), random.pick(STREAM_TYPES), envelope(random.below(2), random.bytes(20), 0xffff_ffff)),
  "a frame cut short": (random) =>
    http2(random.pick(METHODS), random.pick(STREAM_TYPES), envelope(0, random.bytes(20), 21 + random.below(60_000))),
  "frames with odd flags": (random) =>
    http2(random.pick(METHODS), random.pick(STREAM_TYPES), envelope(random.below(256), random.bytes(random.below(30)))),
  "thousands of empty frames": (random) =>
    http2(
      random.pick(METHODS),
      random.pick(STREAM_TYPES),
      Buffer.concat(Array(10_000).fill(envelope(0, Buffer.alloc(0)))),
    ),
  "a compressed frame that is not": (random) =>
    http2(random.pick(METHODS), random.pick(STREAM_TYPES), envelope(1, random.bytes(30)), {
      [random.pick(["grpc-encoding", "connect-content-encoding"])]: random.pick(["gzip", "br", "zstd", "x"]),
    }),
  "a wrong type": (random) =>
    http1(
      random.pick([...METHODS, REST, "/v1/traces"]),
      random.pick([
        ...STREAM_TYPES,
        "text/plain",
        "multipart/form-data",
        "application/x-protobuf",
        "",
        "application/json/x",
      ]),
      random.bytes(random.below(60)),
    ),
  "odd deadlines": (random) =>
    http2(random.pick(METHODS), "application/grpc", envelope(0, Buffer.alloc(0)), {
      "grpc-timeout": random.pick(["99999999H", "1n", "0S", "-1S", "1", "S", "1e9S", "123456789S", " 1S"]),
    }),
  "odd metadata": (random) =>
    http2(random.pick(METHODS), "application/grpc", envelope(0, Buffer.alloc(0)), {
      [random.pick([
        "x-bin",
        "grpc-trace-bin",
        "grpc-encoding",
        "grpc-accept-encoding",
        "grpc-status",
        "grpc-message",
      ])]: random.pick(["%%%", "=", "a,b,c", "99", random.text(50)]),
    }),
  "odd Connect GETs": (random) => [
    `GET ${random.pick([GET, "/actuator.v3.LoggersService/ListLoggers"])}?connect=v1&encoding=${random.pick(["json", "proto", "x"])}` +
      `&base64=${random.pick(["1", "0", "x"])}&compression=${random.pick(["gzip", "identity", "br"])}` +
      `&message=${random.pick(["%7B%7D", "%ff", "!!!!", "H4sIAAAAAAAA", "W1tb".repeat(2_000), random.bytes(20).toString("base64url")])} HTTP/1.1\r\n` +
      "Host: localhost\r\nConnection: close\r\n\r\n",
  ],
  "OTLP in hostile JSON": (random) => http1("/v1/traces", "application/json", random.pick(OTLP_JSONS)),
  "OTLP in hostile protobuf": (random) =>
    http1("/v1/traces", "application/x-protobuf", random.pick([...OTLP_PROTOS, random.bytes(200)])),
  "OTLP in hostile gRPC": (random) =>
    http2(EXPORT, "application/grpc", envelope(0, random.pick([...OTLP_PROTOS, random.bytes(200)]))),
  "truncated gzip": (random) => {
    const whole = gzipSync(Buffer.from('{"configuredLevel":"debug"}'));
    const broken = Buffer.from(whole.subarray(0, 1 + random.below(whole.length)));
    if (random.below(2) === 0) broken[random.below(broken.length)]! ^= 1 << random.below(8);
    return http1(random.pick([REST, GET, "/v1/traces"]), "application/json", broken, "Content-Encoding: gzip");
  },
};

/** Bodies that grow a thousandfold. They cost the attacker something as well, and so come less often. */
export const BOMB_INPUTS: Readonly<Record<string, (random: Random) => Input>> = {
  "a bomb over HTTP/1.1": (random) =>
    http1(
      random.pick([REST, GET, SET, "/v1/traces"]),
      random.pick(["application/json", "application/proto", "application/x-protobuf"]),
      random.pick(BOMBS),
      `Content-Encoding: ${random.pick(["gzip", "gzip, gzip", "br", "deflate"])}`,
    ),
  "a bomb in a frame over HTTP/2": (random) =>
    http2(
      random.pick(METHODS),
      random.pick(STREAM_TYPES),
      envelope(1, random.pick(BOMBS).subarray(0, 65_000), 65_000),
      {
        "grpc-encoding": "gzip",
        "connect-content-encoding": "gzip",
      },
    ),
  "a bomb in a frame over HTTP/1.1": (random) =>
    http1(
      random.pick(METHODS),
      random.pick(["application/grpc-web+proto", "application/connect+proto"]),
      envelope(1, random.pick(BOMBS)),
      "Grpc-Encoding: gzip",
      "Connect-Content-Encoding: gzip",
    ),
  "a body of ten megabytes": (random) =>
    http1(random.pick([REST, GET, "/v1/traces"]), "application/json", Buffer.alloc(10_000_000, 0x20)),
};

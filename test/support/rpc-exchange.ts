/** One RPC by hand, byte for byte: what clients cannot be made to send, and what they do not show of the answer. */
import { once } from "node:events";
import http from "node:http";
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import https from "node:https";
import type { Writable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { http2Connect } from "./server-harness.ts";
import { http2ConnectTls, testTrust } from "./server-tls.ts";

/** A content type, and how messages and the end of the call are written under it. */
export interface RpcFormat {
  readonly name: string;
  readonly type: string;
  readonly protocol: "gRPC" | "gRPC-Web" | "Connect" | "Connect stream";
  readonly json?: true;
  /** Whether bodies are base64. */
  readonly text?: true;
}

const GRPC: readonly RpcFormat[] = [
  { name: "gRPC", type: "application/grpc", protocol: "gRPC" },
  { name: "gRPC +proto", type: "application/grpc+proto", protocol: "gRPC" },
  { name: "gRPC JSON", type: "application/grpc+json", protocol: "gRPC", json: true },
  { name: "gRPC-Web", type: "application/grpc-web", protocol: "gRPC-Web" },
  { name: "gRPC-Web +proto", type: "application/grpc-web+proto", protocol: "gRPC-Web" },
  { name: "gRPC-Web JSON", type: "application/grpc-web+json", protocol: "gRPC-Web", json: true },
];

/** The formats of gRPC-Web in base64, which only the direct path answers. */
export const TEXT_FORMATS: readonly RpcFormat[] = [
  { name: "gRPC-Web text", type: "application/grpc-web-text", protocol: "gRPC-Web", text: true },
  { name: "gRPC-Web text +proto", type: "application/grpc-web-text+proto", protocol: "gRPC-Web", text: true },
];

/** The formats of calls with one message on either side, on both paths. */
export const UNARY_FORMATS: readonly RpcFormat[] = [
  ...GRPC,
  { name: "Connect", type: "application/proto", protocol: "Connect" },
  { name: "Connect JSON", type: "application/json", protocol: "Connect", json: true },
];

/** The formats of streams, on both paths. */
export const STREAM_FORMATS: readonly RpcFormat[] = [
  ...GRPC,
  { name: "Connect stream", type: "application/connect+proto", protocol: "Connect stream" },
  { name: "Connect JSON stream", type: "application/connect+json", protocol: "Connect stream", json: true },
];

/** A version of HTTP, with TLS if so. */
export const VERSIONS = ["HTTP/1.1", "HTTP/2"] as const;
export type HttpVersion = (typeof VERSIONS)[number];

/** Every format over every version, for `test.each`. gRPC over HTTP/1.1, which no client speaks, is answered all the same. */
export function overEach(formats: readonly RpcFormat[]) {
  return formats.flatMap((format) =>
    VERSIONS.map((version) => ({ format, version, over: `${format.name} over ${version}` })),
  );
}

/** The header that names the compression of messages. */
export function encodingHeader({ protocol }: RpcFormat): string {
  if (protocol === "Connect") return "content-encoding";
  return protocol === "Connect stream" ? "connect-content-encoding" : "grpc-encoding";
}

/** The header that names the compressions that an answer may have. */
export function acceptHeader({ protocol }: RpcFormat): string {
  if (protocol === "Connect") return "accept-encoding";
  return protocol === "Connect stream" ? "connect-accept-encoding" : "grpc-accept-encoding";
}

/** The headers of a request in a format. */
export function headersOf({ type, protocol }: RpcFormat): Record<string, string> {
  return { "content-type": type, ...(protocol === "gRPC" && { te: "trailers" }) };
}

/** A message in its envelope. */
export function envelope(message: Uint8Array, flags = 0, length = message.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

/** The body of a request with one message. */
export function bodyOf({ protocol, text }: RpcFormat, message: Uint8Array): Buffer {
  if (protocol === "Connect") return Buffer.from(message);
  const body = envelope(message);
  return text ? Buffer.from(body.toString("base64")) : body;
}

/** A message in the JSON or protobuf of a format. */
export function messageIn({ json }: RpcFormat, value: object, proto: Uint8Array): Buffer {
  return json ? Buffer.from(JSON.stringify(value)) : Buffer.from(proto);
}

/** What was heard of an answer. Several values of a header are one string. */
export interface Heard {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly trailers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** One request. */
export interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** Whether the body is sent byte by byte. */
  readonly isSlow?: boolean;
}

/** Sends one request to `url` on a connection of its own, and waits for the whole answer. */
export async function exchange(url: string, version: HttpVersion, sent: Sent): Promise<Heard> {
  if (version === "HTTP/1.1") return exchange1(url, sent);
  const session = await (url.startsWith("https") ? http2ConnectTls(url) : http2Connect(url));
  return exchange2(session, sent);
}

async function exchange1(url: string, { method = "POST", path, headers, body, isSlow }: Sent): Promise<Heard> {
  const options = { method, headers, agent: false as const };
  const req = url.startsWith("https")
    ? https.request(url + path, { ...options, ca: (await testTrust()).authority.ca })
    : http.request(url + path, options);
  if (isSlow) await writeSlowly(req, body);
  else req.end(body);
  const [res] = (await once(req, "response")) as [http.IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of res) chunks.push(chunk);
  return {
    status: res.statusCode!,
    headers: joined(res.headers),
    trailers: joined(res.trailers),
    body: Buffer.concat(chunks),
  };
}

/** Sends one request over a connection that there is. Rejects if the stream ends with an error. */
export async function exchange2(
  session: ClientHttp2Session,
  { method = "POST", path, headers, body, isSlow }: Sent,
): Promise<Heard> {
  const fields: OutgoingHttpHeaders = { ":method": method, ":path": path, ...headers };
  const stream = session.request(fields, { endStream: body === undefined });
  if (isSlow) void writeSlowly(stream, body);
  else if (body !== undefined) stream.end(body);
  return heardOn(stream);
}

/** The whole answer on a stream of HTTP/2. Rejects if the stream ends with an error. */
export async function heardOn(stream: ClientHttp2Stream): Promise<Heard> {
  let response: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  stream.on("response", (heard) => {
    response = heard;
  });
  stream.on("trailers", (heard) => {
    trailers = heard as IncomingHttpHeaders;
  });
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const { ":status": status, ...rest } = response;
  return {
    status: Number(status),
    headers: joined(rest),
    trailers: joined(trailers),
    body: Buffer.concat(chunks),
  };
}

/** Each byte in a turn of its own, so that it is sent alone. */
async function writeSlowly(to: Writable, body: Uint8Array = Buffer.alloc(0)): Promise<void> {
  for (const byte of body) {
    to.write(Buffer.of(byte));
    await turn();
  }
  to.end();
}

function joined(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")]));
}

/** How a call ended, whatever the protocol. */
export interface Outcome {
  /** As gRPC names it: `NOT_FOUND`; undefined if the answer has none. */
  readonly code: string | undefined;
  readonly message: string;
  /** The trailers, wherever the protocol has them, without those of the protocol. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The messages of the answer, decompressed. */
  readonly messages: readonly Buffer[];
}

const CODES =
  "OK CANCELED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(
    " ",
  );

/** Reads how a call ended. */
export function outcomeOf(format: RpcFormat, heard: Heard): Outcome {
  return READERS[format.protocol](heard, format);
}

const READERS: Readonly<Record<RpcFormat["protocol"], (heard: Heard, format: RpcFormat) => Outcome>> = {
  gRPC({ headers, trailers, body }) {
    const messages = framesOf(body).map((frame) => contentOf(frame, headers["grpc-encoding"]));
    return { ...statusOf("grpc-status" in headers ? headers : trailers), messages };
  },
  "gRPC-Web"({ headers, body }, { text }) {
    const frames = framesOf(text ? fromBase64(body.toString("latin1")) : body);
    const contents = frames.map((frame) => contentOf(frame, headers["grpc-encoding"]));
    const last = frames.at(-1);
    if (last === undefined || (last.flags & 0x80) === 0) return { ...statusOf(headers), messages: contents };
    return { ...statusOf(fieldsOf(contents.pop()!.toString())), messages: contents };
  },
  Connect({ status, headers, body }) {
    const content = decompressed(body, headers["content-encoding"]);
    const metadata = Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) =>
        name.startsWith("trailer-") ? [[name.slice("trailer-".length), value]] : [],
      ),
    );
    if (status === 200) return { code: "OK", message: "", metadata, messages: [content] };
    const { code, message = "" } = JSON.parse(content.toString());
    return { code: code?.toUpperCase(), message, metadata: { ...headers, ...metadata }, messages: [] };
  },
  "Connect stream"({ headers, body }) {
    const contents = framesOf(body).map((frame) => contentOf(frame, headers["connect-content-encoding"]));
    const { error, metadata = {} } = JSON.parse(contents.pop()!.toString());
    return {
      code: error === undefined ? "OK" : error.code.toUpperCase(),
      message: error?.message ?? "",
      metadata: joined(metadata),
      messages: contents,
    };
  },
};

interface Frame {
  readonly flags: number;
  readonly data: Buffer;
}

/** Takes envelopes apart. @throws RangeError if the last one is not whole */
export function framesOf(body: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at < body.length; ) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    if (end > body.length) throw new RangeError(`an envelope of ${end - at} bytes has ${body.length - at}`);
    frames.push({ flags: body.readUInt8(at), data: body.subarray(at + 5, end) });
    at = end;
  }
  return frames;
}

function contentOf({ flags, data }: Frame, encoding: string | undefined): Buffer {
  return (flags & 1) === 0 ? data : decompressed(data, encoding);
}

function decompressed(data: Buffer, encoding: string | undefined): Buffer {
  if (encoding === "gzip") return gunzipSync(data);
  return encoding === "br" ? brotliDecompressSync(data) : data;
}

/** Base64 in several pieces, each padded. */
export function fromBase64(text: string): Buffer {
  return Buffer.concat([...text.matchAll(/[^=]+=*/g)].map(([piece]) => Buffer.from(piece, "base64")));
}

function fieldsOf(block: string): Record<string, string> {
  const lines = block.split("\r\n").filter((line) => line !== "");
  const fields: Record<string, string> = {};
  for (const line of lines) {
    const [, name, value] = /^([^:]+): ?(.*)$/.exec(line)!;
    fields[name!] = name! in fields ? `${fields[name!]}, ${value}` : value!;
  }
  return fields;
}

function statusOf(fields: Readonly<Record<string, string>>) {
  const { "grpc-status": status, "grpc-message": message = "", ...metadata } = fields;
  return { code: CODES[Number(status)], message: decodeURIComponent(message), metadata };
}

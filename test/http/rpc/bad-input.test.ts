import type { ClientHttp2Session, IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import { gzipSync } from "node:zlib";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { ServerReflection } from "../../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { serveRpc, transportOver, WIRES } from "../../support/rpc-harness.ts";
import { http1Request, http2Connect } from "../../support/server-harness.ts";

const UNARY = `/${LoggersService.typeName}/GetLogger`;
const STREAM = `/${LoggersService.typeName}/WatchLoggers`;

/** A way to send a message: its content type, whether it is JSON, whether it has an envelope, and where the code of the answer is. */
interface Protocol {
  readonly name: string;
  readonly type: string;
  readonly path: string;
  readonly json?: true;
  readonly enveloped?: true;
  readonly encoding: string;
  readonly versions: readonly ("1.1" | "2")[];
}

const BOTH = ["1.1", "2"] as const;
const PROTOCOLS: readonly Protocol[] = [
  { name: "gRPC", type: "application/grpc", path: UNARY, enveloped: true, encoding: "grpc-encoding", versions: ["2"] },
  {
    name: "gRPC stream",
    type: "application/grpc+proto",
    path: STREAM,
    enveloped: true,
    encoding: "grpc-encoding",
    versions: ["2"],
  },
  {
    name: "gRPC JSON",
    type: "application/grpc+json",
    path: UNARY,
    json: true,
    enveloped: true,
    encoding: "grpc-encoding",
    versions: ["2"],
  },
  {
    name: "gRPC-Web",
    type: "application/grpc-web",
    path: UNARY,
    enveloped: true,
    encoding: "grpc-encoding",
    versions: BOTH,
  },
  {
    name: "gRPC-Web stream",
    type: "application/grpc-web+proto",
    path: STREAM,
    enveloped: true,
    encoding: "grpc-encoding",
    versions: BOTH,
  },
  { name: "Connect", type: "application/proto", path: UNARY, encoding: "content-encoding", versions: BOTH },
  {
    name: "Connect JSON",
    type: "application/json",
    path: UNARY,
    json: true,
    encoding: "content-encoding",
    versions: BOTH,
  },
  {
    name: "Connect stream",
    type: "application/connect+proto",
    path: STREAM,
    enveloped: true,
    encoding: "connect-content-encoding",
    versions: BOTH,
  },
  {
    name: "Connect JSON stream",
    type: "application/connect+json",
    path: STREAM,
    json: true,
    enveloped: true,
    encoding: "connect-content-encoding",
    versions: BOTH,
  },
];

interface Input {
  readonly proto: Uint8Array;
  readonly json: Uint8Array;
  readonly code: "INTERNAL" | "INVALID_ARGUMENT" | "RESOURCE_EXHAUSTED" | "UNIMPLEMENTED";
  readonly encoding?: string;
  readonly flags?: number;
  /** Replaces the length in the envelope; the input is only for protocols with one. */
  readonly length?: number;
}

const text = (value: string) => Buffer.from(value);
const INPUTS: Readonly<Record<string, Input>> = {
  "a wire type that does not exist": { proto: Buffer.of(0x0f), json: text("{"), code: "INVALID_ARGUMENT" },
  "a string cut short": { proto: Buffer.of(0x0a, 0x7f, 0x61), json: text('{"name":"a'), code: "INVALID_ARGUMENT" },
  "a varint without end": {
    proto: Buffer.alloc(11, 0xff),
    json: text('{"name":1,"namePrefix":1}'),
    code: "INVALID_ARGUMENT",
  },
  "groups nested without end": { proto: Buffer.alloc(50_000, 0x0b), json: text("[1]"), code: "INVALID_ARGUMENT" },
  "a string that is not UTF-8": {
    proto: Buffer.of(0x0a, 1, 0xff),
    json: Buffer.concat([text('{"name":"'), Buffer.of(0xff), text('"}')]),
    code: "INVALID_ARGUMENT",
  },
  "gzip cut short": {
    proto: gzipSync(text("\n\u0004ROOT")).subarray(0, 12),
    json: gzipSync(text('{"name":"ROOT"}')).subarray(0, 12),
    encoding: "gzip",
    flags: 1,
    code: "INVALID_ARGUMENT",
  },
  "brotli that is none": { proto: text("!!"), json: text("!!"), encoding: "br", flags: 1, code: "INVALID_ARGUMENT" },
  "an unknown compression": { proto: text("!!"), json: text("!!"), encoding: "zip", flags: 1, code: "UNIMPLEMENTED" },
  "a compressed message without its compression": {
    proto: text("!!"),
    json: text("!!"),
    flags: 1,
    length: 2,
    // As the protocol of gRPC demands.
    code: "INTERNAL",
  },
  "an envelope cut short": { proto: Buffer.of(0x0a), json: text("{"), length: 9, code: "INVALID_ARGUMENT" },
  "a message over the limit": {
    proto: Buffer.alloc(66_000),
    json: Buffer.alloc(66_000, " "),
    code: "RESOURCE_EXHAUSTED",
  },
  "a bomb of gzip": {
    proto: gzipSync(Buffer.alloc(1_000_000)),
    json: gzipSync(Buffer.alloc(1_000_000, " ")),
    encoding: "gzip",
    flags: 1,
    code: "RESOURCE_EXHAUSTED",
  },
};

const CASES = Object.entries(INPUTS)
  .flatMap(([what, input]) =>
    PROTOCOLS.flatMap((protocol) =>
      protocol.versions.map((version) => ({
        what,
        input,
        protocol,
        version,
        over: `${protocol.name} over HTTP/${version}`,
      })),
    ),
  )
  .filter(({ input, protocol }) => input.length === undefined || protocol.enveloped);

const STATUSES = { INTERNAL: 500, INVALID_ARGUMENT: 400, RESOURCE_EXHAUSTED: 429, UNIMPLEMENTED: 501 } as const;

describe("whatever the client sends, the answer names what is wrong", () => {
  test.each(CASES)("$what: $over", async ({ input, protocol, version }) => {
    const { url, errors } = await serveRpc({ loggers: new Loggers() });
    const body = bodyOf(protocol, input);
    const headers = {
      "content-type": protocol.type,
      ...(input.encoding !== undefined && { [protocol.encoding]: input.encoding }),
      ...(protocol.type.startsWith("application/grpc") && { te: "trailers" }),
    };
    const answer =
      version === "2" ? await over2(url, protocol.path, headers, body) : await over1(url, protocol.path, headers, body);
    expect(codeOf(protocol, answer)).toBe(input.code);
    if (!protocol.enveloped) expect(answer.status).toBe(STATUSES[input.code]);
    expect(errors).toEqual([]);
  });

  test.each(BOTH)("gRPC-Web in base64 with JSON, which is not served, is 415 over HTTP/%s", async (version) => {
    const { url } = await serveRpc({ loggers: new Loggers() });
    const headers = { "content-type": "application/grpc-web-text+json" };
    const over = version === "2" ? over2 : over1;
    expect((await over(url, UNARY, headers, text("AAAAAAA="))).status).toBe(415);
  });

  test("a message of a conversation that cannot be decoded is INVALID_ARGUMENT", async () => {
    const { url } = await serveRpc();
    const body = bodyOf(PROTOCOLS[0]!, INPUTS["a string cut short"]!);
    const path = `/${ServerReflection.typeName}/ServerReflectionInfo`;
    const answer = await over2(url, path, { "content-type": "application/grpc", te: "trailers" }, body);
    expect(codeOf(PROTOCOLS[0]!, answer)).toBe("INVALID_ARGUMENT");
  });

  test.each(WIRES)("120 messages over the limit at the same time: $protocol over HTTP/$httpVersion", async (wire) => {
    const { url } = await serveRpc({ loggers: new Loggers() });
    const client = createClient(LoggersService, transportOver(wire, url));
    const call = () => client.getLogger({ name: "x".repeat(66_000) }).then(() => "OK", codeOfFailure);
    const answers = await Promise.all(Array.from({ length: 120 }, call));
    expect(new Set(answers)).toEqual(new Set(["ResourceExhausted"]));
  });

  test.each(WIRES)(
    "120 messages of a megabyte, one after the other: $protocol over HTTP/$httpVersion",
    async (wire) => {
      const { url } = await serveRpc({ loggers: new Loggers() });
      const client = createClient(LoggersService, transportOver(wire, url));
      for (let count = 0; count < 120; count++) {
        const answer = await client.getLogger({ name: "x".repeat(1_000_000) }).then(() => "OK", codeOfFailure);
        expect(answer, `call ${count}`).toBe("ResourceExhausted");
      }
    },
  );
});

function codeOfFailure(error: unknown): string {
  return Code[ConnectError.from(error).code];
}

const ENVELOPE_BYTES = 5;

function bodyOf({ enveloped, json }: Protocol, input: Input): Buffer {
  const data = json ? input.json : input.proto;
  if (!enveloped) return Buffer.from(data);
  const head = Buffer.alloc(ENVELOPE_BYTES);
  head.writeUInt8(input.flags ?? 0);
  head.writeUInt32BE(input.length ?? data.length, 1);
  return Buffer.concat([head, data]);
}

interface Heard {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: string;
}

async function over1(url: string, path: string, headers: OutgoingHttpHeaders, body: Buffer): Promise<Heard> {
  const answer = await http1Request(url + path, { method: "POST", headers, body });
  return { ...answer, headers: answer.headers as IncomingHttpHeaders, trailers: {} };
}

async function over2(url: string, path: string, headers: OutgoingHttpHeaders, body: Buffer): Promise<Heard> {
  const session: ClientHttp2Session = await http2Connect(url);
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    let received: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    let answered = "";
    stream.setEncoding("utf8");
    stream.on("response", (answer) => {
      received = answer;
    });
    stream.on("trailers", (answer) => {
      trailers = answer as IncomingHttpHeaders;
    });
    stream.on("data", (data: string) => {
      answered += data;
    });
    stream.on("error", reject);
    stream.on("end", () =>
      resolve({ status: Number(received[":status"]), headers: received, trailers, body: answered }),
    );
    stream.end(body);
  });
}

const GRPC_CODES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(Code).flatMap(([name, code]) =>
    typeof code === "number" ? [[code, name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase()]] : [],
  ),
);

/** The code of an answer, which each protocol has elsewhere. */
function codeOf({ type, enveloped }: Protocol, { headers, trailers, body }: Heard): string | undefined {
  if (type.startsWith("application/grpc-web"))
    return GRPC_CODES[/grpc-status: ?(\d+)/i.exec(body)?.[1] ?? String(headers["grpc-status"])];
  if (type.startsWith("application/grpc")) return GRPC_CODES[String(trailers["grpc-status"] ?? headers["grpc-status"])];
  const json = JSON.parse(enveloped ? body.slice(ENVELOPE_BYTES) : body);
  return (json.code ?? json.error?.code)?.toUpperCase();
}

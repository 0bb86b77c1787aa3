import type { DescMethod } from "@bufbuild/protobuf";
import { endStreamFlag } from "@connectrpc/connect/protocol-connect";
import { trailerFlag } from "@connectrpc/connect/protocol-grpc-web";
import type { CallProtocol } from "../../../operations/calls/call-record.ts";

/** How a protocol writes calls, as the content type of a request says. */
export interface Format {
  readonly protocol: Extract<CallProtocol, "connect" | "grpc" | "grpc-web">;
  /** Whether messages are protobuf, and not JSON. */
  readonly isBinary: boolean;
  /** Whether everything is in base64, as gRPC-Web allows. */
  readonly isText: boolean;
  /** Whether messages stand in envelopes, as everywhere but in unary calls of Connect. */
  readonly isEnveloped: boolean;
  /** The content type of the answer. */
  readonly contentType: string;
  /** The names of the headers that say how messages are compressed, and may be. */
  readonly encodingHeader: string;
  readonly acceptHeader: string;
  /** The flag of an envelope that has no message. */
  readonly endFlag: number;
}

type MethodKind = DescMethod["methodKind"];

const GRPC = { isEnveloped: true, encodingHeader: "grpc-encoding", acceptHeader: "grpc-accept-encoding" } as const;
const JSON_TYPES = (type: string) => [type, `${type};charset=utf-8`, `${type}; charset=utf-8`];

function grpc(protocol: "grpc" | "grpc-web", isBinary: boolean, base = `application/${protocol}`): Format {
  const isText = base.endsWith("-text");
  const endFlag = protocol === "grpc-web" ? trailerFlag : 0;
  return { ...GRPC, protocol, isBinary, isText, contentType: `${base}+${isBinary ? "proto" : "json"}`, endFlag };
}

function connect(isBinary: boolean, isEnveloped: boolean): Format {
  const of = isEnveloped ? "connect-" : "";
  return {
    protocol: "connect",
    isBinary,
    isText: false,
    isEnveloped,
    contentType: `application/${isEnveloped ? "connect+" : ""}${isBinary ? "proto" : "json"}`,
    encodingHeader: `${of}content-encoding`,
    acceptHeader: `${of}accept-encoding`,
    endFlag: isEnveloped ? endStreamFlag : 0,
  };
}

const GRPC_WEB_TEXT = "application/grpc-web-text";

/** What unary and streaming calls share. */
const ENVELOPED: readonly (readonly [readonly string[], Format])[] = [
  [["application/grpc", "application/grpc+proto"], grpc("grpc", true)],
  [JSON_TYPES("application/grpc+json"), grpc("grpc", false)],
  [["application/grpc-web", "application/grpc-web+proto"], grpc("grpc-web", true)],
  [JSON_TYPES("application/grpc-web+json"), grpc("grpc-web", false)],
  [[GRPC_WEB_TEXT, `${GRPC_WEB_TEXT}+proto`], grpc("grpc-web", true, GRPC_WEB_TEXT)],
];

const CONNECT_PROTO = connect(true, false);
const CONNECT_JSON = connect(false, false);

/** Exact content types only: what is rarer, connect answers. */
const FORMATS: Partial<Record<MethodKind, ReadonlyMap<string, Format>>> = {
  unary: table([...ENVELOPED, [["application/proto"], CONNECT_PROTO], [JSON_TYPES("application/json"), CONNECT_JSON]]),
  server_streaming: table([
    ...ENVELOPED,
    [["application/connect+proto"], connect(true, true)],
    [JSON_TYPES("application/connect+json"), connect(false, true)],
  ]),
};

function table(rows: readonly (readonly [readonly string[], Format])[]): ReadonlyMap<string, Format> {
  return new Map(rows.flatMap(([types, format]) => types.map((type) => [type, format] as const)));
}

/** The format of a POST with this content type; undefined if the direct path does not serve it. */
export function formatOf(kind: MethodKind, contentType: string | undefined): Format | undefined {
  return FORMATS[kind]?.get(contentType ?? "");
}

/** By the parameter `encoding` of a GET. */
const GET_FORMATS: ReadonlyMap<string | null, Format> = new Map([
  ["proto", CONNECT_PROTO],
  ["json", CONNECT_JSON],
]);

/** The format of a GET of Connect; undefined if there is none. */
export function formatOfQuery(query: URLSearchParams): Format | undefined {
  return GET_FORMATS.get(query.get("encoding"));
}

import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Http2ServerRequest, ServerHttp2Stream } from "node:http2";
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import {
  createAsyncIterable,
  encodeEnvelope,
  type UniversalHandler,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import {
  contentTypeUnaryJson,
  createEndStreamSerialization,
  endStreamFlag,
  errorToJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { CallCode, CallProtocol } from "../../operations/calls/call-record.ts";
import type { Gate } from "../gate/gate.ts";
import type { GateRequest, GateResponse } from "../gate/request.ts";
import type { RequestContext } from "../gate/request-context.ts";
import { admittedSignal } from "./call-context.ts";
import { brotli, compressOnce, gzip } from "./compression.ts";
import { DirectCalls, type ServiceOptions } from "./direct/direct-calls.ts";
import { MessageWire } from "./direct/message-wire.ts";
import { StreamWire } from "./direct/stream-wire.ts";
import { callCodeOf } from "./error.ts";
import { rpcInterceptor } from "./interceptor.ts";
import { discardRest, discardRestNow, isGone, readRest, universalRequest } from "./node-request.ts";
import type { OpenStreams } from "./open-streams.ts";
import { gateOfConnect, type RequestGate } from "./request-gate.ts";

/** What calls of all services share. */
export interface CallOptions {
  readonly gate: Gate;
  /** Called before the message of a call is read. */
  readonly requestGate: RequestGate;
  readonly streams: OpenStreams;
  readonly onError: (error: unknown, context: string) => void;
  /** How long a request may take to arrive at a mounted handler, in milliseconds. Default 0: no limit. */
  readonly bodyTimeoutMs?: number;
  /** The maximum size of a request message in bytes, decompressed. */
  readonly readMaxBytes: number;
  /** The maximum size of a response message in bytes, decompressed. */
  readonly writeMaxBytes: number;
}

/** Refuses JSON that is not UTF-8, instead of replacing what is not by U+FFFD. */
const JSON_OPTIONS = { ignoreUnknownFields: true, textDecoder: new TextDecoder("utf-8", { fatal: true }) };

/** The services that are served: by connect, and the calls of every day on the direct path. */
export class CallRouter {
  readonly #options: CallOptions;
  readonly #connect: ConnectRouter;
  readonly #direct: DirectCalls;

  constructor(options: CallOptions) {
    const { gate, requestGate, streams, onError, readMaxBytes, writeMaxBytes } = options;
    const compressions = [compressOnce(gzip), compressOnce(brotli)];
    this.#options = options;
    this.#direct = new DirectCalls(options, compressions);
    this.#connect = createConnectRouter({
      readMaxBytes,
      writeMaxBytes,
      acceptCompression: compressions,
      jsonOptions: JSON_OPTIONS,
      requestGate: gateOfConnect(requestGate),
      interceptors: [rpcInterceptor(streams, onError, gate)],
    });
  }

  /** Adds a service. */
  service<S extends DescService>(service: S, methods: Partial<ServiceImpl<S>>, own: ServiceOptions = {}): void {
    const { jsonOptions, requestGate, ...options } = own;
    const json = { ...JSON_OPTIONS, ...jsonOptions };
    this.#direct.add(service, methods, { ...own, jsonOptions: json });
    this.#connect.service(service, methods, {
      ...options,
      jsonOptions: json,
      ...(requestGate && { requestGate: gateOfConnect(requestGate) }),
    });
  }

  /** Makes functions that answer requests as calls of the services added so far. */
  answering(): Answering {
    const { gate, onError, bodyTimeoutMs = 0 } = this.#options;
    const byPath = new Map(this.#connect.handlers.map((handler) => [handler.requestPath, handler]));
    const direct = this.#direct;
    return {
      message(req, res, url) {
        const isRead = (req as { readonly body?: unknown }).body !== undefined;
        if (!isRead && direct.answer(url, () => new MessageWire(req, res, url))) return;
        discardRest(req, res);
        const handler = byPath.get(url.split("?", 1)[0]!);
        const context = gate.begin(req, res, protocolOf(req.headers["content-type"]));
        if (handler === undefined) {
          context.end("UNIMPLEMENTED");
          answerUnknownMethod(req, res);
        } else if (!gate.answerPreflight(context, res)) {
          context.operation = `${handler.service.typeName}/${handler.method.name}`;
          let request: UniversalServerRequest;
          try {
            request = universalRequest(req, res, url, context, bodyTimeoutMs);
          } catch {
            return refuseHeaders(res, context);
          }
          exchange(handler, request, req, res, context, onError);
        }
      },
      stream: (stream, headers, rawHeaders, url) =>
        direct.answer(url, () => new StreamWire(stream, headers, rawHeaders, url)),
    };
  }
}

/** Answers requests as calls. The URL is that at the root. */
export interface Answering {
  /** Answers any request. */
  message(req: GateRequest, res: GateResponse, url: string): void;
  /** Answers a stream of HTTP/2 that the direct path serves; returns false for any other, without an effect. */
  stream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[], url: string): boolean;
}

/** By the content type of a request. A GET of Connect has none. */
const PROTOCOLS: readonly (readonly [RegExp, CallProtocol])[] = [
  [/^application\/grpc-web\b/i, "grpc-web"],
  [/^application\/grpc\b/i, "grpc"],
];

function protocolOf(contentType = ""): CallProtocol {
  return PROTOCOLS.find(([pattern]) => pattern.test(contentType))?.[1] ?? "connect";
}

/**
 * Answers one request with a handler of connect. Unlike connect-node's own adapter, it reports failures to `onError` instead of the
 * console.
 */
function exchange(
  handler: UniversalHandler,
  request: UniversalServerRequest,
  req: GateRequest,
  res: GateResponse,
  context: RequestContext,
  onError: (error: unknown, context: string) => void,
): void {
  handler(request)
    .then((answer) => {
      const response = isUnreadableGet(request, answer, context) ? unreadableGet() : answer;
      if (!context.entered) context.end(earlyEnd(request, response));
      // RFC 9110 section 15.5.6 requires the header, which connect omits.
      if (response.status === 405) res.setHeader("allow", handler.allowedMethods.join(", "));
      // nginx passes everything but gRPC on like pages, and would buffer the first kilobytes of a watch.
      if (handler.method.methodKind !== "unary" && context.protocol !== "grpc")
        res.setHeader("x-accel-buffering", "no");
      if (!isEarly(req, handler)) return universalResponseToNodeResponse(response, res);
      return readRest(req).then(() => universalResponseToNodeResponse(response, res));
    })
    .catch((error: unknown) => {
      context.end(isGone(req) ? "CANCELLED" : "INTERNAL");
      // connect-node turns a write after the client's end into Aborted.
      if (isGone(req) || ConnectError.from(error).code === Code.Aborted) return;
      onError(error, `rpc ${handler.service.typeName}/${handler.method.name}`);
      if (res.headersSent) res.destroy();
      else {
        res.statusCode = 500;
        res.end();
      }
    });
}

/** Answers a missing or invalid Host or :authority, or a header that the Fetch API rejects; uncaught, these would end the process. */
function refuseHeaders(res: GateResponse, context: RequestContext): void {
  context.end("INVALID_ARGUMENT");
  res.statusCode = 400;
  res.setHeader("content-type", "text/plain; charset=utf-8");
  res.end("The request has no valid Host, or a URL or a header that is not valid.\n");
}

/**
 * Whether the answer to an HTTP/2 request of a single message is known before the request has ended. A client with an expectation sends
 * the body only when it is asked for it.
 */
function isEarly(req: GateRequest, { method }: UniversalHandler): req is Http2ServerRequest {
  const isAwaited = req.method === "POST" && req.headers.expect === undefined && method.methodKind !== "bidi_streaming";
  return "stream" in req && !req.readableEnded && isAwaited;
}

/**
 * Whether connect failed to decode the message of an admitted Connect GET. It then answers `internal`, 500, though the fault is in the URL.
 *
 * @see https://connectrpc.com/docs/protocol#unary-get-request
 */
function isUnreadableGet(
  request: UniversalServerRequest,
  { status }: UniversalServerResponse,
  context: RequestContext,
) {
  return request.method === "GET" && status === 500 && !context.entered && admittedSignal(request.contextValues);
}

function unreadableGet(): UniversalServerResponse {
  const error = new ConnectError("The parameter message is not valid base64 or protobuf.", Code.InvalidArgument);
  return {
    status: 400,
    header: new Headers({ "content-type": contentTypeUnaryJson }),
    body: createAsyncIterable([errorToJsonBytes(error, undefined)]),
  };
}

/**
 * How a call ended that did not reach its method, because connect answered it: the message was too large, malformed, compressed in an
 * unknown way, late or incomplete. A request that is not a call, by its content type or HTTP method, is INVALID_ARGUMENT.
 */
function earlyEnd({ contextValues }: UniversalServerRequest, { status }: UniversalServerResponse): CallCode {
  const signal = admittedSignal(contextValues);
  if (!signal?.aborted || status === 400) return "INVALID_ARGUMENT";
  // In every protocol connect aborts the signal with the error that it answers; other errors are answered as INTERNAL.
  return signal.reason instanceof ConnectError ? callCodeOf(signal.reason) : "INTERNAL";
}

/**
 * Answers a call of an unknown method with UNIMPLEMENTED, in the caller's protocol. Over Connect that is 404 and not 501, and has no
 * details, as the conformance suite requires.
 */
function answerUnknownMethod(req: GateRequest, res: GateResponse): void {
  const contentType = req.headers["content-type"] ?? "";
  const [, answer] = UNKNOWN_METHOD.find(([pattern]) => pattern.test(contentType))!;
  const { status, header, body } = answer(contentType);
  res.statusCode = status;
  header.forEach((value, name) => {
    res.setHeader(name, value);
  });
  // Without writeHead: only then does Node.js set END_STREAM on the header frame, as Trailers-Only of gRPC requires.
  if (body !== undefined) {
    (res as ServerResponse).end(body);
  } else {
    res.end();
    discardRestNow(req);
  }
}

interface UnknownMethodAnswer {
  readonly status: number;
  readonly header: Headers;
  readonly body?: Uint8Array;
}

/** By the content type of the request; the last row matches any. */
const UNKNOWN_METHOD: readonly (readonly [RegExp, (contentType: string) => UnknownMethodAnswer])[] = [
  [/^application\/grpc\b/, grpcAnswer],
  [/^application\/connect\+/, connectStreamAnswer],
  [/(?:)/, connectUnaryAnswer],
];

function unknownMethod(): ConnectError {
  return new ConnectError("There is no such method.", Code.Unimplemented);
}

function grpcAnswer(contentType: string): UnknownMethodAnswer {
  const header = new Headers({ "content-type": contentType });
  setTrailerStatus(header, unknownMethod());
  return { status: 200, header };
}

function connectStreamAnswer(contentType: string): UnknownMethodAnswer {
  const end = createEndStreamSerialization(undefined).serialize({ metadata: new Headers(), error: unknownMethod() });
  return {
    status: 200,
    header: new Headers({ "content-type": contentType }),
    body: encodeEnvelope(endStreamFlag, end),
  };
}

function connectUnaryAnswer(): UnknownMethodAnswer {
  return {
    status: 404,
    header: new Headers({ "content-type": contentTypeUnaryJson }),
    body: errorToJsonBytes(unknownMethod(), undefined),
  };
}

import type { ServerResponse } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createConnectRouter } from "@connectrpc/connect";
import {
  type Compression,
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
import type { CallCode, CallProtocol } from "../../../operations/calls/call-record.ts";
import type { GateRequest, GateResponse } from "../../gate/request.ts";
import type { RequestContext } from "../../gate/request-context.ts";
import { admittedSignal } from "../calls/call-context.ts";
import type { CallOptions, ServiceOptions } from "../calls/call-options.ts";
import { callCodeOf } from "../calls/error.ts";
import { discardRest, discardRestNow, isGone, readRest } from "../calls/node-request.ts";
import { gateOfConnect } from "../calls/request-gate.ts";
import { rpcInterceptor } from "./interceptor.ts";
import { universalRequest } from "./universal-request.ts";

/** The calls that connect answers: every method, in every format that there is, and what is no valid call. */
export class ConnectCalls {
  readonly #options: CallOptions;
  readonly #router: ConnectRouter;
  readonly #handlers = new Map<string, UniversalHandler>();

  constructor(options: CallOptions, compressions: Compression[]) {
    const { requestGate, streams, onError, gate, readMaxBytes, writeMaxBytes } = options;
    this.#options = options;
    this.#router = createConnectRouter({
      readMaxBytes,
      writeMaxBytes,
      acceptCompression: compressions,
      requestGate: gateOfConnect(requestGate),
      interceptors: [rpcInterceptor(streams, onError, gate)],
    });
  }

  /** Adds the methods of a service. */
  add(service: DescService, methods: object, { requestGate, ...options }: ServiceOptions): void {
    const own = requestGate && { requestGate: gateOfConnect(requestGate) };
    this.#router.service(service, methods, { ...options, ...own });
    for (const handler of this.#router.handlers) this.#handlers.set(handler.requestPath, handler);
  }

  /** Answers any request; `url` is its URL as at the root. */
  answer(req: GateRequest, res: GateResponse, url: string): void {
    const { gate, onError, bodyTimeoutMs = 0 } = this.#options;
    discardRest(req, res);
    const handler = this.#handlers.get(url.split("?", 1)[0]!);
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
        refuseHeaders(res, context);
        return;
      }
      exchange(handler, request, req, res, context, onError);
    }
  }
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
      context.end(isGone(req, res) ? "CANCELLED" : "INTERNAL");
      // connect-node turns a write after the client's end into Aborted.
      if (isGone(req, res) || ConnectError.from(error).code === Code.Aborted) return;
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

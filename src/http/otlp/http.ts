import type { ServerResponse } from "node:http";
import type { ExportTraceServiceRequest } from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import type { Gate } from "../gate/gate.ts";
import type { GateRequest, GateResponse } from "../gate/request.ts";
import type { RequestContext } from "../gate/request-context.ts";
import { readBody } from "./body.ts";
import { type Encoding, encodingOf, JSON_ENCODING, PROTOBUF } from "./encoding.ts";
import { callCodeOf, codeOf, OtlpProblem, problemOf } from "./problem.ts";
import type { OtlpReceiver } from "./receiver.ts";

/**
 * Answers a request if its path is that of traces. Otherwise returns false: the request is somebody else's to answer. Never
 * throws.
 */
export type OtlpHandler = (request: GateRequest, response: GateResponse) => boolean;

/** Where exporters send traces, says the protocol. */
const PATH = "/v1/traces";
const RETRY = { "Retry-After": "1" };

/**
 * OTLP over HTTP: `POST /v1/traces`, in protobuf and in JSON. Errors are a `google.rpc.Status` in the encoding of the request.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#otlphttp
 */
export function otlpHandler(
  receiver: OtlpReceiver,
  onError: (error: unknown, context: string) => void,
  gate: Gate,
): OtlpHandler {
  async function answer(context: RequestContext, encoding: Encoding | undefined): Promise<Uint8Array> {
    const { request } = context;
    gate.enter(context);
    if (request.method !== "POST") throw new OtlpProblem(405, "Traces are sent by POST.", { Allow: "POST" });
    context.operation = `POST ${PATH}`;
    await gate.admit(context, ["graph:write"]);
    if (encoding === undefined) {
      const accepted = `${PROTOBUF.contentType}, ${JSON_ENCODING.contentType}`;
      throw new OtlpProblem(415, `The body must be one of the types ${accepted}.`, { Accept: accepted });
    }
    if (!receiver.isOpen) {
      throw new OtlpProblem(429, "More spans come than are taken (option otlp.maxSpansPerSecond).", RETRY);
    }
    const leave = receiver.places.take();
    if (leave === undefined) throw new OtlpProblem(429, "Too many requests at a time.", RETRY);
    try {
      const body = await readBody(request, receiver.settings.maxRequestBytes);
      const { rejectedSpans, errorMessage } = receiver.take(requestOf(encoding, body, receiver));
      if (rejectedSpans === 0) return encoding.response({});
      return encoding.response({ partialSuccess: { rejectedSpans: BigInt(rejectedSpans), errorMessage } });
    } finally {
      leave();
    }
  }

  return (request, response) => {
    const { originalUrl } = request as { readonly originalUrl?: string };
    const path = (originalUrl ?? request.url ?? "").split("?", 1)[0];
    if (path !== PATH) return false;
    const context = gate.begin(request, response, "otlp");
    context.route = PATH;
    if (gate.answerPreflight(context, response)) return true;
    const encoding = encodingOf(request.headers["content-type"]);
    answer(context, encoding).then(
      (body) => {
        send(response, 200, encoding!.contentType, body);
        context.end("OK");
      },
      (error: unknown) => {
        context.failed(error);
        const problem = problemOf(error, gate.challenge);
        if (problem.status === 500) onError(error, `POST ${PATH}`);
        const { contentType, status } = encoding ?? JSON_ENCODING;
        const body = status({ code: codeOf(problem.status), message: problem.message });
        send(response, problem.status, contentType, body, problem.headers);
        context.end(callCodeOf(problem.status));
        request.resume();
      },
    );
    return true;
  };
}

function requestOf(encoding: Encoding, body: Uint8Array, receiver: OtlpReceiver): ExportTraceServiceRequest {
  try {
    return encoding.request(body);
  } catch {
    receiver.failed(body.length);
    throw new OtlpProblem(400, `The body is not an ExportTraceServiceRequest in ${encoding.contentType}.`);
  }
}

function send(
  response: GateResponse,
  status: number,
  contentType: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  // Both versions of HTTP answer to these two calls; only their types do not say so together.
  const sender = response as ServerResponse;
  sender.writeHead(status, { "Content-Type": contentType, "Content-Length": body.length, ...headers });
  sender.end(body);
}

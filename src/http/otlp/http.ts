import type { ServerResponse } from "node:http";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { ExportTraceServiceRequest } from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import type { Gate } from "../gate/gate.ts";
import type { GateRequest, GateResponse } from "../gate/request.ts";
import type { RequestContext } from "../gate/request-context.ts";
import type { Encoding } from "./encoding.ts";
import { callCodeOf, codeOf, OtlpProblem, problemOf } from "./problem.ts";
import type { OtlpReceiver } from "./receiver.ts";

/** Milliseconds that a body may take. */
const DEADLINE_MS = 10_000;

/** Reads a body and decompresses it; neither form may be longer than `maxBytes`. */
async function readBody(request: GateRequest, maxBytes: number): Promise<Uint8Array> {
  const coding = request.headers["content-encoding"]?.toString().toLowerCase() ?? "identity";
  if (coding !== "identity" && coding !== "gzip") {
    throw new OtlpProblem(415, "The body may be compressed by gzip only.", { "Accept-Encoding": "gzip" });
  }
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const body = request.readableEnded ? bodyReadBefore(request) : await readBytes(request, maxBytes);
  if (body.length > maxBytes) throw tooLarge(maxBytes);
  return coding === "gzip" && body.length > 0 ? inflated(body, maxBytes) : body;
}

const inflate = promisify(gunzip);

async function inflated(body: Uint8Array, maxOutputLength: number): Promise<Uint8Array> {
  try {
    return await inflate(body, { maxOutputLength });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxOutputLength);
    throw new OtlpProblem(400, "The body is not valid gzip.");
  }
}

function readBytes(request: GateRequest, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onLate = () => settle(new OtlpProblem(408, "The body did not arrive in time."));
    const timer = setTimeout(onLate, DEADLINE_MS).unref();
    const settle = (problem: OtlpProblem | undefined) => {
      clearTimeout(timer);
      // The rest is read and dropped: a sender that is busy writing would not see an answer otherwise.
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      if (problem === undefined) resolve(Buffer.concat(chunks, size));
      else reject(problem);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else settle(tooLarge(maxBytes));
    };
    // No client is left to read it: 499 records that it went away.
    const onGone = () => settle(new OtlpProblem(499, "The body is not complete."));
    // Over HTTP/2 a stream that is reset without an error ends like a complete body.
    const onEnd = () => (request.aborted ? onGone() : settle(undefined));
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

/** The body, if a middleware of the application has read it already. */
function bodyReadBefore({ body }: GateRequest & { body?: unknown }): Uint8Array {
  if (body instanceof Uint8Array) return body;
  if (typeof body === "string") return Buffer.from(body);
  return body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
}

function tooLarge(maxBytes: number): OtlpProblem {
  return new OtlpProblem(413, `The body is longer than ${maxBytes} bytes (option otlp.maxRequestBytes).`);
}

/**
 * Answers a request if its path is that of traces. Otherwise returns false: the request is for another handler. Never
 * throws.
 */
type OtlpHandler = (request: GateRequest, response: GateResponse) => boolean;

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
      const accepted = "application/x-protobuf, application/json";
      throw new OtlpProblem(415, `The body must be one of the types ${accepted}.`, { Accept: accepted });
    }
    if (!receiver.isOpen) {
      throw new OtlpProblem(429, "More spans come than are taken (option otlp.maxSpansPerSecond).", RETRY);
    }
    const leave = receiver.reading.enter();
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

  async function respond(context: RequestContext, request: GateRequest, response: GateResponse): Promise<void> {
    // Late, because it brings Protocol Buffers.
    const { encodingOf, JSON_ENCODING } = await import("./encoding.ts");
    const encoding = encodingOf(request.headers["content-type"]);
    try {
      const body = await answer(context, encoding);
      send(response, 200, encoding!.contentType, body);
      context.end("OK");
    } catch (error) {
      context.failed(error);
      const problem = problemOf(error, gate.challenge);
      if (problem.status === 500) onError(error, `POST ${PATH}`);
      const { contentType, status } = encoding ?? JSON_ENCODING;
      const body = status({ code: codeOf(problem.status), message: problem.message });
      send(response, problem.status, contentType, body, problem.headers);
      context.end(callCodeOf(problem.status));
      request.resume();
    }
  }

  return (request, response) => {
    const { originalUrl } = request as { readonly originalUrl?: string };
    const path = (originalUrl ?? request.url ?? "").split("?", 1)[0];
    if (path !== PATH) return false;
    const context = gate.begin(request, response, "otlp");
    context.route = PATH;
    if (gate.answerPreflight(context, response)) return true;
    respond(context, request, response).catch((error) => onError(error, `POST ${PATH}`));
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

import type { JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createAsyncIterable, type UniversalServerRequest } from "@connectrpc/connect/protocol";
import type { GateRequest, GateResponse } from "../../gate/request.ts";
import type { RequestContext } from "../../gate/request-context.ts";
import { callValues } from "../calls/call-context.ts";
import { atDeadline, takeDeadline, timeout } from "../calls/deadline.ts";
import { absoluteUrl, gone, hasInvalidEncoding, headersOf, whenOver } from "../calls/node-request.ts";

/**
 * Converts a request of Node.js for the handlers of connect. It differs from connect-node's own conversion in five ways:
 *
 * - The signal is aborted only if the client goes away, and not when the answer is complete, which would create an exception with its
 *   stack for every call.
 * - The signal is aborted at the deadline too, by a timer that does not keep the process alive.
 * - If connect stops reading early, the request is not destroyed, so that its rest can be drained.
 * - It uses the body that a body parser of the application has read already.
 * - A body must arrive in time at a server of the application too, whose own limits may be none.
 *
 * @throws TypeError for a missing or invalid Host or :authority, invalid percent-encoding, or a header that the Fetch API rejects
 */
export function universalRequest(
  req: GateRequest,
  res: GateResponse,
  url: string,
  context: RequestContext,
  bodyTimeoutMs: number,
): UniversalServerRequest {
  if (hasInvalidEncoding(url)) throw new TypeError("invalid percent-encoding");
  const timeoutMs = takeDeadline(req.headers, context.protocol);
  return {
    httpVersion: req.httpVersion,
    method: req.method ?? "",
    url: absoluteUrl(req, url),
    header: headersOf(req),
    body: bodyOf(req, context.origin.isMounted && bodyTimeoutMs > 0 ? inTime(req, res, bodyTimeoutMs) : undefined),
    signal: callSignal(req, res, timeoutMs),
    contextValues: callValues(context).set(timeout, timeoutMs),
  };
}

function bodyOf(req: GateRequest, late: Promise<never> | undefined): UniversalServerRequest["body"] {
  const { body } = req as { readonly body?: JsonValue | Uint8Array };
  if (!req.readableEnded || body === undefined) return chunksOf(req, late);
  return body instanceof Uint8Array ? createAsyncIterable([body]) : body;
}

async function* chunksOf(req: GateRequest, late: Promise<never> | undefined): AsyncIterable<Uint8Array> {
  const chunks: AsyncIterableIterator<Uint8Array> = req.iterator({ destroyOnReturn: false });
  try {
    if (late === undefined) yield* chunks;
    else {
      for (;;) {
        const { done, value } = await Promise.race([chunks.next(), late]);
        if (done) break;
        yield value;
      }
    }
    // Node.js ends the body of a stream of HTTP/2 that was reset as if it were whole.
    if (req.aborted) throw gone();
  } catch (error) {
    // Node.js reports it in many ways: aborted, premature close, reset.
    throw error instanceof ConnectError ? error : gone(error);
  }
}

/** Rejects if the body has not arrived in time, unless the answer has begun: then it is a conversation. */
function inTime(req: GateRequest, res: GateResponse, timeoutMs: number): Promise<never> {
  const late = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => {
      if (res.headersSent) return;
      // HTTP/2 ends only the stream, and forbids the header.
      if (!("stream" in res)) res.setHeader("connection", "close");
      reject(new ConnectError("The request did not arrive in time.", Code.DeadlineExceeded));
    }, timeoutMs).unref();
    for (const event of ["end", "close"]) req.once(event, () => clearTimeout(timer));
  });
  // The call may have ended before, for another reason.
  late.catch(() => {});
  return late;
}

function callSignal(req: GateRequest, res: GateResponse, timeoutMs: number | undefined): AbortSignal {
  const controller = new AbortController();
  const stopTime = timeoutMs === undefined ? undefined : atDeadline(timeoutMs, (late) => controller.abort(late));
  whenOver(req, res, () => {
    stopTime?.();
    if (!res.writableEnded) controller.abort(gone());
  });
  return controller.signal;
}

import type { Socket } from "node:net";
import type { JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createAsyncIterable, type UniversalServerRequest } from "@connectrpc/connect/protocol";
import type { GateRequest, GateResponse } from "../gate/request.ts";
import type { RequestContext } from "../gate/request-context.ts";
import { callValues } from "./caller.ts";

/**
 * A request of Node as the handlers of connect take it. In three ways it is not connect-node's own:
 *
 * - The signal tells that the client went away, and not also that an answer is complete: that abort nobody hears, and
 *   makes an exception with its stack for every call.
 * - When connect stops reading early, the request stays whole, so that its rest can be drained.
 * - What a body parser of the application has read already is taken from it.
 *
 * @throws TypeError for a Host or :authority that is none, or a header that the Fetch API does not take.
 */
export function universalRequest(
  req: GateRequest,
  res: GateResponse,
  url: string,
  context: RequestContext,
): UniversalServerRequest {
  const encrypted = "encrypted" in req.socket && req.socket.encrypted;
  const named = "authority" in req ? req.authority : req.headers.host;
  // gRPC's libraries in C name the path of a Unix socket, percent-encoded, which no URL takes for a host.
  const authority = /%2f/i.test(named ?? "") ? "localhost" : named;
  return {
    httpVersion: req.httpVersion,
    method: req.method ?? "",
    url: new URL(url, `${encrypted ? "https" : "http"}://${authority ?? ""}`).href,
    header: headerOf(req),
    body: bodyOf(req),
    signal: goneSignal(req, res),
    contextValues: callValues(context),
  };
}

/** Whether the client went away. */
export function isGone(req: GateRequest): boolean {
  return "stream" in req ? req.stream.destroyed : req.socket.destroyed;
}

function headerOf(req: GateRequest): Headers {
  const header = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const single of Array.isArray(value) ? value : [value]) header.append(name, single);
  }
  return header;
}

function bodyOf(req: GateRequest): UniversalServerRequest["body"] {
  const { body } = req as { readonly body?: JsonValue | Uint8Array };
  if (!req.readableEnded || body === undefined) return chunksOf(req);
  return body instanceof Uint8Array ? createAsyncIterable([body]) : body;
}

async function* chunksOf(req: GateRequest): AsyncIterable<Uint8Array> {
  try {
    yield* req.iterator({ destroyOnReturn: false });
  } catch (error) {
    // Node says it in many ways: aborted, premature close, reset.
    throw gone(error);
  }
}

function gone(cause?: unknown): ConnectError {
  return new ConnectError("The client went away.", Code.Canceled, undefined, undefined, cause);
}

/** Who waits for the end of a socket: a pipeline may hold hundreds of requests, and Node warns of more than ten listeners. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/** Calls `listener` when the socket closes, unless the returned function is called before. */
function whenClosed(socket: Socket, listener: () => void): () => void {
  const listeners = waiting.get(socket) ?? new Set();
  if (!waiting.has(socket)) {
    waiting.set(socket, listeners);
    socket.once("close", () => {
      for (const each of listeners) each();
    });
  }
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function goneSignal(req: GateRequest, res: GateResponse): AbortSignal {
  const controller = new AbortController();
  const onClose = () => {
    if (!res.writableEnded) controller.abort(gone());
  };
  if (isGone(req)) onClose();
  res.once("close", onClose);
  if (!("stream" in res) && res.socket === null) {
    // Pipelined: the response waits for its turn, and Node 22 does not tell it when the connection closes before.
    res.once("finish", whenClosed(req.socket, onClose));
  }
  return controller.signal;
}

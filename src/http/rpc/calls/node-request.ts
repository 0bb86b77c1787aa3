import type { IncomingHttpHeaders } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { Code, ConnectError } from "@connectrpc/connect";
import { BoundedCache } from "../../../common/bounded-cache.ts";
import { HTTP2_CODES } from "../../../server/http2-codes.ts";
import type { GateRequest, GateResponse } from "../../gate/request.ts";

/** Whether a URL has a percent sign that encodes nothing. */
export function hasInvalidEncoding(url: string): boolean {
  return /%(?![\da-f]{2})/i.test(url);
}

/**
 * The absolute URL of a request.
 *
 * @throws TypeError for a missing or invalid Host or :authority
 */
export function absoluteUrl(req: GateRequest, url: string): string {
  const encrypted = "encrypted" in req.socket && req.socket.encrypted;
  return new URL(url, `${encrypted ? "https" : "http"}://${authorityOf(req)}`).href;
}

/** Whether a request has a valid Host or :authority. */
export function hasAuthority(req: GateRequest): boolean {
  return isAuthority.get(authorityOf(req));
}

const isAuthority = new BoundedCache((authority) => URL.canParse(`http://${authority}`));

function authorityOf(req: GateRequest): string {
  const named = ("authority" in req ? req.authority : req.headers.host) ?? "";
  // gRPC libraries in C send the percent-encoded path of a Unix socket, which is not valid in a URL.
  return /%2f/i.test(named) ? "localhost" : named;
}

/** The headers of a request as an object of the Fetch API, without those that HTTP/2 has in place of a request line. */
export function headersOf({ headers }: { readonly headers: IncomingHttpHeaders }): Headers {
  const header = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const single of Array.isArray(value) ? value : [value]) header.append(name, single);
  }
  return header;
}

/** Whether the client has gone away, or the application has ended the answer, as one does that limits the time of its answers. */
export function isGone(req: GateRequest, res: GateResponse): boolean {
  return res.destroyed || ("stream" in req ? req.stream.destroyed : req.socket.destroyed);
}

/** The error of a call whose client has gone away. */
export function gone(cause?: unknown): ConnectError {
  return new ConnectError("The client went away.", Code.Canceled, undefined, undefined, cause);
}

/** Listeners by socket: a pipeline may have hundreds of requests, and Node.js warns about more than ten listeners. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/** Calls `listener` when the socket closes, until the returned function is called. */
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

/** Calls `listener` once, when the answer has ended or its client has gone away. */
export function whenOver(req: GateRequest, res: GateResponse, listener: () => void): void {
  if (isGone(req, res)) listener();
  res.once("close", listener);
  if (!("stream" in res) && res.socket === null) {
    // Pipelined: the response waits for its turn, and Node.js 22 does not notify it if the connection closes before.
    res.once("finish", whenClosed(req.socket, listener));
  }
}

/** How much of the rest of a request is read, and how long a pause in it may be, before the answer is sent all the same. */
const REST = { maxBytes: 16 * 1024 * 1024, maxPauseMs: 500 };

/**
 * Reads and discards the rest of an HTTP/2 request whose answer is known before its end, such as "the message is too large".
 *
 * A client that gets the answer earlier may lose it. Node.js counts what a client has not sent yet towards the memory of its connection,
 * also after a reset, and refuses answers above 10 MB. And a client that ends its request after the answer may begin the next one at once,
 * which the server, if there are as many as allowed, takes for one too many: ENHANCE_YOUR_CALM or PROTOCOL_ERROR.
 */
export function readRest(req: Readable): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(done, REST.maxPauseMs).unref();
    req.on("data", onData).on("end", done).on("close", done).resume();

    function onData({ length }: Buffer): void {
      bytes += length;
      timer.refresh();
      if (bytes > REST.maxBytes) done();
    }
    function done(): void {
      clearTimeout(timer);
      req.off("data", onData).off("end", done).off("close", done);
      resolve();
    }
  });
}

const LONGEST_WAIT_MS = 1_024;

/**
 * Discards what a client still sends after a complete answer, such as "the message is too large". connect neither reads nor resets it, so
 * that flow control would stop the client in the middle of its request forever.
 *
 * Call it before the answer begins.
 */
export function discardRest(req: GateRequest, res: GateResponse): void {
  if ("stream" in req) {
    req.stream.once("wantTrailers", () => resetSoon(req.stream, req));
  } else {
    // HTTP/1.1 cannot tell a client to stop: read on, as Node.js does for a request that was not read.
    res.once("finish", () => {
      if (!req.complete) req.resume();
    });
  }
}

/** The same for an answer that consists of its header frame, without trailers. Call it after the end. */
export function discardRestNow(req: GateRequest): void {
  if ("stream" in req) resetSoon(req.stream, req);
}

/**
 * RFC 9113, section 8.1: after a complete response, RST_STREAM with NO_ERROR asks the client to stop. A reset overtakes queued data, so it
 * must wait until the response has been sent. No event tells when that is, and on a busy connection or over TLS it may take a while.
 */
export function resetSoon(stream: ServerHttp2Stream, request: Readable = stream, waitMs = 1): void {
  const reset = () => {
    if (stream.readableEnded || stream.destroyed) return;
    if (stream.state.localClose !== 1) return resetSoon(stream, request, Math.min(2 * waitMs, LONGEST_WAIT_MS));
    // Node.js keeps a stream, and with it the connection, until the data before the reset has been read.
    request.resume();
    stream.close(HTTP2_CODES.NO_ERROR);
  };
  if (waitMs === 1) setImmediate(reset);
  else setTimeout(reset, waitMs).unref();
}

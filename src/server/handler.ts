import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Stream } from "node:http2";

/** A request over HTTP/1.1 or HTTP/2, as Node gives it. */
export type ServerRequest = IncomingMessage | Http2ServerRequest;

/** The answer that belongs to a {@link ServerRequest}. */
export type ServerAnswer = ServerResponse | Http2ServerResponse;

/** Answers requests over either protocol. */
export type RequestHandler = (req: ServerRequest, res: ServerAnswer) => void;

/** Answers a stream of HTTP/2 before Node.js makes a request of it; returns false for one that it leaves, without an effect. */
export type StreamHandler = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[]) => boolean;

/**
 * Tells a client that waits with its body (`Expect: 100-continue`) to continue when the body is first read. A request that is
 * refused by its headers alone is not asked for its body (RFC 9110 section 10.1.1); Node.js itself would ask for it at once.
 */
export function continueWhenRead(req: ServerRequest, res: ServerAnswer): void {
  const read = req._read;
  req._read = (size) => {
    req._read = read;
    if (!res.headersSent && isOpen(res)) res.writeContinue();
    read.call(req, size);
  };
}

function isOpen(res: ServerAnswer): boolean {
  const { closed, destroyed } = "stream" in res ? res.stream : res;
  return !closed && !destroyed;
}

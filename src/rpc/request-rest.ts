import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Stream } from "node:http2";

/**
 * Sees to what a client still sends when its answer is complete, as after "the message is too large". Left alone, connect
 * neither reads nor resets it, flow control stops the client in the middle of its send, and it waits for ever.
 *
 * Call it before the answer begins.
 */
export function discardRest(
  req: IncomingMessage | Http2ServerRequest,
  res: ServerResponse | Http2ServerResponse,
): void {
  if ("stream" in req) {
    const { stream } = req;
    // Not before the trailers are out, and a turn later: a reset in the same turn overtakes them.
    stream.once("wantTrailers", () => resetSoon(stream));
  } else {
    // HTTP/1.1 has no way to tell a client to stop: read on, as Node does for a request that nobody began to read.
    res.once("finish", () => {
      if (!req.complete) req.resume();
    });
  }
}

/** The same for an answer that ended in its header frame, which has no trailers to wait for. Call it after the end. */
export function discardRestNow(req: IncomingMessage | Http2ServerRequest): void {
  if ("stream" in req) resetSoon(req.stream);
}

/** RFC 9113, section 8.1: after a complete response, RST_STREAM with NO_ERROR asks the client to stop, without harm. */
function resetSoon(stream: ServerHttp2Stream): void {
  setImmediate(() => {
    if (!stream.readableEnded && !stream.destroyed) stream.close(constants.NGHTTP2_NO_ERROR);
  });
}

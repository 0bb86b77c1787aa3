import { constants, type Http2ServerRequest } from "node:http2";
import type { GateRequest, GateResponse } from "../gate/request.ts";

const LONGEST_WAIT_MS = 1_024;

/**
 * Sees to what a client still sends when its answer is complete, as after "the message is too large". Left alone, connect
 * neither reads nor resets it, flow control stops the client in the middle of its send, and it waits for ever.
 *
 * Call it before the answer begins.
 */
export function discardRest(req: GateRequest, res: GateResponse): void {
  if ("stream" in req) {
    req.stream.once("wantTrailers", () => resetSoon(req));
  } else {
    // HTTP/1.1 has no way to tell a client to stop: read on, as Node does for a request that nobody began to read.
    res.once("finish", () => {
      if (!req.complete) req.resume();
    });
  }
}

/** The same for an answer that ended in its header frame, which has no trailers to wait for. Call it after the end. */
export function discardRestNow(req: GateRequest): void {
  if ("stream" in req) resetSoon(req);
}

/**
 * RFC 9113, section 8.1: after a complete response, RST_STREAM with NO_ERROR asks the client to stop, without harm. A reset
 * overtakes what waits for its turn on the connection, so it has to wait for the end of the response to be out. Nothing
 * tells of that, and on a busy connection or over TLS it may take a while.
 */
function resetSoon(req: Http2ServerRequest, waitMs = 1): void {
  const { stream } = req;
  const reset = () => {
    if (stream.readableEnded || stream.destroyed) return;
    if (stream.state.localClose !== 1) return resetSoon(req, Math.min(2 * waitMs, LONGEST_WAIT_MS));
    // Node keeps a stream, and with it the connection, until somebody has read what came before the reset.
    req.resume();
    stream.close(constants.NGHTTP2_NO_ERROR);
  };
  if (waitMs === 1) setImmediate(reset);
  else setTimeout(reset, waitMs).unref();
}

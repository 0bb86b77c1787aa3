import { constants } from "node:http2";
import type { RequestHandler, ServerAnswer } from "./handler.ts";

/** Hears of an error that no client could be told; `context` says in a few words what was going on. */
export type ServerErrorHandler = (error: unknown, context: string) => void;

/**
 * A handler that cannot end the process: what `handler` throws goes to `onError`, and the client gets a 500 without a
 * body, or a cut connection where an answer had begun. Node would make it an uncaught exception.
 */
export function guard(handler: RequestHandler, onError: ServerErrorHandler): RequestHandler {
  return (req, res) => {
    try {
      handler(req, res);
    } catch (error) {
      onError(error, `answering a ${req.method} request`);
      fail(res);
    }
  };
}

function fail(res: ServerAnswer): void {
  if (!res.headersSent) {
    res.statusCode = 500;
    res.end();
  } else if ("stream" in res) {
    res.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  } else {
    res.destroy();
  }
}

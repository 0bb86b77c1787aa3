import type { RequestHandler, ServerAnswer, StreamHandler } from "./handler.ts";
import { HTTP2_CODES } from "./http2-codes.ts";

/** Called with an error that could not be sent to a client; `context` says in a few words what was going on. */
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

/** The same for streams. One whose handler has failed ends with an error. */
export function guardStreams(handler: StreamHandler, onError: ServerErrorHandler): StreamHandler {
  return (stream, headers, rawHeaders) => {
    try {
      return handler(stream, headers, rawHeaders);
    } catch (error) {
      onError(error, `answering a ${headers[":method"]} request`);
      stream.on("error", () => {}).close(HTTP2_CODES.INTERNAL_ERROR);
      return true;
    }
  };
}

/** Ends an answer whose handler has failed: with 500, or by cutting it off if it has begun. */
export function fail(res: ServerAnswer): void {
  if (!res.headersSent) {
    res.statusCode = 500;
    res.end();
  } else if ("stream" in res) {
    res.stream.close(HTTP2_CODES.INTERNAL_ERROR);
  } else {
    res.destroy();
  }
}

/** Wraps an error handler, because an error that it throws from inside a promise would end the process. */
export function careful(onError: ServerErrorHandler): ServerErrorHandler {
  return (error, context) => {
    try {
      onError(error, context);
    } catch (failure) {
      reportError(error, context);
      reportError(failure, "onError");
    }
  };
}

/**
 * Writes an error to the standard error as one line, without its stack, which contains paths of this machine, and without
 * characters that could forge a second line or reverse the text.
 */
export function reportError(error: unknown, context: string): void {
  const line = `connect-actuator: ${context}: ${error}`;
  console.error(line.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").slice(0, 1_000));
}

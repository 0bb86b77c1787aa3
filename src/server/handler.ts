import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

/** A request over HTTP/1.1 or HTTP/2, as Node gives it. */
export type ServerRequest = IncomingMessage | Http2ServerRequest;

/** The answer that belongs to a {@link ServerRequest}. */
export type ServerAnswer = ServerResponse | Http2ServerResponse;

/** Answers requests over either protocol. */
export type RequestHandler = (req: ServerRequest, res: ServerAnswer) => void;

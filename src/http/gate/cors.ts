import type { ServerResponse } from "node:http";
import type { CorsOptions } from "./cors-options.ts";
import { callableOrigin } from "./cors-options.ts";
import { type GateRequest, type GateResponse, headerOf } from "./request.ts";

/** Lets pages of configured origins call, and leaves all other answers as they are. */
export interface Cors {
  /** Whether the request comes from a page that may call. */
  allows(request: GateRequest): boolean;
  /** Says so in the answer. Call it before the answer begins. */
  decorate(request: GateRequest, response: GateResponse): void;
}

const METHODS = "GET, HEAD, POST, DELETE";
/** Those of REST, of Connect and of gRPC-Web. */
const REQUEST_HEADERS = [
  "Accept",
  "Accept-Encoding",
  "Authorization",
  "Connect-Accept-Encoding",
  "Connect-Content-Encoding",
  "Connect-Protocol-Version",
  "Connect-Timeout-Ms",
  "Content-Encoding",
  "Content-Type",
  "Grpc-Message-Type",
  "Grpc-Timeout",
  "If-None-Match",
  "X-Grpc-Web",
  "X-User-Agent",
];
const RESPONSE_HEADERS = [
  "Allow",
  "Connect-Accept-Encoding",
  "Connect-Content-Encoding",
  "Content-Disposition",
  "Content-Encoding",
  "ETag",
  "Grpc-Message",
  "Grpc-Status",
  "Grpc-Status-Details-Bin",
  "Retry-After",
  "WWW-Authenticate",
].join(", ");

/**
 * CORS for REST, Connect and gRPC-Web alike. Credentials stay off: a page sends a token in `Authorization`, and nothing that
 * a browser adds by itself is ever taken for one.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export function cors({ origins, headers = [], maxAgeSeconds = 600 }: CorsOptions): Cors {
  const isAllowed = callableOrigin(origins);
  const requestHeaders = [...REQUEST_HEADERS, ...headers].join(", ");
  const allows = (request: GateRequest) => {
    const origin = headerOf(request, "origin");
    return origin !== undefined && isAllowed(origin);
  };
  return {
    allows,
    decorate(request, response) {
      // Both versions of HTTP answer to these calls; only their types do not say so together.
      const answer = response as ServerResponse;
      answer.setHeader("Vary", "Origin");
      if (!allows(request)) return;
      answer.setHeader("Access-Control-Allow-Origin", headerOf(request, "origin")!);
      answer.setHeader("Access-Control-Expose-Headers", RESPONSE_HEADERS);
      if (!isPreflight(request)) return;
      answer.setHeader("Access-Control-Allow-Methods", METHODS);
      answer.setHeader("Access-Control-Allow-Headers", requestHeaders);
      answer.setHeader("Access-Control-Max-Age", String(maxAgeSeconds));
    },
  };
}

/** Whether a browser asks if it may send something. */
export function isPreflight(request: GateRequest): boolean {
  return request.method === "OPTIONS" && headerOf(request, "access-control-request-method") !== undefined;
}

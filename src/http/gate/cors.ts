import type { ServerResponse } from "node:http";
import type { CorsOptions } from "./cors-options.ts";
import { callableOrigin } from "./cors-options.ts";
import { type GateRequest, type GateResponse, headerOf, hostOf } from "./request.ts";

/** Allows pages of the configured origins to call. */
export interface Cors {
  /** Whether the request comes from a page of an allowed origin. */
  allows(request: GateRequest): boolean;
  /** Sets the headers of CORS on a response. Call it before the response begins. */
  decorate(request: GateRequest, response: GateResponse): void;
}

const METHODS = "GET, HEAD, POST, DELETE";
/** The request headers of REST, Connect and gRPC-Web. */
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
 * Makes CORS for REST, Connect and gRPC-Web. It never allows credentials: a page sends a token in `Authorization`, and the server accepts
 * nothing that a browser adds by itself.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export function cors({ origins, headers = [], maxAgeMs = 600_000 }: CorsOptions): Cors {
  const isAllowed = callableOrigin(origins);
  const requestHeaders = [...REQUEST_HEADERS, ...headers].join(", ");
  const allows = (request: GateRequest) => {
    const origin = headerOf(request, "origin");
    return origin !== undefined && isAllowed(origin);
  };
  return {
    allows,
    decorate(request, response) {
      // The responses of both HTTP versions have setHeader, but TypeScript cannot call it on their union.
      const answer = response as ServerResponse;
      answer.setHeader("Vary", "Origin");
      if (!allows(request)) return;
      answer.setHeader("Access-Control-Allow-Origin", headerOf(request, "origin")!);
      answer.setHeader("Access-Control-Expose-Headers", RESPONSE_HEADERS);
      if (!isPreflight(request)) return;
      answer.setHeader("Access-Control-Allow-Methods", METHODS);
      answer.setHeader("Access-Control-Allow-Headers", requestHeaders);
      answer.setHeader("Access-Control-Max-Age", String(Math.floor(maxAgeMs / 1_000)));
    },
  };
}

/** Whether the request is a preflight of CORS. */
export function isPreflight(request: GateRequest): boolean {
  return request.method === "OPTIONS" && headerOf(request, "access-control-request-method") !== undefined;
}

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Types such as JSON and protobuf, which a page sends across sites only after a preflight; not the types of forms and plain text. */
const PREFLIGHTED_TYPE = /^application\/(?!x-www-form-urlencoded)[\w.+-]/i;

/**
 * Whether a page of another site makes a browser send this request, which changes something, without a preflight. Browsers tell in
 * `Sec-Fetch-Site`. Without that header, an `Origin` other than the named host tells, unless the content type needs a preflight; so a
 * monitoring server can forward what its own page sent. A request with a body of another type passes: its operation refuses the type.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol, https://www.w3.org/TR/fetch-metadata/
 */
export function isCrossSiteWrite(request: GateRequest): boolean {
  if (SAFE_METHODS.has(request.method ?? "")) return false;
  const site = headerOf(request, "sec-fetch-site");
  if (site !== undefined) return site === "cross-site" || site === "same-site";
  const origin = headerOf(request, "origin");
  // POST is the only writing method that a page can send across sites without a preflight.
  if (origin === undefined || request.method !== "POST") return false;
  if (PREFLIGHTED_TYPE.test(headerOf(request, "content-type") ?? "")) return false;
  if (hasBody(request)) return false;
  return URL.parse(origin)?.host !== hostOf(request)?.toLowerCase();
}

/** Browsers send a Content-Length with a body, or over HTTP/2 end the stream with the headers if there is none. */
function hasBody(request: GateRequest): boolean {
  const length = headerOf(request, "content-length");
  if (length !== undefined) return Number(length) > 0;
  return "stream" in request && !request.stream.endAfterHeaders;
}

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
  "Actuator-Notice",
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

/** Types such as JSON and protobuf, which operations accept; not the types of forms and plain text, which a page sends unasked. */
const ACCEPTED_TYPE = /^application\/(?!x-www-form-urlencoded)[\w.+-]/i;

/**
 * Whether a page of another site sends this request, which may change something. Browsers tell in `Sec-Fetch-Site`, which no page can
 * set; so a proxy or monitoring server may pass on what its own page sent. Pages without TLS have no such header: there, an `Origin`
 * tells that is neither the named host nor a monitoring server's. A POST with a body of another type passes: its operation refuses the
 * type.
 *
 * @see https://fetch.spec.whatwg.org/#origin-header, https://www.w3.org/TR/fetch-metadata/
 */
export function isCrossSiteWrite(request: GateRequest, monitors: readonly string[]): boolean {
  if (SAFE_METHODS.has(request.method ?? "")) return false;
  const site = headerOf(request, "sec-fetch-site");
  if (site !== undefined) return site === "cross-site" || site === "same-site";
  const origin = headerOf(request, "origin");
  if (origin === undefined || monitors.includes(origin) || isOwnOrigin(origin, hostOf(request))) return false;
  const isAccepted = ACCEPTED_TYPE.test(headerOf(request, "content-type") ?? "");
  return request.method !== "POST" || isAccepted || !hasBody(request);
}

/** Browsers send a Content-Length with a body, or over HTTP/2 end the stream with the headers if there is none. */
function hasBody(request: GateRequest): boolean {
  const length = headerOf(request, "content-length");
  if (length !== undefined) return Number(length) > 0;
  return "stream" in request && !request.stream.endAfterHeaders;
}

/** A proxy that ends TLS hides the scheme, so only host and port are compared, in the form without a default port. */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const page = URL.parse(origin);
  return page !== null && page.host !== "" && page.host === URL.parse(`${page.protocol}//${host}`)?.host;
}

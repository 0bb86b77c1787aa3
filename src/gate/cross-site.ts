import { type GateRequest, headerOf, hostOf } from "./request.ts";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Whether a page of another site makes a browser send this request, which changes something, without having asked. Browsers
 * say so themselves in `Sec-Fetch-Site`; for those that do not, an `Origin` other than the host that is asked tells, where there
 * is no body: bodies are JSON or protobuf here, which no page sends across sites without a preflight, and other types are refused
 * as such. So a monitoring server may pass on what its own page sent.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol, https://www.w3.org/TR/fetch-metadata/
 */
export function isCrossSiteWrite(request: GateRequest): boolean {
  if (SAFE_METHODS.has(request.method ?? "")) return false;
  const site = headerOf(request, "sec-fetch-site");
  if (site !== undefined) return site === "cross-site" || site === "same-site";
  const origin = headerOf(request, "origin");
  // A page sends no other method than POST across sites without a preflight.
  if (origin === undefined || request.method !== "POST" || hasBody(request)) return false;
  return URL.parse(origin)?.host !== hostOf(request)?.toLowerCase();
}

function hasBody(request: GateRequest): boolean {
  if (headerOf(request, "transfer-encoding") !== undefined) return true;
  const length = headerOf(request, "content-length");
  // Over HTTP/2 a length need not be said.
  return length === undefined ? "stream" in request && !request.stream.endAfterHeaders : length !== "0";
}

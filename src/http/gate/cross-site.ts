import { type GateRequest, headerOf, hostOf } from "./request.ts";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** What a page sends across sites only after a preflight, such as JSON and protobuf: any type but those of forms and of plain text. */
const PREFLIGHTED_TYPE = /^application\/(?!x-www-form-urlencoded)[\w.+-]/i;

/**
 * Whether a page of another site makes a browser send this request, which changes something, without having asked. Browsers
 * say so themselves in `Sec-Fetch-Site`; for those that do not, an `Origin` other than the host that is asked tells, unless the
 * type is one that needs a preflight. So a monitoring server may pass on what its own page sent. What has a body of another type
 * is left to those who read it: they refuse the type.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol, https://www.w3.org/TR/fetch-metadata/
 */
export function isCrossSiteWrite(request: GateRequest): boolean {
  if (SAFE_METHODS.has(request.method ?? "")) return false;
  const site = headerOf(request, "sec-fetch-site");
  if (site !== undefined) return site === "cross-site" || site === "same-site";
  const origin = headerOf(request, "origin");
  // A page sends no other method than POST across sites without a preflight.
  if (origin === undefined || request.method !== "POST") return false;
  if (PREFLIGHTED_TYPE.test(headerOf(request, "content-type") ?? "")) return false;
  if (hasBody(request)) return false;
  return URL.parse(origin)?.host !== hostOf(request)?.toLowerCase();
}

/** Whether there are bytes to come: pages say how many, or over HTTP/2 that there are none. */
function hasBody(request: GateRequest): boolean {
  const length = headerOf(request, "content-length");
  if (length !== undefined) return Number(length) > 0;
  return "stream" in request && !request.stream.endAfterHeaders;
}

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

/** A request over HTTP/1.1 or HTTP/2, as Node gives it. */
export type GateRequest = IncomingMessage | Http2ServerRequest;
/** The answer that belongs to it. */
export type GateResponse = ServerResponse | Http2ServerResponse;

/**
 * A header by its lower-case name, once: several of a name are joined by commas. That goes for `Authorization` as well, of which
 * Node shows the first alone: whoever passed the request on may have believed another.
 */
export function headerOf({ headers, rawHeaders }: GateRequest, name: string): string | undefined {
  const value = headers[name];
  if (name === "authorization" && value !== undefined) {
    const all = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === name);
    if (all.length > 1) return all.join(", ");
  }
  return Array.isArray(value) ? value.join(", ") : value;
}

/**
 * Host and port that the client names: `:authority` over HTTP/2, otherwise that of an absolute target, before which `Host` does not
 * count (RFC 9112 section 3.2.2), or else `Host`.
 */
export function hostOf(request: GateRequest): string | undefined {
  const absolute = /^https?:\/\/([^/?#]*)/i.exec(request.url ?? "")?.[1];
  return headerOf(request, ":authority") ?? absolute ?? headerOf(request, "host");
}

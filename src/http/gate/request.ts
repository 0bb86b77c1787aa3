import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { ClientCertificate } from "../../access/auth-request.ts";
import { isLoopback } from "../../common/ip-address.ts";

/** A request of node:http or node:http2. */
export type GateRequest = IncomingMessage | Http2ServerRequest;
/** The response to a {@link GateRequest}. */
export type GateResponse = ServerResponse | Http2ServerResponse;

/**
 * Returns a header by its lower-case name; repeated headers are joined with commas. This includes `Authorization`, of which Node.js
 * reports the first only, while a proxy in front may have checked another.
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
 * Returns the host and port that the client names: `:authority` over HTTP/2, otherwise that of an absolute target, which takes
 * precedence over `Host` (RFC 9112 section 3.2.2), or `Host`.
 */
export function hostOf(request: GateRequest): string | undefined {
  const absolute = /^https?:\/\/([^/?#]*)/i.exec(request.url ?? "")?.[1];
  return headerOf(request, ":authority") ?? absolute ?? headerOf(request, "host");
}

/** What the server knows about the connection of a request and the client at its other end. */
export interface Peer {
  /** An object that is the same for all requests of a connection. */
  connection(request: GateRequest): object;
  /** The IP address of the client, or of the nearest proxy that is not trusted; undefined over a Unix socket. */
  address(request: GateRequest): string | undefined;
  /** Whether the request has headers of a proxy, trusted or not. */
  isForwarded(request: GateRequest): boolean;
  /** Whether a trusted proxy forwarded the request and named its client. */
  isNamedByProxy(request: GateRequest): boolean;
  /** The scheme that the client uses, according to the connection or a trusted proxy. */
  scheme(request: GateRequest): "http" | "https";
  /** The client certificate that TLS has verified, if any. */
  certificate(request: GateRequest): ClientCertificate | undefined;
  /** The certificate that the client has presented and that cannot be used, and why. */
  unusableCertificate(
    request: GateRequest,
  ): { readonly certificate: ClientCertificate; readonly fault: string } | undefined;
  /** Whether the client certificate of a connection to the actuator's own port has expired or was revoked since the handshake. */
  hasExpiredCertificate(request: GateRequest): boolean;
  /** Whether that port requires a client certificate, whatever other credentials there are. */
  isCertificateRequired(request: GateRequest): boolean;
  /** Whether the request came in through the actuator's own port, whose TLS options are the actuator's. */
  isOnOwnPort(request: GateRequest): boolean;
}

/** Where a request comes from. */
export interface Origin {
  readonly address: string | undefined;
  /** Whether the client is this machine, directly or according to a trusted proxy. */
  readonly isLocal: boolean;
  /** Whether the request came in through a server of the application's own, in which the handler is mounted. */
  readonly isMounted: boolean;
  readonly scheme: "http" | "https";
}

/** Makes a function that tells where requests come from. It asks once per connection, except for requests of proxies. */
export function originOf(peer: Peer): (request: GateRequest) => Origin {
  const known = new WeakMap<object, Origin>();
  const read = (request: GateRequest, isForwarded: boolean): Origin => {
    const address = peer.address(request);
    const isLocal = address === undefined || isLoopback(address);
    const scheme = peer.scheme(request);
    const isMounted = !peer.isOnOwnPort(request);
    return { address, scheme, isLocal: isLocal && (!isForwarded || peer.isNamedByProxy(request)), isMounted };
  };
  return (request) => {
    if (peer.isForwarded(request)) return read(request, true);
    const connection = peer.connection(request);
    let origin = known.get(connection);
    if (origin === undefined) known.set(connection, (origin = read(request, false)));
    return origin;
  };
}

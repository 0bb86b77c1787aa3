import type { Http2ServerRequest } from "node:http2";
import type { Server, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { canonicalAddress } from "../common/ip-address/canonical-address.ts";
import { forwardedHops } from "./forwarded.ts";
import type { ServerRequest } from "./handler.ts";

/** Tells whether the peer of this IP address is a proxy whose word about its clients is taken. */
export type TrustedProxies = (address: string) => boolean;

/** Whether a request came over TLS. A Unix socket and a proxy's word are not that. */
export function isEncrypted(req: ServerRequest): boolean {
  return encryptedSocket(req) !== undefined;
}

/**
 * What the client speaks: the connection, or what `X-Forwarded-Proto` says.
 *
 * @param believed whether whoever sent that header is, see {@link isTrusted}
 */
export function schemeOf(req: ServerRequest, believed: boolean): "http" | "https" {
  const [told] = believed ? `${req.headers["x-forwarded-proto"] ?? ""}`.toLowerCase().split(/ *,/) : [];
  if (told === "http" || told === "https") return told;
  return isEncrypted(req) ? "https" : "http";
}

/** Whether the other end of the connection is a proxy whose word about its clients is taken. */
export function isTrusted({ socket }: ServerRequest, trusted: TrustedProxies | undefined): boolean {
  return trusted?.(canonicalAddress(socket.remoteAddress ?? "") ?? "") === true;
}

/**
 * The IP address of the client: that of the socket or, where that is a trusted proxy, the nearest one on the way that is
 * not. A hop that cannot be read ends the search at the proxy that named it. IPv4 addresses inside of IPv6 come as IPv4.
 * Undefined over a Unix socket; an empty text, which is no address of this machine, once the connection is gone or reset.
 */
export function clientAddress(req: ServerRequest, trusted: TrustedProxies): string | undefined {
  return clientOf(req, trusted).address;
}

/**
 * Whether a trusted proxy has named the client by an address. One that hides it (`for=unknown`), or lets a second header
 * through that says otherwise, leaves only its own: that of the proxy, and not of who asks.
 */
export function isNamedByProxy(req: ServerRequest, trusted: TrustedProxies): boolean {
  return clientOf(req, trusted).isNamed;
}

function clientOf(req: ServerRequest, trusted: TrustedProxies) {
  let address = canonicalAddress(req.socket.remoteAddress ?? "");
  if (address === undefined) return { address: isOnUnixSocket(req) ? undefined : "", isNamed: false };
  if (!trusted(address)) return { address, isNamed: false };
  const hops = forwardedHops(req);
  for (const hop of hops) {
    if (hop === undefined) return { address, isNamed: false };
    address = hop;
    if (!trusted(address)) return { address, isNamed: true };
  }
  return { address, isNamed: hops.length > 0 };
}

/**
 * Whether a request came over a Unix socket. That its connection has no address does not say so: one that its client has reset
 * has none either, long before Node tells of the reset, and what was sent before is still read and answered.
 */
function isOnUnixSocket(req: ServerRequest): boolean {
  if (isGone(req)) return false;
  return req.socket.localAddress === undefined && typeof serverOf(req)?.address() === "string";
}

/** Whether the connection has ended, after which nobody can say any more what it was. */
function isGone(req: ServerRequest): boolean {
  const { stream } = req as Http2ServerRequest;
  return stream === undefined ? req.socket.destroyed : stream.session === undefined || stream.session.destroyed;
}

/** The server that a request came by, which Node says and its types do not. */
export function serverOf({ socket }: ServerRequest): Server | undefined {
  return (socket as Socket & { readonly server?: Server }).server;
}

/** The TLS socket under a request, or Node's stand-in for it; undefined without TLS, and once the connection has ended. */
export function encryptedSocket(req: ServerRequest): TLSSocket | undefined {
  if (isGone(req)) return undefined;
  const socket = req.socket as TLSSocket;
  return socket.encrypted === true ? socket : undefined;
}

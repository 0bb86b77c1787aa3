import type { Http2ServerRequest } from "node:http2";
import type { Server, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { ClientCertificate } from "../access/knock.ts";
import { canonicalAddress } from "../ip-address/canonical-address.ts";
import { forwardedHops } from "./forwarded.ts";
import type { ServerRequest } from "./handler.ts";
import { carrierOf, isOnOwnPort } from "./own-connections.ts";
import { isRevoked, type RevocationList } from "./revocation-list.ts";
import { type VerifiedCertificate, verifiedCertificateOf } from "./verified-certificate.ts";

/** Tells whether the peer of this IP address is a proxy whose word about its clients is taken. */
export type TrustedProxies = (address: string) => boolean;

/** What a server asks of the certificates of its clients. */
export interface CertificateDemands {
  /** Whether nobody is let in without one. */
  readonly required: boolean;
  /** What the authorities have revoked that they are verified against. */
  readonly revocations: readonly RevocationList[];
}

/** Node says by which server a connection came, and its types do not. */
type ServedSocket = Socket & { readonly server?: Server };

/** A certificate, and what had been revoked when it was shown. */
interface ShownCertificate extends VerifiedCertificate {
  readonly revocations: readonly RevocationList[];
}

const shown = new WeakMap<object, ShownCertificate>();
const demands = new WeakMap<object, CertificateDemands>();

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

/** Notes what a server asks of the certificates of its clients, from now on. */
export function noteCertificateDemands(server: Server, asked: CertificateDemands): void {
  demands.set(server, asked);
}

/**
 * The client certificate of a request's connection, where TLS has verified one against the authorities of the port and
 * it has neither ended nor been revoked since; undefined for any other, and without TLS.
 */
export function clientCertificate(req: ServerRequest): ClientCertificate | undefined {
  const known = shownCertificate(req);
  return known !== undefined && counts(known, req) ? known.certificate : undefined;
}

/**
 * Whether a port of the actuator's own let a connection in by a certificate that has ended or was revoked since. Nobody could
 * begin such a connection now.
 */
export function hasLapsed(req: ServerRequest): boolean {
  const known = isOnOwnPort(req) ? shownCertificate(req) : undefined;
  return known !== undefined && !counts(known, req);
}

function shownCertificate(req: ServerRequest): ShownCertificate | undefined {
  const socket = encryptedSocket(req);
  if (socket === undefined || !socket.authorized) return undefined;
  const carrier = carrierOf(req);
  const before = shown.get(carrier);
  if (before !== undefined) return before;
  const certificate = verifiedCertificateOf(socket);
  const known = certificate && { ...certificate, revocations: revocationsOf(socket) };
  if (known !== undefined) shown.set(carrier, known);
  return known;
}

/** Whether a port of the actuator's own lets nobody in without a certificate, whatever else they show. */
export function isCertificateRequired({ socket }: ServerRequest): boolean {
  return demandsOf(socket)?.required === true;
}

function demandsOf(socket: Socket): CertificateDemands | undefined {
  return demands.get((socket as ServedSocket).server ?? socket);
}

function revocationsOf(socket: Socket): readonly RevocationList[] {
  return demandsOf(socket)?.revocations ?? NONE;
}

const NONE: readonly RevocationList[] = [];

function counts({ validTo, chain, isWhole, revocations }: ShownCertificate, { socket }: ServerRequest): boolean {
  const lists = revocationsOf(socket);
  // OpenSSL knew who vouches for it. Where Node does not say, what is revoked since may be one of those.
  if (!isWhole && lists.length > 0 && lists !== revocations) return false;
  return Date.now() <= validTo && !lists.some((list) => chain.some((number) => isRevoked(list, number)));
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
  const { localAddress, server } = req.socket as ServedSocket;
  return localAddress === undefined && typeof server?.address() === "string";
}

/** Whether the connection has ended, after which nobody can say any more what it was. */
function isGone(req: ServerRequest): boolean {
  const { stream } = req as Http2ServerRequest;
  return stream === undefined ? req.socket.destroyed : stream.session === undefined || stream.session.destroyed;
}

/** The TLS socket under a request, or Node's stand-in for it. */
function encryptedSocket(req: ServerRequest): TLSSocket | undefined {
  if (isGone(req)) return undefined;
  const socket = req.socket as TLSSocket;
  return socket.encrypted === true ? socket : undefined;
}

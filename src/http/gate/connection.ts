import type { ClientCertificate } from "../../access/auth-request.ts";
import { isLoopback } from "../../common/ip-address/loopback.ts";
import type { GateRequest } from "./request.ts";

/** What can be told of a request's connection and of its other end. */
export interface Peer {
  /** What stands for the connection: the same for all requests that come by it. */
  connection(request: GateRequest): object;
  /** The IP address of the client, or of the nearest proxy that is not trusted; undefined over a Unix socket. */
  address(request: GateRequest): string | undefined;
  /** Whether somebody says that they pass the request on for somebody else. */
  isForwarded(request: GateRequest): boolean;
  /** Whether who says so may be believed, and says for whom. */
  isNamedByProxy(request: GateRequest): boolean;
  /** What the client speaks, as far as anybody says who may be believed. */
  scheme(request: GateRequest): "http" | "https";
  /** The client's certificate, where TLS has verified one. */
  certificate(request: GateRequest): ClientCertificate | undefined;
  /** Whether the actuator's own port let the connection in by a certificate that has ended or was revoked since. */
  hasExpiredCertificate(request: GateRequest): boolean;
  /** Whether that port lets nobody in without a certificate, whatever else they show. */
  isCertificateRequired(request: GateRequest): boolean;
  /** Whether the request came by a port of the actuator's own, where certificates were asked for on its behalf. */
  isOnOwnPort(request: GateRequest): boolean;
}

/** Who is at the other end. */
export interface Origin {
  readonly address: string | undefined;
  /** Whether that is this very machine, as far as anybody says. */
  readonly isLocal: boolean;
  readonly scheme: "http" | "https";
}

/** Tells where requests come from: once for each connection, unless a proxy passes on those of many. */
export function originOf(peer: Peer): (request: GateRequest) => Origin {
  const known = new WeakMap<object, Origin>();
  const read = (request: GateRequest, isForwarded: boolean): Origin => {
    const address = peer.address(request);
    const isLocal = address === undefined || isLoopback(address);
    const scheme = peer.scheme(request);
    return { address, scheme, isLocal: isLocal && (!isForwarded || peer.isNamedByProxy(request)) };
  };
  return (request) => {
    if (peer.isForwarded(request)) return read(request, true);
    const connection = peer.connection(request);
    let origin = known.get(connection);
    if (origin === undefined) known.set(connection, (origin = read(request, false)));
    return origin;
  };
}

import type { Server } from "node:net";
import type { ClientCertificate } from "../access/auth-request.ts";
import type { ServerRequest } from "./handler.ts";
import { carrierOf, isOnOwnPort } from "./own-connections.ts";
import { encryptedSocket, serverOf } from "./peer.ts";
import { isRevoked, type RevocationList } from "./revocation-list.ts";
import { type VerifiedCertificate, verifiedCertificateOf } from "./verified-certificate.ts";

/** What a server asks of the certificates of its clients. */
export interface CertificateDemands {
  /** Whether nobody is let in without one. */
  readonly required: boolean;
  /** What the authorities have revoked that they are verified against. */
  readonly revocations: readonly RevocationList[];
}

/** A certificate, and what had been revoked when it was shown. */
interface ShownCertificate extends VerifiedCertificate {
  readonly revocations: readonly RevocationList[];
}

const shown = new WeakMap<object, ShownCertificate>();
const demands = new WeakMap<Server, CertificateDemands>();

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
export function hasExpiredCertificate(req: ServerRequest): boolean {
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
  const known = certificate && { ...certificate, revocations: revocationsOf(req) };
  if (known !== undefined) shown.set(carrier, known);
  return known;
}

/** Whether a port of the actuator's own lets nobody in without a certificate, whatever else they show. */
export function isCertificateRequired(req: ServerRequest): boolean {
  return demandsOf(req)?.required === true;
}

function demandsOf(req: ServerRequest): CertificateDemands | undefined {
  const server = serverOf(req);
  return server && demands.get(server);
}

function revocationsOf(req: ServerRequest): readonly RevocationList[] {
  return demandsOf(req)?.revocations ?? NONE;
}

const NONE: readonly RevocationList[] = [];

function counts({ validTo, chain, isWhole, revocations }: ShownCertificate, req: ServerRequest): boolean {
  const lists = revocationsOf(req);
  // OpenSSL knew who vouches for it. Where Node does not say, what is revoked since may be one of those.
  if (!isWhole && lists.length > 0 && lists !== revocations) return false;
  return Date.now() <= validTo && !lists.some((list) => chain.some((number) => isRevoked(list, number)));
}

import { X509Certificate } from "node:crypto";
import type { Server } from "node:net";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import type { ClientCertificate } from "../access/auth-request.ts";
import { carrierOf, isOnOwnPort } from "./connections.ts";
import type { ServerRequest } from "./handler.ts";
import { encryptedSocket, serverOf } from "./peer.ts";
import { type CertificateNumber, certificateNumber, isRevoked, type RevocationList } from "./revocation-list.ts";

/** A server's requirements for the certificates of its clients. */
export interface CertificateDemands {
  /** Whether a client must have one. */
  readonly required: boolean;
  /** The revocation lists of the authorities that verify them. */
  readonly revocations: readonly RevocationList[];
}

/** A certificate, and the revocation lists when it was presented. */
interface ShownCertificate extends VerifiedCertificate {
  readonly revocations: readonly RevocationList[];
}

const shown = new WeakMap<object, ShownCertificate>();
const demands = new WeakMap<Server, CertificateDemands>();

/** Sets a server's requirements for the certificates of its clients. */
export function noteCertificateDemands(server: Server, asked: CertificateDemands): void {
  demands.set(server, asked);
}

/**
 * The client certificate of a request's connection, if TLS has verified it against the authorities of the port and it has not
 * expired or been revoked since; otherwise, and without TLS, undefined.
 */
export function clientCertificate(req: ServerRequest): ClientCertificate | undefined {
  const known = shownCertificate(req);
  return known !== undefined && counts(known, req) ? known.certificate : undefined;
}

/**
 * Whether the actuator's own port accepted a connection with a certificate that has expired or been revoked since. Such a
 * connection could not be opened now.
 */
export function hasExpiredCertificate(req: ServerRequest): boolean {
  const known = isOnOwnPort(req) ? shownCertificate(req) : undefined;
  return known !== undefined && !counts(known, req);
}

/** A certificate that a client has presented and that cannot be used. */
export interface UnusableCertificate {
  readonly certificate: ClientCertificate;
  /** Why: `CERT_HAS_EXPIRED`, `DEPTH_ZERO_SELF_SIGNED_CERT` and other codes of OpenSSL. */
  readonly fault: string;
}

const unusable = new WeakMap<object, UnusableCertificate | undefined>();

/** The certificate that a client has presented if TLS has not verified it, or if it has expired or been revoked since. */
export function unusableCertificate(req: ServerRequest): UnusableCertificate | undefined {
  const socket = encryptedSocket(req);
  if (socket === undefined) return undefined;
  if (socket.authorized) {
    const known = shownCertificate(req);
    if (known === undefined || counts(known, req)) return undefined;
    const fault = Date.now() > known.validTo ? "CERT_HAS_EXPIRED" : "CERT_REVOKED";
    return { certificate: known.certificate, fault };
  }
  const carrier = carrierOf(req);
  if (unusable.has(carrier)) return unusable.get(carrier);
  const certificate = socket.authorizationError ? verifiedCertificateOf(socket)?.certificate : undefined;
  const found = certificate && { certificate, fault: `${socket.authorizationError}` };
  unusable.set(carrier, found);
  return found;
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

/** Whether the actuator's own port requires a client certificate, even with other credentials. */
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
  // OpenSSL knew the whole chain. If Node.js does not return it, a certificate in it may have been revoked since.
  if (!isWhole && lists.length > 0 && lists !== revocations) return false;
  return Date.now() <= validTo && !lists.some((list) => chain.some((number) => isRevoked(list, number)));
}

/** A client certificate that TLS has verified, and what may end its validity. */
export interface VerifiedCertificate {
  readonly certificate: ClientCertificate;
  /** When it ends, in milliseconds since the epoch. */
  readonly validTo: number;
  /** The numbers of the certificate and of its issuers. */
  readonly chain: readonly CertificateNumber[];
  /** Whether the chain is complete, up to a self-signed certificate. */
  readonly isWhole: boolean;
}

/** The certificate that the client has presented; undefined if there is none. */
export function verifiedCertificateOf(socket: TLSSocket): VerifiedCertificate | undefined {
  // Asked only once and in this form, because any other call makes Node.js forget the issuers (nodejs/node#65579).
  const shown = socket.getPeerCertificate(true) as DetailedPeerCertificate | null;
  if (shown?.raw === undefined) return undefined;
  const chain = chainOf(shown);
  const x509 = chain[0]!;
  // Several common names come as a list, in which the intended one is not known.
  const commonName: unknown = shown.subject?.CN;
  return {
    certificate: {
      commonName: typeof commonName === "string" ? commonName : "",
      alternativeNames: alternativeNamesOf(x509.subjectAltName),
      fingerprint256: x509.fingerprint256.replaceAll(":", "").toLowerCase(),
    },
    validTo: Date.parse(x509.validTo),
    chain: chain.map(({ raw }) => certificateNumber(raw)),
    isWhole: isSigned(chain),
  };
}

/** Only this form has those authorities of the port that the client has not sent. The last one is self-signed. */
function chainOf(certificate: DetailedPeerCertificate): X509Certificate[] {
  const seen = new Set<DetailedPeerCertificate>();
  for (let at = certificate; at !== undefined && !seen.has(at); at = at.issuerCertificate) seen.add(at);
  return [...seen].map(({ raw }) => new X509Certificate(raw));
}

/** Node.js finds issuers by name, also among certificates that the client sent, which may be forged, and Node.js 24.21 loses some. */
function isSigned(chain: readonly X509Certificate[]): boolean {
  return chain.every((each, at) => each.verify((chain[at + 1] ?? each).publicKey));
}

const NAME = /(?<type>[A-Za-z][A-Za-z ]*):(?:(?<quoted>"(?:[^"\\]|\\.)*")|(?<plain>[^",]*))(?:, |$)/y;

/**
 * Takes Node's list of names apart. It quotes as JSON what a name could use to look like two. A list that does not read
 * to its end holds nothing.
 */
export function alternativeNamesOf(list: string | undefined): string[] {
  const names: string[] = [];
  if (list === undefined || list === "") return names;
  for (NAME.lastIndex = 0; NAME.lastIndex < list.length; ) {
    const { type, quoted, plain } = NAME.exec(list)?.groups ?? {};
    if (type === undefined) return [];
    names.push(`${type}:${quoted === undefined ? plain : unquoted(quoted)}`);
  }
  return names;
}

function unquoted(text: string): string {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

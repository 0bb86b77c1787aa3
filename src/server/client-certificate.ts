import { X509Certificate } from "node:crypto";
import type { Server } from "node:net";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import type { ClientCertificate } from "../access/auth-request.ts";
import { carrierOf, isOnOwnPort } from "./connections.ts";
import type { ServerRequest } from "./handler.ts";
import { encryptedSocket, serverOf } from "./peer.ts";
import { type CertificateNumber, certificateNumber, isRevoked, type RevocationList } from "./revocation-list.ts";

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

/** A client certificate that TLS has verified, with what may end it. */
export interface VerifiedCertificate {
  readonly certificate: ClientCertificate;
  /** When it ends, in milliseconds since the epoch. */
  readonly validTo: number;
  /** The numbers of it and of those that vouch for it. */
  readonly chain: readonly CertificateNumber[];
  /** Whether those are all, up to one that vouches for itself. */
  readonly isWhole: boolean;
}

/** The certificate that the client at the other end has shown; undefined where there is none. */
export function verifiedCertificateOf(socket: TLSSocket): VerifiedCertificate | undefined {
  // Asked once, and for all: each other way to ask makes Node forget who vouches (nodejs/node#65579).
  const shown = socket.getPeerCertificate(true) as DetailedPeerCertificate | null;
  if (shown?.raw === undefined) return undefined;
  const chain = chainOf(shown);
  const x509 = chain[0]!;
  // Several common names come as a list, of which nobody could say which one is meant.
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

/** This form alone holds those of the port's authorities that the client has not sent. The last one vouches for itself. */
function chainOf(certificate: DetailedPeerCertificate): X509Certificate[] {
  const seen = new Set<DetailedPeerCertificate>();
  for (let at = certificate; at !== undefined && !seen.has(at); at = at.issuerCertificate) seen.add(at);
  return [...seen].map(({ raw }) => new X509Certificate(raw));
}

/** Node looks for authorities by name, also among what the client has sent, which may be made up, and Node 24.21 loses some. */
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

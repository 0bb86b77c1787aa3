import { X509Certificate } from "node:crypto";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import type { ClientCertificate } from "../access/auth-request.ts";
import { type CertificateNumber, certificateNumber } from "./revocation-list.ts";

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

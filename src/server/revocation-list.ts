import { derTime, derValues, TAG } from "./der.ts";
import { canonicalName } from "./distinguished-name.ts";

/** What a list of an authority says (CRL, RFC 5280 §5). */
export interface RevocationList {
  /** The name of the authority, see {@link canonicalName}. */
  readonly issuer: string;
  /** The serial numbers of the certificates that it has revoked, in hexadecimal digits. */
  readonly serials: ReadonlySet<string>;
  /** By when there is to be a newer one, after which nothing is believed that this one says: milliseconds since the epoch. */
  readonly nextUpdate: number | undefined;
}

/** A certificate as lists name it. */
export interface CertificateNumber {
  readonly issuer: string;
  readonly serial: string;
}

const CRL = /-----BEGIN X509 CRL-----[^-]+-----END X509 CRL-----/g;

/** The lists in a text in PEM format, each by itself: of several in one text Node reads the first alone. */
export function revocationListBlocks(pem: string): string[] {
  return pem.match(CRL) ?? [];
}

/**
 * Reads one list. Whether its authority has signed it is left to OpenSSL, which asks before it lets anybody in.
 *
 * @throws Error for what is none
 */
export function decodeRevocationList(block: string): RevocationList {
  const parts = fieldsOf(Buffer.from(block.replaceAll(/-----[A-Z0-9 ]+-----/g, ""), "base64"));
  if (parts[0]?.tag === TAG.integer) parts.shift();
  const [, issuer, , ...rest] = parts;
  if (issuer === undefined) throw new Error("it names no authority");
  const isTime = rest[0]?.tag === TAG.utcTime || rest[0]?.tag === TAG.generalizedTime;
  const nextUpdate = isTime ? derTime(rest.shift()!) : undefined;
  const revoked = rest[0]?.tag === TAG.sequence ? [...derValues(rest[0].content)] : [];
  return {
    issuer: canonicalName(issuer),
    serials: new Set(revoked.map(({ content }) => hexOf(derValues(content).next().value?.content))),
    nextUpdate,
  };
}

/**
 * How lists name a certificate.
 *
 * @param der the certificate
 */
export function certificateNumber(der: Buffer): CertificateNumber {
  const [serial, , issuer] = fieldsOf(der).filter(({ tag }) => tag === TAG.integer || tag === TAG.sequence);
  if (issuer === undefined) throw new Error("it names no authority");
  return { serial: hexOf(serial?.content), issuer: canonicalName(issuer) };
}

/** Whether the list says that this certificate is revoked. */
export function isRevoked({ issuer, serials }: RevocationList, number: CertificateNumber): boolean {
  return issuer === number.issuer && serials.has(number.serial);
}

/** The fields of what is signed, in a certificate and in a list alike. */
function fieldsOf(der: Buffer) {
  const [signed] = derValues(der);
  const [fields] = derValues(signed!.content);
  return [...derValues(fields!.content)];
}

function hexOf(bytes: Buffer | undefined): string {
  if (bytes === undefined) throw new Error("it is not whole");
  return bytes.toString("hex");
}

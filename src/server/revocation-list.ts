/** The content of an authority's revocation list (CRL, RFC 5280 §5). */
export interface RevocationList {
  /** The name of the authority, see {@link canonicalName}. */
  readonly issuer: string;
  /** The serial numbers of the certificates that it has revoked, in hexadecimal digits. */
  readonly serials: ReadonlySet<string>;
  /** When a newer list must replace this one, after which this one is not valid; milliseconds since the epoch. */
  readonly nextUpdate: number | undefined;
}

/** A certificate as lists name it. */
export interface CertificateNumber {
  readonly issuer: string;
  readonly serial: string;
}

const CRL = /-----BEGIN X509 CRL-----[^-]+-----END X509 CRL-----/g;

/** The lists in a text in PEM format, separately, because Node.js reads only the first one of a text. */
export function revocationListBlocks(pem: string): string[] {
  return pem.match(CRL) ?? [];
}

/**
 * Reads one list. OpenSSL verifies its signature when clients connect.
 *
 * @throws Error if it is not a revocation list
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

/** How the kinds of text in a name are written, by their tags (X.680 §8.6). */
const TEXT: Readonly<Record<number, (bytes: Buffer) => string>> = {
  12: (bytes) => bytes.toString("utf8"),
  19: (bytes) => bytes.toString("latin1"),
  20: (bytes) => bytes.toString("latin1"),
  22: (bytes) => bytes.toString("latin1"),
  26: (bytes) => bytes.toString("latin1"),
  30: (bytes) => Buffer.from(bytes).swap16().toString("utf16le"),
};

/**
 * The normalized name of an authority, independent of its string type, capitals and spaces, as RFC 5280 §7.1 and OpenSSL compare
 * names. Programs that sign lists may encode the name of the authority differently.
 *
 * @throws RangeError if it is not a name
 */
export function canonicalName(name: DerValue): string {
  const parts = [...derValues(name.content)].map(({ content }) => [...derValues(content)].map(attribute).sort());
  return JSON.stringify(parts);
}

function attribute({ content }: DerValue): string {
  const [type, value] = derValues(content);
  if (type === undefined || value === undefined) throw new RangeError("a name is not whole");
  return `${type.content.toString("hex")} ${textOf(value)}`;
}

function textOf({ tag, content, bytes }: DerValue): string {
  const text = TEXT[tag]?.(content);
  return text === undefined ? bytes.toString("hex") : text.trim().replace(/\s+/g, " ").toLowerCase();
}

/** One value in DER: what kind it is, what it holds, and all of its bytes. */
export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  readonly bytes: Buffer;
}

/** The tags that are told apart (X.690 §8, ITU-T X.680 §8.6). */
export const TAG = { integer: 0x02, sequence: 0x30, utcTime: 0x17, generalizedTime: 0x18 } as const;

/**
 * The values that stand one after the other, as in the content of a SEQUENCE.
 *
 * @throws RangeError where they do not end where the bytes do
 */
export function* derValues(bytes: Buffer): Generator<DerValue> {
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes.readUInt8(at);
    const first = bytes.readUInt8(at + 1);
    const wide = first < 0x80 ? 0 : first & 0x7f;
    // The indefinite length of BER is not DER. It looks like a length of no bytes, which `readUIntBE` refuses.
    const length = first < 0x80 ? first : bytes.readUIntBE(at + 2, wide);
    const begin = at + 2 + wide;
    const end = begin + length;
    if (end > bytes.length) throw new RangeError("a value goes on beyond the end");
    yield { tag, content: bytes.subarray(begin, end), bytes: bytes.subarray(at, end) };
    at = end;
  }
}

/**
 * Milliseconds since the epoch of a UTCTime or GeneralizedTime.
 *
 * @throws RangeError for one that is not as RFC 5280 §4.1.2.5 has them
 */
export function derTime({ tag, content }: DerValue): number {
  const text = content.toString("latin1");
  const short = tag === TAG.utcTime;
  const [, year, month, day, hour, minute, second] = (short ? UTC_TIME : GENERALIZED_TIME).exec(text) ?? [];
  const century = !short ? "" : Number(year) < 50 ? "20" : "19";
  const time = Date.parse(`${century}${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(time)) throw new RangeError("it is not a time");
  return time;
}

const UTC_TIME = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;
const GENERALIZED_TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;

/** The protocols that share one port. */
export type Protocol = "http/1.1" | "h2";

/** The first bytes of an HTTP/2 connection with prior knowledge (RFC 9113 section 3.4). */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/**
 * The protocol of a cleartext connection that begins with these bytes; undefined while they fit both. One byte does not
 * decide: POST, PUT, PATCH and PROPFIND begin like the preface.
 */
export function protocolOf(head: Buffer): Protocol | undefined {
  const length = Math.min(head.length, PREFACE.length);
  if (PREFACE.compare(head, 0, length, 0, length) !== 0) return "http/1.1";
  return length === PREFACE.length ? "h2" : undefined;
}

/** What speaks on a port of TLS: a handshake, a request that forgot it, or nothing that could be answered. */
export type Opening = "tls" | "plain" | "unknown";

const HANDSHAKE = 22;

/** The opening that the first byte shows (RFC 8446 section 5.1); undefined for none yet. Methods of HTTP begin with a letter. */
export function openingOf([first]: Uint8Array): Opening | undefined {
  if (first === undefined) return undefined;
  if (first === HANDSHAKE) return "tls";
  return /[A-Za-z]/.test(String.fromCharCode(first)) ? "plain" : "unknown";
}

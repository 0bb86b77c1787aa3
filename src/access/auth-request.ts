import { printable } from "../common/printable.ts";

/** A client certificate that TLS has verified. */
export interface ClientCertificate {
  /** The common name of the subject; empty if it has none. */
  readonly commonName: string;
  /** Subject alternative names, such as `DNS:orders.internal` and `URI:spiffe://example.org/orders`. */
  readonly alternativeNames: readonly string[];
  /** SHA-256 of the whole certificate: lower-case hexadecimal digits without separators. */
  readonly fingerprint256: string;
}

/** The maximum length of a certificate's name in messages: one that TLS has not verified may have any. */
const MAX_NAME = 64;

/** How a certificate is named in messages, the history and the audit log: by its common name, or else its fingerprint. */
export function certificateName({ commonName, fingerprint256 }: ClientCertificate): string {
  return commonName === "" ? fingerprint256 : printable(commonName.slice(0, MAX_NAME));
}

/** What authentication knows of a request, in every protocol and before the body is read. */
export interface AuthRequest {
  /**
   * The IP address of the client, or of the nearest proxy that is not trusted. Undefined over a Unix socket; empty if the client has
   * reset its connection.
   */
  readonly address: string | undefined;
  /** The value of the header `Authorization`. */
  readonly authorization: string | undefined;
  readonly certificate: ClientCertificate | undefined;
  /** Returns the value of any header, by its lower-case name. */
  header(name: string): string | undefined;
}

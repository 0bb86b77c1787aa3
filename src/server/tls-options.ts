import { type Checks, oneOf, option, pem, text } from "../common/options.ts";

/** The path of a file in PEM format, or its content: a text that begins with `-----BEGIN`, or bytes. */
export type PemSource = string | Uint8Array;

/**
 * TLS on the port. Files are read again when they change, without an end to connections: also where they are replaced by
 * renaming, as a symbolic link of Kubernetes, or one by one. What does not fit together stays unused and is reported; the
 * last that did is in force meanwhile.
 */
export interface TlsOptions {
  /** The server's certificate, followed by those between it and its root authority. */
  readonly cert: PemSource;
  /** The private key of that certificate. */
  readonly key: PemSource;
  /** Opens `key`, where it is encrypted. */
  readonly passphrase?: string | undefined;
  /** The authorities that client certificates are verified against. No authority of the system or of Node is one. */
  readonly ca?: PemSource | undefined;
  /**
   * The lists of what those authorities have revoked (CRL), one after the other. As soon as there is one, every authority on the
   * way from a client's certificate to its root needs one that is not past its `nextUpdate`: otherwise certificates of that
   * authority are refused. OCSP is not supported.
   */
  readonly crl?: PemSource | undefined;
  /**
   * Whether clients present a certificate. `none`, the default: it is not requested. `request`: a client with one that `ca`
   * verifies is identified by it, all others are served without. `require`: only clients with one are accepted, as access control.
   * A connection that stands lives on when `ca` changes; its certificate counts until the end of its validity, or until a new
   * `crl` has it.
   */
  readonly clientCertificate?: "none" | "request" | "require" | undefined;
  /** The oldest version of TLS. Default `TLSv1.2`, of which only ciphers with forward secrecy are spoken. */
  readonly minVersion?: "TLSv1.2" | "TLSv1.3" | undefined;
}

/** The checks of {@link TlsOptions}. */
export const TLS: Checks<TlsOptions> = {
  cert: pem,
  key: pem,
  passphrase: option(text, { secret: true }),
  ca: pem,
  crl: pem,
  clientCertificate: option(oneOf("none", "request", "require"), { default: "none" }),
  minVersion: option(oneOf("TLSv1.2", "TLSv1.3"), { default: "TLSv1.2" }),
};

/** Whether every client needs a certificate of an authority that the operator chose. */
export function requiresCertificates(tls: TlsOptions | undefined): boolean {
  return tls?.clientCertificate === "require" && tls.ca !== undefined;
}

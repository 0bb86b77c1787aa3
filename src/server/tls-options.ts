import { type Checks, oneOf, option, pem, text } from "../common/options.ts";

/** The path of a file in PEM format, or its content: a text that begins with `-----BEGIN`, or bytes. */
export type PemSource = string | Uint8Array;

/**
 * TLS on the port. Files are read again when they change, without closing connections, also if they are replaced by renaming,
 * by a symbolic link of Kubernetes, or one after the other. If the new files do not match, the previous ones stay in use and
 * `onError` reports it.
 */
export interface TlsOptions {
  /** The server's certificate, followed by the intermediate certificates up to its root authority. */
  readonly cert: PemSource;
  /** The private key of that certificate. */
  readonly key: PemSource;
  /** The passphrase of `key`, if it is encrypted. */
  readonly passphrase?: string | undefined;
  /**
   * The authorities that client certificates are verified against. Those of the system and of Node.js are not trusted for them.
   */
  readonly ca?: PemSource | undefined;
  /**
   * The revocation lists (CRL) of those authorities, one after the other. If there is at least one, every authority between a
   * client's certificate and its root needs a list that is not past its `nextUpdate`; otherwise certificates of that authority
   * are refused. OCSP is not supported.
   */
  readonly crl?: PemSource | undefined;
  /**
   * Whether clients present a certificate. `none`, the default: it is not requested. `request`: a certificate that `ca`
   * verifies identifies the client; clients without one are served too. `require`: only clients with one are accepted, as
   * access control. Open connections stay open when `ca` changes; their certificates are accepted until they expire or a new
   * `crl` revokes them.
   */
  readonly clientCertificate?: "none" | "request" | "require" | undefined;
  /** The oldest version of TLS. Default `TLSv1.2`, with forward-secret ciphers only. */
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

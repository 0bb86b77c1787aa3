/** A client certificate that TLS has verified. */
export interface ClientCertificate {
  /** The common name of the subject; empty where it has none. */
  readonly commonName: string;
  /** Subject alternative names, such as `DNS:orders.internal` and `URI:spiffe://example.org/orders`. */
  readonly alternativeNames: readonly string[];
  /** SHA-256 of the whole certificate: lower-case hexadecimal digits without separators. */
  readonly fingerprint256: string;
}

/** All that is known of a request when it is decided whether it is let in: before its body is read, whatever the protocol. */
export interface AuthRequest {
  /**
   * The IP address of the client, or of the nearest proxy that is not trusted; undefined over a Unix socket, and empty where
   * the client has reset its connection, which says nothing of where it was.
   */
  readonly address: string | undefined;
  /** The value of the header `Authorization`. */
  readonly authorization: string | undefined;
  readonly certificate: ClientCertificate | undefined;
  /** Any header of the request, by its lower-case name. */
  header(name: string): string | undefined;
}

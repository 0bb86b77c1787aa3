import { constants } from "node:crypto";
import type { SecureContextOptions, TlsOptions as ServerTlsOptions } from "node:tls";
import type { Limits } from "./limits.ts";
import { revocationListBlocks } from "./revocation-list.ts";
import type { TlsOptions } from "./tls-options.ts";
import type { TlsPem } from "./tls-pem.ts";

/** Forward secrecy and authenticated encryption only: what RFC 9113 appendix A leaves of TLS 1.2, and all of TLS 1.3. */
const CIPHERS = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
  // No key below 112 bits of strength, as Node 24 has it of itself and Node 22 has not.
  "@SECLEVEL=2",
].join(":");

/** How a port negotiates, whatever its certificate. */
export function tlsSettings({ clientCertificate = "none" }: TlsOptions, limits: Limits): ServerTlsOptions {
  return {
    ALPNProtocols: ["h2", "http/1.1", "http/1.0"],
    requestCert: clientCertificate !== "none",
    rejectUnauthorized: clientCertificate === "require",
    handshakeTimeout: limits.handshakeTimeoutMs,
  };
}

/** What a context is made of. */
export function secureContextOptions(
  { passphrase, clientCertificate = "none", minVersion = "TLSv1.2" }: TlsOptions,
  { cert, key, ca, crl }: TlsPem,
): SecureContextOptions {
  // A second handshake on a connection costs its client little and this process much, and could change who is there.
  const options = constants.SSL_OP_NO_RENEGOTIATION;
  return {
    cert,
    key,
    ...(ca === undefined ? {} : { ca }),
    ...(crl === undefined ? {} : { crl: revocationListBlocks(crl.toString("latin1")) }),
    ...(passphrase === undefined ? {} : { passphrase }),
    minVersion,
    maxVersion: "TLSv1.3",
    ciphers: CIPHERS,
    honorCipherOrder: true,
    // A session that goes on elsewhere would skip the certificate, though it may have ended or its authority be gone.
    secureOptions: clientCertificate === "none" ? options : options | constants.SSL_OP_NO_TICKET,
  };
}

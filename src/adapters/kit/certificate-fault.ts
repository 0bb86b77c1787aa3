/**
 * What is wrong with the certificate of a server that a connection was refused for, by the code of OpenSSL or Node.js, such
 * as SELF_SIGNED_CERT_IN_CHAIN: https://nodejs.org/docs/latest-v24.x/api/tls.html#x509-certificate-error-codes. undefined:
 * the error is another.
 */
export function certificateFault(error: unknown): string | undefined {
  const code: unknown = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" && /CERT|SELF_SIGNED|UNABLE_TO_/.test(code) ? code : undefined;
}

/** What to do about it, as the rest of a sentence about the certificate. */
export const CERTIFICATE_ADVICE =
  "It has to be for this host and in force, and NODE_EXTRA_CA_CERTS has to name the authority that signed it where Node.js " +
  "does not know it.";

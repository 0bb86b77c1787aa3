/**
 * Returns the code of OpenSSL or Node.js, such as SELF_SIGNED_CERT_IN_CHAIN, if a connection failed because of the server's
 * certificate: https://nodejs.org/docs/latest-v24.x/api/tls.html#x509-certificate-error-codes. undefined: another error.
 */
export function certificateFault(error: unknown): string | undefined {
  const code: unknown = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" && /CERT|SELF_SIGNED|UNABLE_TO_/.test(code) ? code : undefined;
}

/** What to do about a rejected certificate, as a sentence. */
export const CERTIFICATE_ADVICE =
  "It must be valid for this host and in force; if Node.js does not know the authority that signed it, name that in " +
  "NODE_EXTRA_CA_CERTS.";

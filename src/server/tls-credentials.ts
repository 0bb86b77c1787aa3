import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { decodeRevocationList, type RevocationList, revocationListBlocks } from "./revocation-list.ts";
import type { PemSource, TlsOptions } from "./tls-options.ts";
import { type Field, nameOf, readPem, type TlsPem, unfit } from "./tls-pem.ts";
import { secureContextOptions } from "./tls-settings.ts";

/** What a port proves itself with, and whom it believes: each is sound, and they fit together. */
export interface TlsCredentials {
  /** What Node makes a context of. */
  readonly context: SecureContextOptions;
  readonly certificate: X509Certificate;
  /** What the authorities of clients have revoked. */
  readonly revocations: readonly RevocationList[];
  /** What they were made of. */
  readonly pem: TlsPem;
}

/**
 * Reads the certificate, its key and the authorities, and checks that they fit together.
 *
 * @throws ActuatorError FAILED_PRECONDITION that names the option in `metadata.field`, the file, and what is wrong with it
 */
export async function readCredentials(options: TlsOptions): Promise<TlsCredentials> {
  return credentialsOf(options, await readPem(options));
}

/** Checks that what was read fits together; throws as {@link readCredentials} does. */
export function credentialsOf(options: TlsOptions, pem: TlsPem): TlsCredentials {
  const { cert, key, ca, crl } = pem;
  const [certificate] = certificatesOf("cert", options.cert, cert);
  if (ca !== undefined) certificatesOf("ca", options.ca!, ca);
  const privateKey = privateKeyOf(options, key);
  if (!certificate!.checkPrivateKey(privateKey)) {
    const message = `${nameOf("key", options.key)} does not belong to ${nameOf("cert", options.cert)}`;
    throw unfit("TLS_KEY_MISMATCH", "key", message);
  }
  const revocations = crl === undefined ? [] : revocationListsOf(options.crl!, crl);
  const context = secureContextOptions(options, pem);
  try {
    createSecureContext(context);
  } catch (error) {
    throw unfit("TLS_REFUSED", "cert", `OpenSSL takes neither: ${(error as Error).message}`, error);
  }
  return { context, certificate: certificate!, revocations, pem };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function certificatesOf(field: Field, source: PemSource, content: Buffer): X509Certificate[] {
  const text = content.toString("latin1");
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) {
    const hint = /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text) ? "; it holds a private key" : "";
    throw unfit("TLS_NOT_PEM", field, `${nameOf(field, source)} holds no certificate in PEM format${hint}`);
  }
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (error) {
    throw unfit("TLS_NOT_PEM", field, `${nameOf(field, source)} holds a damaged certificate`, error);
  }
}

function revocationListsOf(source: PemSource, content: Buffer): RevocationList[] {
  const text = content.toString("latin1");
  const blocks = revocationListBlocks(text);
  if (blocks.length === 0)
    throw unfit("TLS_NOT_PEM", "crl", `${nameOf("crl", source)} holds no revocation list in PEM format`);
  try {
    if (text.split("-----BEGIN X509 CRL-----").length - 1 !== blocks.length) throw new Error("one has no end");
    createSecureContext({ crl: blocks });
    return blocks.map(decodeRevocationList);
  } catch (error) {
    throw unfit("TLS_NOT_PEM", "crl", `${nameOf("crl", source)} holds a damaged revocation list`, error);
  }
}

function privateKeyOf({ key: source, passphrase }: TlsOptions, key: Buffer): KeyObject {
  const name = nameOf("key", source);
  const text = key.toString("latin1");
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    const hint = text.includes("-----BEGIN CERTIFICATE-----") ? "; it holds a certificate" : "";
    throw unfit("TLS_NOT_PEM", "key", `${name} holds no private key in PEM format${hint}`);
  }
  const encrypted = /ENCRYPTED/.test(text);
  if (encrypted && passphrase === undefined) {
    throw unfit("TLS_PASSPHRASE", "passphrase", `${name} is encrypted, and there is no \`passphrase\``);
  }
  try {
    return createPrivateKey({ key, format: "pem", ...(passphrase === undefined ? {} : { passphrase }) });
  } catch (error) {
    if (encrypted) throw unfit("TLS_PASSPHRASE", "passphrase", `the \`passphrase\` does not open ${name}`, error);
    throw unfit("TLS_NOT_PEM", "key", `${name} holds a damaged private key`, error);
  }
}

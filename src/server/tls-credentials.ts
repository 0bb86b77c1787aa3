import { constants, createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { SecureContextOptions, TlsOptions as ServerTlsOptions } from "node:tls";
import { ActuatorError } from "../common/error.ts";
import { readBounded } from "../common/files/bounded-file.ts";
import { nodeTls } from "../common/node-http.ts";
import type { Limits } from "./limits.ts";
import { decodeRevocationList, type RevocationList, revocationListBlocks } from "./revocation-list.ts";
import type { PemSource, TlsOptions } from "./tls-options.ts";

/** The checked credentials of a port: its certificate and key, and the authorities of its clients. */
export interface TlsCredentials {
  /** The options of the secure context. */
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
    nodeTls().createSecureContext(context);
  } catch (error) {
    throw unfit("TLS_REFUSED", "cert", `OpenSSL accepts neither: ${(error as Error).message}`, error);
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
    nodeTls().createSecureContext({ crl: blocks });
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

/** The contents of the sources of a port's credentials. */
export interface TlsPem {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | undefined;
  readonly crl: Buffer | undefined;
}

/** The option of one of the sources. */
export type Field = keyof TlsPem;

/** Larger than any chain of certificates. A large authority has some 100,000 revoked certificates. */
const MAX_BYTES: Readonly<Record<Field, number>> = {
  cert: 1_048_576,
  key: 1_048_576,
  ca: 1_048_576,
  crl: 16 * 1_048_576,
};

/**
 * Reads what the options name.
 *
 * @throws ActuatorError FAILED_PRECONDITION that names the option and the file, where one is missing, no file or too large
 */
export async function readPem(options: TlsOptions): Promise<TlsPem> {
  const [cert, key, ca, crl] = await Promise.all([
    read("cert", options.cert),
    read("key", options.key),
    options.ca === undefined ? undefined : read("ca", options.ca),
    options.crl === undefined ? undefined : read("crl", options.crl),
  ]);
  return { cert, key, ca, crl };
}

/** The files that the options name. */
export function pemPaths({ cert, key, ca, crl }: TlsOptions): string[] {
  return [cert, key, ca, crl].flatMap((source) => (source && pathOf(source)) ?? []);
}

/** The path that a source names; undefined where it is the content itself. */
function pathOf(source: PemSource): string | undefined {
  return typeof source === "string" && !source.includes("-----BEGIN") ? source : undefined;
}

async function read(field: Field, source: PemSource): Promise<Buffer> {
  const path = pathOf(source);
  if (path === undefined) return separated(Buffer.from(source as string));
  try {
    return separated(await readBounded(path, MAX_BYTES[field]));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const fault = code === undefined ? `cannot be used: ${message}` : (FAULTS[code] ?? `fails with ${code}`);
    throw unfit("TLS_FILE_UNREADABLE", field, `${nameOf(field, source)} ${fault}`, error);
  }
}

/** Of files that were put together without a line break between them, OpenSSL would take the first alone and say nothing. */
function separated(content: Buffer): Buffer {
  if (!content.includes("----------BEGIN")) return content;
  return Buffer.from(content.toString("latin1").replaceAll("----------BEGIN", "-----\n-----BEGIN"), "latin1");
}

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  ENOTDIR: "does not exist",
  EACCES: "may not be read by this process",
  EPERM: "may not be read by this process",
};

/** The name of a source for messages. Its content is never shown. */
export function nameOf(field: Field, source: PemSource): string {
  const path = pathOf(source);
  return path === undefined ? `the \`${field}\` option` : `the \`${field}\` file ${path}`;
}

/** An error of what the options name. */
export function unfit(reason: string, field: string, message: string, cause?: unknown): ActuatorError {
  const metadata = { field: `tls.${field}` };
  return new ActuatorError("FAILED_PRECONDITION", reason, `TLS: ${message}`, metadata, { cause });
}

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

/** The settings of the handshake. */
export function tlsSettings({ clientCertificate = "none" }: TlsOptions, limits: Limits): ServerTlsOptions {
  return {
    ALPNProtocols: ["h2", "http/1.1", "http/1.0"],
    requestCert: clientCertificate !== "none",
    rejectUnauthorized: clientCertificate === "require",
    handshakeTimeout: limits.handshakeTimeoutMs,
  };
}

/** The options of a secure context. */
export function secureContextOptions(
  { passphrase, clientCertificate = "none", minVersion = "TLSv1.2" }: TlsOptions,
  { cert, key, ca, crl }: TlsPem,
): SecureContextOptions {
  // A second handshake costs the client little and this process much, and could change the client's identity.
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
    // A resumed session would skip the certificate, which may have expired or lost its authority.
    secureOptions: clientCertificate === "none" ? options : options | constants.SSL_OP_NO_TICKET,
  };
}

import { ActuatorError } from "../common/error.ts";
import { readBounded } from "../common/files/bounded-file.ts";
import type { PemSource, TlsOptions } from "./tls-options.ts";

/** What the sources of a port's credentials hold. */
export interface TlsPem {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | undefined;
  readonly crl: Buffer | undefined;
}

/** An option that names some of it. */
export type Field = keyof TlsPem;

/** More than any chain of certificates; a file beyond it is not one. A large authority has some 100,000 to revoke. */
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

/** A source as messages call it. Its content is never shown. */
export function nameOf(field: Field, source: PemSource): string {
  const path = pathOf(source);
  return path === undefined ? `the \`${field}\` option` : `the \`${field}\` file ${path}`;
}

/** An error of what the options name. */
export function unfit(reason: string, field: string, message: string, cause?: unknown): ActuatorError {
  const metadata = { field: `tls.${field}` };
  return new ActuatorError("FAILED_PRECONDITION", reason, `TLS: ${message}`, metadata, { cause });
}

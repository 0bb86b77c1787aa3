import { ActuatorError } from "../common/error.ts";
import { type Checks, checkOptions, text } from "../common/options.ts";
import { parseStrictJson } from "../common/strict-json.ts";
import { DecodedFile } from "./decoded-file.ts";
import { timestamp } from "./token-file.ts";

/** The maximum size of the file in bytes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** One revoked JWT by its `jti`, or the JWTs of a subject. */
export interface RevokedJwt {
  readonly jti?: string | undefined;
  readonly sub?: string | undefined;
  /** Revokes only the JWTs of the subject that were issued before this time, RFC 3339. Default: all. */
  readonly issuedBefore?: string | undefined;
}

interface RevokedJwtsFile {
  readonly version: 1;
  readonly revoked: readonly RevokedJwt[];
}

interface Revocations {
  readonly ids: ReadonlySet<unknown>;
  /** By subject: JWTs that were issued before this time, in milliseconds since the epoch, are revoked. */
  readonly subjects: ReadonlyMap<unknown, number>;
}

/** The claims that tell whether a JWT is revoked. */
export interface JwtClaimsToRevoke {
  readonly jti: string | undefined;
  readonly sub: string | undefined;
  /** Seconds since the epoch. */
  readonly iat: number | undefined;
}

const FILE: Checks<RevokedJwtsFile> = {
  version: (value) => (value === 1 ? undefined : "must be 1, the only supported version"),
  revoked: (value) => (Array.isArray(value) ? undefined : "must be a list"),
};

const ENTRY: Checks<RevokedJwt> = { jti: text, sub: text, issuedBefore: timestamp };

/** The revoked JWTs of a file, which is followed; while it cannot be read, its last content stays in force. */
export class RevokedJwts {
  readonly #file: DecodedFile<Revocations>;

  /** @throws ActuatorError INVALID_ARGUMENT if the file cannot be read or is not valid */
  constructor(path: string, onError: (error: unknown) => void) {
    this.#file = new DecodedFile(path, { maxBytes: MAX_BYTES, decode, toError: unusableFile, onError });
  }

  /** Whether a JWT is revoked. One without `iat` counts as issued before any time. */
  has({ jti, sub, iat }: JwtClaimsToRevoke): boolean {
    const { ids, subjects } = this.#file.value;
    const issuedAt = typeof iat === "number" ? iat * 1_000 : Number.NEGATIVE_INFINITY;
    return ids.has(textOf(jti)) || issuedAt < (subjects.get(textOf(sub)) ?? Number.NEGATIVE_INFINITY);
  }

  close(): void {
    this.#file.close();
  }
}

/** The claim as a string: some issuers write the numbers of their users. */
function textOf(claim: unknown): unknown {
  return typeof claim === "number" ? String(claim) : claim;
}

function decode(bytes: Uint8Array): Revocations {
  const content = parseStrictJson(bytes);
  checkOptions("the file", content, FILE);
  const { version, revoked } = content as RevokedJwtsFile;
  if (version === undefined || revoked === undefined) throw new Error("must have version and revoked");
  const ids = new Set<string>();
  const subjects = new Map<string, number>();
  for (const [index, entry] of revoked.entries()) {
    checkOptions(`revoked[${index}]`, entry, ENTRY);
    const { jti, sub, issuedBefore } = entry;
    if ((jti === undefined) === (sub === undefined)) {
      throw new Error(`revoked[${index}] must have either jti or sub`);
    }
    if (jti !== undefined && issuedBefore !== undefined) {
      throw new Error(`revoked[${index}] must not have issuedBefore, which needs sub instead of jti`);
    }
    const end = issuedBefore === undefined ? Number.POSITIVE_INFINITY : Date.parse(issuedBefore);
    if (jti !== undefined) ids.add(jti);
    if (sub !== undefined) subjects.set(sub, Math.max(end, subjects.get(sub) ?? end));
  }
  return { ids, subjects };
}

function unusableFile(path: string, cause: unknown): ActuatorError {
  const { code, message: why } = cause as NodeJS.ErrnoException;
  const reason = cause instanceof ActuatorError || code === undefined ? why : code;
  const message = `access.jwt.revoked: ${path} cannot be used (${reason}).`;
  const metadata = { field: "access.jwt.revoked" };
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_REVOKED_JWTS", message, metadata, { cause });
}

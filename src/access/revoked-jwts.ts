import { ActuatorError } from "../common/error.ts";
import { type Checks, checkOptions, text } from "../common/options.ts";
import { parseStrictJson } from "../common/strict-json.ts";
import { DecodedFile } from "./decoded-file.ts";
import { timestamp } from "./timestamp.ts";

/** The most bytes that the file may have. */
const MAX_BYTES = 4 * 1024 * 1024;

/** JWTs that count no more: one by its `jti`, or those of a subject. */
export interface RevokedJwt {
  readonly jti?: string | undefined;
  readonly sub?: string | undefined;
  /** Of the subject those that were issued before this time, RFC 3339. Left out: all. */
  readonly issuedBefore?: string | undefined;
}

interface RevokedJwtsFile {
  readonly version: 1;
  readonly revoked: readonly RevokedJwt[];
}

/** What is taken back, to be looked up. */
interface Revoked {
  readonly ids: ReadonlySet<unknown>;
  /** Until when those were issued that are taken back, by their subject: milliseconds since the epoch. */
  readonly subjects: ReadonlyMap<unknown, number>;
}

/** What is known of a JWT when it is asked later whether it still counts. */
export interface JwtOrigin {
  readonly jti: string | undefined;
  readonly sub: string | undefined;
  /** Seconds since the epoch. */
  readonly iat: number | undefined;
}

const FILE: Checks<RevokedJwtsFile> = {
  version: (value) => (value === 1 ? undefined : "must be 1, the only version there is"),
  revoked: (value) => (Array.isArray(value) ? undefined : "must be a list"),
};

const ENTRY: Checks<RevokedJwt> = { jti: text, sub: text, issuedBefore: timestamp };

/** The JWTs that a file takes back, as the file is now; where it cannot be read, as it was before. */
export class RevokedJwts {
  readonly #file: DecodedFile<Revoked>;

  /** @throws ActuatorError INVALID_ARGUMENT where it cannot be read or has a fault */
  constructor(path: string, onError: (error: unknown) => void) {
    this.#file = new DecodedFile(path, { maxBytes: MAX_BYTES, decode: decodeRevoked, unusable, onError });
  }

  /** Whether a JWT counts no more. One that does not say when it was issued was issued before any time. */
  has({ jti, sub, iat }: JwtOrigin): boolean {
    const { ids, subjects } = this.#file.value;
    const issuedAt = typeof iat === "number" ? iat * 1_000 : Number.NEGATIVE_INFINITY;
    return ids.has(textOf(jti)) || issuedAt < (subjects.get(textOf(sub)) ?? Number.NEGATIVE_INFINITY);
  }

  close(): void {
    this.#file.close();
  }
}

/** The claim as the file has it: some issuers count their users, and write numbers. */
function textOf(claim: unknown): unknown {
  return typeof claim === "number" ? String(claim) : claim;
}

function decodeRevoked(bytes: Uint8Array): Revoked {
  const content = parseStrictJson(bytes);
  checkOptions("the file", content, FILE);
  const { version, revoked } = content as RevokedJwtsFile;
  if (version === undefined || revoked === undefined) throw new Error("must have a version and revoked");
  const ids = new Set<string>();
  const subjects = new Map<string, number>();
  for (const [index, entry] of revoked.entries()) {
    checkOptions(`revoked[${index}]`, entry, ENTRY);
    const { jti, sub, issuedBefore } = entry;
    if ((jti === undefined) === (sub === undefined))
      throw new Error(`revoked[${index}] must have a jti or a sub, and not both`);
    if (jti !== undefined && issuedBefore !== undefined)
      throw new Error(`revoked[${index}] has a jti, and issuedBefore goes with a sub`);
    const end = issuedBefore === undefined ? Number.POSITIVE_INFINITY : Date.parse(issuedBefore);
    if (jti !== undefined) ids.add(jti);
    if (sub !== undefined) subjects.set(sub, Math.max(end, subjects.get(sub) ?? end));
  }
  return { ids, subjects };
}

function unusable(path: string, cause: unknown): ActuatorError {
  const { code, message: why } = cause as NodeJS.ErrnoException;
  const reason = cause instanceof ActuatorError || code === undefined ? why : code;
  const message = `access.jwt.revoked: ${path} cannot be used (${reason}).`;
  return new ActuatorError(
    "INVALID_ARGUMENT",
    "INVALID_REVOKED_JWTS",
    message,
    { field: "access.jwt.revoked" },
    { cause },
  );
}

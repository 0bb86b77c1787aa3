import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * A token is `ca_`, 12 hexadecimal digits that find it in the file, `_`, and a secret of 256 random bits in base64url. The
 * digits are not secret; the prefix lets scanners of source code find tokens that were committed.
 */
const TOKEN = /^ca_([0-9a-f]{12})_[\w-]{43}$/;

/** A hash as it is stored: the algorithm and 64 hexadecimal digits. */
const HASH = /^sha256:[0-9a-f]{64}$/;
const ID = /^[0-9a-f]{12}$/;

/** A newly created token. */
export interface NewToken {
  /** The secret, for the caller who will use it; it is stored nowhere. */
  readonly token: string;
  readonly id: string;
  /** What the token file stores instead of the token. */
  readonly hash: string;
}

/** Creates a random token. */
export function createToken(): NewToken {
  const id = randomBytes(6).toString("hex");
  const token = `ca_${id}_${randomBytes(32).toString("base64url")}`;
  return { token, id, hash: hashToken(token) };
}

/** The digits of a token that find it in the file; undefined for a string that is not a token. */
export function tokenId(token: string): string | undefined {
  return TOKEN.exec(token)?.[1];
}

/** Whether a value has the form of the digits that find a token. */
export function isTokenId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value);
}

/**
 * Hashes a token for storage. A plain SHA-256 is enough: slow salted hashes protect passwords that people chose, but 2^256 random secrets
 * cannot be tried (NIST SP 800-63B §5.1.2.2 requires no more for secrets of 112 bits).
 */
export function hashToken(token: string): string {
  return `sha256:${createHash("sha256").update(token).digest("hex")}`;
}

/** Whether a value has the form of a result of {@link hashToken}. */
export function isTokenHash(value: unknown): value is string {
  return typeof value === "string" && HASH.test(value);
}

/** Compares two hashes in constant time. */
export function sameHash(a: string, b: string): boolean {
  const [first, second] = [Buffer.from(a), Buffer.from(b)];
  return first.length === second.length && timingSafeEqual(first, second);
}

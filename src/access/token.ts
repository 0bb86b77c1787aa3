import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * A token is `ca_`, 12 hexadecimal digits that find it in the file, `_`, and a secret of 256 random bits in base64url. The
 * digits are no secret; the prefix lets scanners of source code find tokens that were committed.
 */
const TOKEN = /^ca_([0-9a-f]{12})_[\w-]{43}$/;

/** A hash as it is written: the algorithm and 64 hexadecimal digits. */
const HASH = /^sha256:[0-9a-f]{64}$/;
const ID = /^[0-9a-f]{12}$/;

/** A token that was just made. */
export interface NewToken {
  /** Goes to whoever is to use it, and nowhere else. */
  readonly token: string;
  readonly id: string;
  /** What is kept in its place. */
  readonly hash: string;
}

/** Makes a token that nobody can guess. */
export function createToken(): NewToken {
  const id = randomBytes(6).toString("hex");
  const token = `ca_${id}_${randomBytes(32).toString("base64url")}`;
  return { token, id, hash: hashToken(token) };
}

/** The part of a token that finds it in the file; undefined for what has not the form of one. */
export function tokenId(token: string): string | undefined {
  return TOKEN.exec(token)?.[1];
}

/** Whether a value can be the part of a token that finds it. */
export function isTokenId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value);
}

/**
 * What is stored of a token. A plain SHA-256 is enough: what slow hashes with a salt protect is passwords that somebody thought
 * of, and no hardware tries 2^256 random secrets (NIST SP 800-63B §5.1.2.2 asks for no more of secrets with 112 bits).
 */
export function hashToken(token: string): string {
  return `sha256:${createHash("sha256").update(token).digest("hex")}`;
}

/** Whether a value is what {@link hashToken} gives. */
export function isTokenHash(value: unknown): value is string {
  return typeof value === "string" && HASH.test(value);
}

/** Compares two hashes in the same time wherever they differ. */
export function sameHash(a: string, b: string): boolean {
  const [first, second] = [Buffer.from(a), Buffer.from(b)];
  return first.length === second.length && timingSafeEqual(first, second);
}

import { hash } from "node:crypto";

const MAX_LENGTH = 512;
const CONTROL_CHARACTER = /\p{Cc}/u;
const DOT_SEGMENT = /(?:^|[/\\])\.{1,2}(?:[/\\]|$)/;

/**
 * Checks whether a session can have this id: 1 to 512 UTF-16 code units, no control character, and no `.` or `..` between
 * slashes, because some stores make a file name from the id. Any other id is simply not found.
 */
export function isSessionId(id: string): boolean {
  return id !== "" && id.length <= MAX_LENGTH && !CONTROL_CHARACTER.test(id) && !DOT_SEGMENT.test(id);
}

/**
 * Returns 32 hexadecimal digits that stand for a session's id in indexes: the first half of the SHA-256 of its UTF-8. Ids
 * are random and cannot be guessed from it, so an index may hold the digest where the id must not appear.
 */
export function sessionDigest(id: string): string {
  return hash("sha256", id, "hex").slice(0, 32);
}

import { hash } from "node:crypto";

/**
 * 32 hexadecimal digits that stand for a session's id in indexes: the first half of the SHA-256 of its UTF-8. An id is
 * random and cannot be guessed from it, so that an index may hold it where the id must not stand.
 */
export function sessionDigest(id: string): string {
  return hash("sha256", id, "hex").slice(0, 32);
}

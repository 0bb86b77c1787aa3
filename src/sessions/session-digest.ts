import { createHash } from "node:crypto";

/**
 * 32 hexadecimal digits that stand for a session's id in indexes: the first half of the SHA-256 of its UTF-8. An id is
 * random and cannot be guessed from it, so that an index may hold it where the id must not stand.
 */
export function sessionDigest(id: string): string {
  return createHash("sha256").update(id, "utf8").digest("hex").slice(0, 32);
}

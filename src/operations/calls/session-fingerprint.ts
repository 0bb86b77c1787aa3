import { createHash } from "node:crypto";

/**
 * What stands for the id of a session in books, as whoever asked wrote it: the first 12 hexadecimal digits of its SHA-256. The
 * id itself may be a credential, and what somebody typed may be one of another system.
 */
export function sessionFingerprint(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 12);
}

import { hkdfSync, randomBytes } from "node:crypto";

/** What keeps a store's own ids from callers. */
export interface SessionKeys {
  /** 16 bytes, for {@link SessionHandles}. */
  readonly handles: Buffer;
  /** 32 bytes, for {@link PageSeal}. */
  readonly pages: Buffer;
}

/** Keys of which neither tells anything of the other or of what they are made from (HKDF with SHA-256, RFC 5869). */
export function sessionKeys(idKey: string | Uint8Array = randomBytes(32)): SessionKeys {
  const derive = (purpose: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync("sha256", idKey, "", `connect-actuator ${purpose}`, bytes));
  return { handles: derive("session ids", 16), pages: derive("session pages", 32) };
}

let told = false;

/** Tells the operator, once in the life of the process, what it means that nobody configured a key. */
export function tellOfRandomKey(): void {
  if (told) return;
  told = true;
  const message =
    "session ids are shown as hashes under a key that was made just now: they change with each start and differ between instances, " +
    "unless createActuator.sessions.idKey is given";
  process.emitWarning(message, "SessionIdWarning");
}

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { sessionDigest } from "./session-id.ts";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Replaces session ids with handles: the session's digest, encrypted under a key, in the shape of a UUID. The key turns a
 * handle back into the digest; nothing turns it back into the id.
 */
export class SessionHandles {
  readonly #encrypt: (digest: string) => string;
  readonly #decrypt: (digest: string) => string;

  /** @param key 16 bytes */
  constructor(key: Buffer) {
    // A single AES block is what is wanted: a keyed permutation of 16 bytes. There is nothing to chain or pad.
    const cipher = createCipheriv("aes-128-ecb", key, null).setAutoPadding(false);
    const decipher = createDecipheriv("aes-128-ecb", key, null).setAutoPadding(false);
    this.#encrypt = (digest) => cipher.update(digest, "hex", "hex");
    this.#decrypt = (digest) => decipher.update(digest, "hex", "hex");
  }

  /** Returns the handle of the session with this id; the same key gives the same handle. */
  handleOf(id: string): string {
    return this.handlesOf([id])[0]!;
  }

  /** Returns the handle of each session. A call of the cipher costs more than a block does, so one call encrypts all. */
  handlesOf(ids: readonly string[]): string[] {
    const hex = this.#encrypt(ids.map(sessionDigest).join(""));
    return ids.map((_, index) => uuid(hex, index * 32));
  }

  /**
   * Returns the digest in a handle; undefined for a text that no key produces. A handle made with another key yields a
   * digest that no session has. Digests cannot be chosen without the key, so comparing them needs no constant time.
   */
  digestOf(handle: string): string | undefined {
    if (!UUID.test(handle)) return undefined;
    return this.#decrypt(handle.replaceAll("-", ""));
  }
}

function uuid(hex: string, from: number): string {
  const part = (begin: number, end: number) => hex.slice(from + begin, from + end);
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`;
}

/** The keys that keep a store's own ids from callers. */
export interface SessionKeys {
  /** 16 bytes, for {@link SessionHandles}. */
  readonly handles: Buffer;
  /** 32 bytes, for page tokens. */
  readonly pages: Buffer;
}

/** Derives keys that reveal nothing about each other or about `idKey` (HKDF with SHA-256, RFC 5869). */
export function sessionKeys(idKey: string | Uint8Array = randomBytes(32)): SessionKeys {
  const derive = (purpose: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync("sha256", idKey, "", `connect-actuator ${purpose}`, bytes));
  return { handles: derive("session ids", 16), pages: derive("session pages", 32) };
}

let warned = false;

/** Emits a process warning, once per process, that no key is configured and what follows from it. */
export function warnAboutRandomKey(): void {
  if (warned) return;
  warned = true;
  const message =
    "session ids are shown as hashes under a random key: they change with each start and differ between instances; " +
    "set createActuator.sessions.idKey to keep them";
  process.emitWarning(message, "SessionIdWarning");
}

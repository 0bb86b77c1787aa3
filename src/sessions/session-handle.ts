import { createCipheriv, createDecipheriv } from "node:crypto";
import { sessionDigest } from "./session-digest.ts";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * What is shown in the place of session ids: the session's digest under a key, in the shape of a UUID. Whoever has the
 * key gets the digest back; nobody gets the id.
 */
export class SessionHandles {
  readonly #encrypt: (digest: string) => string;
  readonly #decrypt: (digest: string) => string;

  /** @param key 16 bytes */
  constructor(key: Buffer) {
    // AES of a single block is what is wanted: a keyed permutation of 16 bytes. There is nothing to chain or to pad.
    const cipher = createCipheriv("aes-128-ecb", key, null).setAutoPadding(false);
    const decipher = createDecipheriv("aes-128-ecb", key, null).setAutoPadding(false);
    this.#encrypt = (digest) => cipher.update(digest, "hex", "hex");
    this.#decrypt = (digest) => decipher.update(digest, "hex", "hex");
  }

  /** The handle of the session of this id; the same for the same key. */
  handleOf(id: string): string {
    const hex = this.#encrypt(sessionDigest(id));
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  /**
   * The digest in a handle; undefined for a text that no key makes. What another key made becomes a digest that no
   * session has. Nobody can aim at a digest without the key, so that comparing digests needs no constant time.
   */
  digestOf(handle: string): string | undefined {
    if (!UUID.test(handle)) return undefined;
    return this.#decrypt(handle.replaceAll("-", ""));
  }
}

import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { ActuatorError } from "../common/error.ts";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts a store's page positions, which may hold ids, into page tokens that only this service can read or make. */
export class PageSeal {
  readonly #key: KeyObject;

  /** @param key 32 bytes */
  constructor(key: Buffer) {
    // From bytes, each call would make such an object, which takes longer than the encryption.
    this.#key = createSecretKey(key);
  }

  /** Returns the token of the page after `position` in the list with these filters. */
  seal(position: string, filters: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(filters));
    const sealed = Buffer.concat([cipher.update(position, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
  }

  /**
   * Returns the position in a token.
   *
   * @throws ActuatorError INVALID_ARGUMENT for a token that was not made for the list with these filters under this key.
   */
  open(token: string, filters: string): string {
    const bytes = Buffer.from(token, "base64url");
    // Node decodes more spellings of the same bytes than the one that was issued.
    if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString("base64url") !== token) throw invalidToken();
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(filters))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      const position = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([position, decipher.final()]).toString();
    } catch {
      throw invalidToken();
    }
  }
}

function invalidToken(): ActuatorError {
  const message = "The page token does not belong to a list with these filters. Start again without a token.";
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_PAGE_TOKEN", message, { field: "page_token" });
}

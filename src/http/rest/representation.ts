import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const compress = promisify(gzip);
/** Texts up to this length are sent as they are: Node.js joins a text with the header and writes both at once. */
const MAX_JOINED_LENGTH = 16 * 1024;

/** The bytes of an answer, independent of its content type. Its tag and compressed form are made when they are first needed. */
export class Representation {
  readonly body: Buffer;
  /** What is fastest to send: the text, if it is short and ASCII, or else the bytes. */
  readonly content: string | Buffer;
  #tag: string | undefined;
  #gzip: Buffer | Promise<Buffer> | undefined;

  constructor(json: string) {
    this.body = Buffer.from(json);
    const isAscii = this.body.length === json.length;
    this.content = isAscii && json.length <= MAX_JOINED_LENGTH ? json : this.body;
  }

  /** Returns a strong entity tag: it differs with any byte, and between the plain and the compressed form. */
  entityTag(compressed: boolean): string {
    this.#tag ??= hash("sha256", this.body, "base64url").slice(0, 22);
    return compressed ? `"${this.#tag}-gzip"` : `"${this.#tag}"`;
  }

  /** Returns the compressed form; a promise the first time, because compressing must not block the application. */
  gzip(): Buffer | Promise<Buffer> {
    if (this.#gzip === undefined) {
      const compressing = compress(this.body).then((compressed) => {
        this.#gzip = compressed;
        return compressed;
      });
      this.#gzip = compressing;
    }
    return this.#gzip;
  }
}

/** Whether an `If-Match` header has a tag of the representation, plain or compressed. The comparison is strong (RFC 9110 section 13.1.1). */
export function isCurrent(ifMatch: string, representation: Representation): boolean {
  const tags = ["*", representation.entityTag(false), representation.entityTag(true)];
  return ifMatch.split(",").some((candidate) => tags.includes(candidate.trim()));
}

/**
 * Whether an `If-None-Match` header matches the entity tag. The comparison is weak (RFC 9110 section 13.1.2), because caches weaken tags.
 */
export function matchesEntityTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === tag);
}

import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const compress = promisify(gzip);
/** Bytes up to which a text is sent as it is: Node.js joins a text with the head and writes both at once. */
const JOINED_UP_TO = 16 * 1024;

/** The bytes of an answer, whatever type they are answered as, with what is derived from them when it is first needed. */
export class Representation {
  readonly body: Buffer;
  /** The same bytes as they are quickest to send: a text of ASCII alone, or the body. */
  readonly content: string | Buffer;
  #tag: string | undefined;
  #gzip: Buffer | Promise<Buffer> | undefined;

  constructor(json: string) {
    this.body = Buffer.from(json);
    const isAscii = this.body.length === json.length;
    this.content = isAscii && json.length <= JOINED_UP_TO ? json : this.body;
  }

  /** A strong entity tag: it differs with any byte, and between the plain and the compressed form. */
  entityTag(compressed: boolean): string {
    this.#tag ??= hash("sha256", this.body, "base64url").slice(0, 22);
    return compressed ? `"${this.#tag}-gzip"` : `"${this.#tag}"`;
  }

  /** The compressed form; a promise only the first time, so that compressing never holds up the application. */
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

/**
 * Whether an `If-None-Match` header names the entity tag. The comparison is the weak one, as RFC 9110 section 13.1.2 wants
 * it, because caches weaken tags on the way.
 */
export function matchesEntityTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === tag);
}

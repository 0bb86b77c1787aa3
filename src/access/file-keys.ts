import type { JSONWebKeySet } from "jose";
import { ActuatorError } from "../common/error.ts";
import { DecodedFile } from "./decoded-file.ts";
import { decodeKeySet, type KeySource, MAX_KEY_SET_BYTES } from "./key-source.ts";

/** How long the file is not read again for a key that is not known: whoever makes up key ids makes no more work than that. */
const PAUSE_MS = 1_000;

/** The keys of a file, as the file is now; where it cannot be read, as it was before. */
export class FileKeys implements KeySource {
  readonly #file: DecodedFile<JSONWebKeySet>;
  #notBefore = Number.NEGATIVE_INFINITY;

  /** @throws ActuatorError INVALID_ARGUMENT where it cannot be read or is no set of public keys */
  constructor(path: string, onError: (error: unknown) => void) {
    this.#file = new DecodedFile(path, { maxBytes: MAX_KEY_SET_BYTES, decode: decodeKeySet, unusable, onError });
  }

  keys(): JSONWebKeySet {
    return this.#file.value;
  }

  async renewed(): Promise<boolean> {
    if (performance.now() < this.#notBefore) return false;
    this.#notBefore = performance.now() + PAUSE_MS;
    const before = this.keys();
    await this.#file.check();
    return this.keys() !== before;
  }

  close(): void {
    this.#file.close();
  }
}

function unusable(path: string, cause: unknown): ActuatorError {
  const { code, message: why } = cause as NodeJS.ErrnoException;
  const message = `access.jwt.jwks: ${path} cannot be used (${code ?? why}).`;
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_KEY_SET", message, { field: "access.jwt.jwks" }, { cause });
}

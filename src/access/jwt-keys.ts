import type { JSONWebKeySet } from "jose";
import { ActuatorError } from "../common/error.ts";
import { isRecord } from "../common/record.ts";
import { DecodedFile } from "./decoded-file.ts";

/** The public keys that verify JWTs. */
export interface KeySource {
  /**
   * Returns the keys, fetched first if they are not known yet or too old.
   *
   * @throws ActuatorError UNAVAILABLE if there are none
   */
  keys(): JSONWebKeySet | Promise<JSONWebKeySet>;
  /** Looks for newer keys, for a JWT that names an unknown one. Returns whether the keys may have changed. */
  refresh(): Promise<boolean>;
  close(): void;
}

/** Makes the source for the option `access.jwt.jwks`: the keys of an address or of a file. */
export function keySource(jwks: string, onError: (error: unknown) => void): KeySource {
  return /^https?:/i.test(jwks) ? new RemoteKeys(jwks, onError) : new FileKeys(jwks, onError);
}

/** The maximum size of a key set in bytes. */
const MAX_BYTES = 256 * 1024;

/**
 * Decodes a JSON Web Key Set (RFC 7517 §5).
 *
 * @throws Error that repeats no part of the content
 */
function decodeKeySet(bytes: Uint8Array): JSONWebKeySet {
  let content: Partial<JSONWebKeySet> | null;
  try {
    content = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error("it is not JSON");
  }
  const keys: readonly unknown[] | undefined = Array.isArray(content?.keys) ? content.keys : undefined;
  if (!keys?.every(isRecord)) throw new Error('it is not a key set, such as {"keys": [{"kty": "EC", …}]}');
  // A private key that was published by mistake can no longer be trusted.
  if (keys.some((key) => "d" in key || "k" in key)) {
    throw new Error("it has a private or symmetric key; publish public keys only");
  }
  return content as JSONWebKeySet;
}

/** Minimum time between two reads for unknown keys, so that made-up key ids cause no more work. */
const READ_PAUSE_MS = 1_000;

/** The keys of a file, which is followed; while it cannot be read, the last keys stay in use. */
class FileKeys implements KeySource {
  readonly #file: DecodedFile<JSONWebKeySet>;
  #notBefore = Number.NEGATIVE_INFINITY;

  /** @throws ActuatorError INVALID_ARGUMENT if the file cannot be read or is not a set of public keys */
  constructor(path: string, onError: (error: unknown) => void) {
    this.#file = new DecodedFile(path, { maxBytes: MAX_BYTES, decode: decodeKeySet, toError: unusableFile, onError });
  }

  keys(): JSONWebKeySet {
    return this.#file.value;
  }

  async refresh(): Promise<boolean> {
    if (performance.now() < this.#notBefore) return false;
    this.#notBefore = performance.now() + READ_PAUSE_MS;
    const before = this.keys();
    await this.#file.check();
    return this.keys() !== before;
  }

  close(): void {
    this.#file.close();
  }
}

function unusableFile(path: string, cause: unknown): ActuatorError {
  const { code, message: why } = cause as NodeJS.ErrnoException;
  const message = `access.jwt.jwks: ${path} cannot be used (${code ?? why}).`;
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_KEY_SET", message, { field: "access.jwt.jwks" }, { cause });
}

const FETCH_TIMEOUT_MS = 5_000;
/** Keys older than this are fetched again in the background. */
const RENEW_MS = 5 * 60_000;
/** If no fetch was tried for this long, a call waits for one: a key may have been withdrawn. */
const FRESH_MS = 10 * 60_000;
/** Keys stay in use for this long while they cannot be fetched: an outage of the provider must not lock callers out. */
const STALE_MS = 60 * 60_000;
/** Minimum time between two fetches, so that made-up key ids cause no more requests. */
const PAUSE_MS = { done: 30_000, failed: 5_000 } as const;

/**
 * The keys at an address. A call waits for a fetch only if there are no keys that it may use: neither while they are renewed in the
 * background nor, within limits, while the provider is unreachable.
 */
class RemoteKeys implements KeySource {
  readonly #url: string;
  readonly #onError: (error: unknown) => void;
  readonly #closing = new AbortController();
  #keys: JSONWebKeySet | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  /** The last attempt, successful or not. */
  #triedAt = Number.NEGATIVE_INFINITY;
  #notBefore = Number.NEGATIVE_INFINITY;
  #fetching: Promise<boolean> | undefined;
  #failing = false;

  constructor(url: string, onError: (error: unknown) => void) {
    this.#url = url;
    this.#onError = onError;
  }

  keys(): JSONWebKeySet | Promise<JSONWebKeySet> {
    const keys = this.#usable();
    if (keys !== undefined && performance.now() - this.#triedAt < FRESH_MS) {
      if (performance.now() - this.#fetchedAt >= RENEW_MS) void this.refresh();
      return keys;
    }
    return this.refresh().then(() => {
      const keys = this.#usable();
      if (keys !== undefined) return keys;
      const message = "The keys that verify JWTs cannot be fetched. Try again later.";
      throw new ActuatorError("UNAVAILABLE", "KEYS_OUT_OF_REACH", message);
    });
  }

  async refresh(): Promise<boolean> {
    if (this.#fetching === undefined && performance.now() < this.#notBefore) return false;
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  close(): void {
    this.#closing.abort();
  }

  #usable(): JSONWebKeySet | undefined {
    return performance.now() - this.#fetchedAt < STALE_MS ? this.#keys : undefined;
  }

  async #fetch(): Promise<boolean> {
    try {
      this.#keys = decodeKeySet(await download(this.#url, this.#closing.signal));
      this.#fetchedAt = this.#triedAt = performance.now();
      this.#notBefore = this.#triedAt + PAUSE_MS.done;
      this.#failing = false;
      return true;
    } catch (error) {
      this.#triedAt = performance.now();
      this.#notBefore = this.#triedAt + PAUSE_MS.failed;
      if (!this.#failing && !this.#closing.signal.aborted) this.#onError(fetchError(this.#url, error));
      this.#failing = true;
      return false;
    }
  }
}

async function download(url: string, closing: AbortSignal): Promise<Uint8Array> {
  const response = await fetch(url, {
    headers: { accept: "application/jwk-set+json, application/json" },
    // A redirect would let another server choose the keys.
    redirect: "error",
    signal: AbortSignal.any([closing, AbortSignal.timeout(FETCH_TIMEOUT_MS)]),
  });
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    throw new Error(`the server answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error(`the answer has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function fetchError(url: string, cause: unknown): Error {
  const { origin, pathname } = new URL(url);
  const { message, cause: deeper } = cause as Error;
  const { code } = (deeper ?? {}) as NodeJS.ErrnoException;
  return new Error(`the keys at ${origin}${pathname} cannot be fetched (${code ?? message})`, { cause });
}

import type { JSONWebKeySet } from "jose";
import { ActuatorError } from "../common/error.ts";
import { decodeKeySet, type KeySource, MAX_KEY_SET_BYTES } from "./key-source.ts";

const TIMEOUT_MS = 5_000;
/** How old keys get before they are fetched again beside the calls that use them. */
const RENEW_MS = 5 * 60_000;
/** How old keys get that nobody tried to fetch again. Then a call waits for that, as one of them may be believed no more. */
const FRESH_MS = 10 * 60_000;
/** How old keys may get that cannot be fetched again: a provider that is away for a while locks nobody out. */
const STALE_MS = 60 * 60_000;
/** How long nothing is fetched after that went well or not. Whoever makes up key ids makes no more requests than that. */
const PAUSE_MS = { done: 30_000, failed: 5_000 } as const;

/**
 * The keys at an address, fetched when they are needed and not known, or known for too long. Calls wait for that only where
 * nothing is known that could be used: not while keys are renewed in time, nor, when that failed, while the address is away.
 */
export class RemoteKeys implements KeySource {
  readonly #url: string;
  readonly #onError: (error: unknown) => void;
  readonly #closing = new AbortController();
  #keys: JSONWebKeySet | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  /** When that was tried last, with whatever success. */
  #triedAt = Number.NEGATIVE_INFINITY;
  #notBefore = Number.NEGATIVE_INFINITY;
  #fetching: Promise<boolean> | undefined;
  #failing = false;

  constructor(url: string, onError: (error: unknown) => void) {
    this.#url = url;
    this.#onError = onError;
  }

  keys(): JSONWebKeySet | Promise<JSONWebKeySet> {
    const keys = this.#known();
    if (keys !== undefined && performance.now() - this.#triedAt < FRESH_MS) {
      if (performance.now() - this.#fetchedAt >= RENEW_MS) void this.renewed();
      return keys;
    }
    return this.renewed().then(() => {
      const keys = this.#known();
      if (keys !== undefined) return keys;
      const message = "The keys that JWTs are checked with are out of reach. Try again later.";
      throw new ActuatorError("UNAVAILABLE", "KEYS_OUT_OF_REACH", message);
    });
  }

  async renewed(): Promise<boolean> {
    if (this.#fetching === undefined && performance.now() < this.#notBefore) return false;
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  close(): void {
    this.#closing.abort();
  }

  /** The keys that may still be believed. */
  #known(): JSONWebKeySet | undefined {
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
      if (!this.#failing && !this.#closing.signal.aborted) this.#onError(unreachable(this.#url, error));
      this.#failing = true;
      return false;
    }
  }
}

/** What an address answers, when it answers 200 by itself, in time and with not too much. */
async function download(url: string, closing: AbortSignal): Promise<Uint8Array> {
  const response = await fetch(url, {
    headers: { accept: "application/jwk-set+json, application/json" },
    // Whoever could redirect this could choose the keys.
    redirect: "error",
    signal: AbortSignal.any([closing, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    throw new Error(`the answer was ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > MAX_KEY_SET_BYTES) throw new Error(`the answer has more than ${MAX_KEY_SET_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function unreachable(url: string, cause: unknown): Error {
  const { origin, pathname } = new URL(url);
  const { message, cause: deeper } = cause as Error;
  const { code } = (deeper ?? {}) as NodeJS.ErrnoException;
  return new Error(`the keys at ${origin}${pathname} cannot be fetched (${code ?? message})`, { cause });
}

import type { JSONWebKeySet } from "jose";

/** Where the keys come from that sign JWTs. */
export interface KeySource {
  /**
   * The keys as they are known; fetched before, where that has to be.
   *
   * @throws ActuatorError UNAVAILABLE where there are none
   */
  keys(): JSONWebKeySet | Promise<JSONWebKeySet>;
  /** Looks for a key that is not known; whether there may be others now. */
  renewed(): Promise<boolean>;
  close(): void;
}

/** The most bytes of a set of keys. */
export const MAX_KEY_SET_BYTES = 256 * 1024;

/**
 * Reads a JSON Web Key Set (RFC 7517 §5).
 *
 * @throws Error that repeats nothing of it
 */
export function decodeKeySet(bytes: Uint8Array): JSONWebKeySet {
  let content: Partial<JSONWebKeySet> | null;
  try {
    content = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error("it is not JSON");
  }
  const keys: readonly unknown[] | undefined = Array.isArray(content?.keys) ? content.keys : undefined;
  if (keys === undefined || !keys.every((key) => typeof key === "object" && key !== null)) {
    throw new Error('it is no set of keys, such as {"keys": [{"kty": "EC", …}]}');
  }
  // A key that could sign has no business here, and one that was put here by mistake is known to too many.
  if (keys.some((key) => "d" in (key as object) || "k" in (key as object))) {
    throw new Error("it holds a private or a symmetric key; only public ones belong there");
  }
  return content as JSONWebKeySet;
}

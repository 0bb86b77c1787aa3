import type { Compression } from "@connectrpc/connect/protocol";

/** Smaller messages are compressed as fast as compared; larger ones are not kept. */
const SIZES = { min: 4 * 1024, max: 128 * 1024 };
const MAX_KEPT = 8;
const KEPT_MS = 1_000;

/**
 * A compression that compresses a message once where it goes to many callers at the same time, as a change that a thousand
 * watch does. It keeps a few messages for a moment.
 */
export function compressOnce(compression: Compression): Compression {
  const kept: { readonly bytes: Uint8Array; readonly compressed: ReturnType<Compression["compress"]> }[] = [];

  return {
    name: compression.name,
    decompress: (bytes, readMaxBytes) => compression.decompress(bytes, readMaxBytes),
    compress(bytes) {
      if (bytes.length < SIZES.min || bytes.length > SIZES.max) return compression.compress(bytes);
      const same = kept.find((other) => Buffer.compare(other.bytes, bytes) === 0);
      if (same !== undefined) return same.compressed;
      const compressed = compression.compress(bytes);
      if (kept.length === 0) setTimeout(() => kept.splice(0), KEPT_MS).unref();
      kept.push({ bytes, compressed });
      if (kept.length > MAX_KEPT) kept.shift();
      return compressed;
    },
  };
}

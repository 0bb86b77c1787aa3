import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";

/**
 * The gzip of connect-node, except that a truncated body is INVALID_ARGUMENT instead of INTERNAL.
 *
 * It is the only supported compression: connect-node's brotli runs at its highest quality, which takes a hundred times as long. connect
 * ignores weights in `Accept-Encoding`: `gzip;q=0.5` means no gzip to it, which is always correct.
 */
export const gzip: Compression = {
  name: compressionGzip.name,
  compress: (bytes) => compressionGzip.compress(bytes),
  async decompress(bytes, readMaxBytes) {
    try {
      return await compressionGzip.decompress(bytes, readMaxBytes);
    } catch (error) {
      if (ConnectError.from(error).code !== Code.Internal) throw error;
      throw new ConnectError("The message is not valid gzip.", Code.InvalidArgument, undefined, undefined, error);
    }
  },
};

/** Sizes of messages that are kept: smaller ones compress as fast as they compare, larger ones take too much memory. */
const SIZES = { min: 4 * 1024, max: 128 * 1024 };
const MAX_KEPT = 8;
const KEPT_MS = 1_000;

/** Compresses a message once if it goes to many callers at the same time, such as a change that a thousand callers watch. */
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

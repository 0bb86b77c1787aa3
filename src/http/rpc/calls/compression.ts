import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";

const compressBrotli = promisify(brotliCompress);
/** About as fast as gzip, and smaller. connect-node uses the highest quality, 11, which takes a hundred times as long. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** The gzip of connect-node. */
export const gzip: Compression = refusingTruncated(compressionGzip);

/** The brotli of connect-node, at a lower quality. */
export const brotli: Compression = refusingTruncated({
  ...compressionBrotli,
  compress: async (bytes) => Uint8Array.from(await compressBrotli(bytes, BROTLI)),
});

/**
 * A compression for which a truncated body is INVALID_ARGUMENT instead of INTERNAL. connect ignores weights in `Accept-Encoding`:
 * `gzip;q=0.5` means no gzip to it, which is always correct.
 */
function refusingTruncated({ name, compress, decompress }: Compression): Compression {
  return {
    name,
    compress,
    async decompress(bytes, readMaxBytes) {
      try {
        return await decompress(bytes, readMaxBytes);
      } catch (error) {
        if (ConnectError.from(error).code !== Code.Internal) throw error;
        const message = `The message is not valid ${name}.`;
        throw new ConnectError(message, Code.InvalidArgument, undefined, undefined, error);
      }
    },
  };
}

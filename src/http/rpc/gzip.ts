import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";

/**
 * connect-node's gzip, except that a body cut short is the caller's mistake and not ours.
 *
 * It is the only compression that is taken: connect-node's brotli runs at its highest quality, a hundred times the time
 * for the same list. connect reads `Accept-Encoding` without weights: `gzip;q=0.5` is then simply no gzip, which is
 * never wrong.
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

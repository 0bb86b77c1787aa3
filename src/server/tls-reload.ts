import { FollowedFiles } from "../common/files/followed-files.ts";
import type { ServerErrorHandler } from "./guard.ts";
import { credentialsOf, type TlsCredentials } from "./tls-credentials.ts";
import type { TlsOptions } from "./tls-options.ts";
import { pemPaths, readPem } from "./tls-pem.ts";

/**
 * Reads the files of a port's credentials again when they change, and gives those that are sound to `apply`. Until then the
 * last ones stay in force; what is still not sound at a second look is reported, once.
 *
 * @param first the credentials in force
 * @returns a function that stops it
 */
export function reloadCredentials(
  options: TlsOptions,
  first: TlsCredentials,
  apply: (credentials: TlsCredentials) => void,
  onError: ServerErrorHandler,
): () => void {
  const paths = pemPaths(options);
  if (paths.length === 0) return () => {};
  const files = new FollowedFiles(paths, {
    content: first.pem,
    read: () => readPem(options),
    onChange(pem) {
      apply(credentialsOf(options, pem));
    },
    onError: (error) => onError(error, "new TLS certificate, the last one stays in force"),
  });
  return () => files.close();
}

import type { ActuatorError } from "../common/error.ts";
import { FollowedFiles } from "../common/files/followed-files.ts";
import { LONGEST_TIMER_MS } from "../common/timeout.ts";
import type { ServerErrorHandler } from "./guard.ts";
import { credentialsOf, pemPaths, readPem, type TlsCredentials, unfit } from "./tls-credentials.ts";
import type { TlsOptions } from "./tls-options.ts";

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

/**
 * Reports once that the certificate or a revocation list is not valid, at once or when its validity ends. From then on no client,
 * or no client with a certificate, can connect until it is replaced.
 *
 * @returns a function that stops it
 */
export function tellOfEnd(credentials: TlsCredentials, onError: ServerErrorHandler): () => void {
  const ends = [Date.parse(credentials.certificate.validTo)];
  for (const { nextUpdate } of credentials.revocations) if (nextUpdate !== undefined) ends.push(nextUpdate);
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const now = Date.now();
    const fault = validityFault(credentials, now);
    if (fault !== undefined) onError(fault, "TLS certificate");
    else timer = setTimeout(look, Math.min(...ends.map((end) => end - now + 1_000), LONGEST_TIMER_MS)).unref();
  };
  look();
  return () => clearTimeout(timer);
}

/** The error of a certificate or list that is not valid at `now`; undefined if all are valid. */
function validityFault({ certificate, revocations }: TlsCredentials, now: number): ActuatorError | undefined {
  const { validFrom, validTo } = certificate;
  if (now > Date.parse(validTo)) {
    return unfit("TLS_CERTIFICATE_EXPIRED", "cert", `the server's certificate is not valid any more since ${validTo}`);
  }
  if (now < Date.parse(validFrom)) {
    return unfit("TLS_CERTIFICATE_NOT_YET_VALID", "cert", `the server's certificate is not valid before ${validFrom}`);
  }
  const old = revocations.find(({ nextUpdate = Infinity }) => nextUpdate < now)?.nextUpdate;
  if (old === undefined) return undefined;
  const message = `a revocation list was to be replaced by ${new Date(old).toISOString()}; no client of its authority is let in`;
  return unfit("TLS_CRL_OUTDATED", "crl", message);
}

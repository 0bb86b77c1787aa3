import { createHash } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";
import type { ServerErrorHandler } from "./guard.ts";
import { pathOf, readCredentials, type TlsCredentials, validityFault } from "./tls-credentials.ts";
import type { TlsOptions } from "./tls-options.ts";

/** How the files are looked after, in milliseconds. */
export interface ReloadPace {
  /** Between two looks that nothing asked for: notices get lost, over network file systems above all. */
  readonly pollMs: number;
  /** From a notice to a look, and from a doubtful look to the next: certificate and key are two files. */
  readonly settleMs: number;
}

const PACE: ReloadPace = { pollMs: 10_000, settleMs: 500 };

/**
 * Reads the files of a port's credentials again when they change, and gives those that are sound to `apply`. What is not
 * sound twice in a row is reported, once, and does nothing.
 *
 * @param first those in force
 * @returns a function that stops it
 */
export function reloadCredentials(
  options: TlsOptions,
  first: TlsCredentials,
  apply: (credentials: TlsCredentials) => void,
  onError: ServerErrorHandler,
  pace: ReloadPace = PACE,
): () => void {
  const paths = [options.cert, options.key, options.ca].flatMap((source) => (source && pathOf(source)) ?? []);
  if (paths.length === 0) return () => {};
  let inForce = digestOf(first);
  let fault: string | undefined;
  let reported: string | undefined;
  let ended = false;
  let looking = false;
  let soon: NodeJS.Timeout | undefined;

  const lookSoon = () => {
    soon ??= setTimeout(() => {
      soon = undefined;
      void look();
    }, pace.settleMs).unref();
  };
  const look = async () => {
    if (looking) return;
    looking = true;
    await lookOnce();
    looking = false;
  };

  async function lookOnce(): Promise<void> {
    try {
      const credentials = await readCredentials(options);
      if (ended) return;
      const digest = digestOf(credentials);
      if (digest !== inForce) {
        apply(credentials);
        inForce = digest;
        const end = validityFault(credentials, Date.now());
        if (end !== undefined) onError(end, "new TLS certificate");
      }
      fault = reported = undefined;
    } catch (error) {
      if (ended) return;
      const message = `${error}`;
      if (message !== fault) lookSoon();
      else if (message !== reported) onError(error, "new TLS certificate, the last one stays in force");
      if (message === fault) reported = message;
      fault = message;
    }
  }

  const watchers = [...new Set(paths.map((path) => dirname(path)))].flatMap((folder) => watchFolder(folder, lookSoon));
  const poll = setInterval(look, pace.pollMs).unref();
  return () => {
    ended = true;
    clearInterval(poll);
    clearTimeout(soon);
    for (const watcher of watchers) watcher.close();
  };
}

/** The folder, not the file: a file that is renamed over, or a link that is turned elsewhere, tells nothing any more. */
function watchFolder(folder: string, changed: () => void): FSWatcher[] {
  try {
    const watcher = watch(folder, { persistent: false }, changed);
    watcher.on("error", () => watcher.close());
    return [watcher];
  } catch {
    // Where nothing can be watched, polling remains.
    return [];
  }
}

function digestOf({ bytes }: TlsCredentials): string {
  const hash = createHash("sha256");
  for (const content of bytes) hash.update(`${content.length}:`).update(content);
  return hash.digest("base64");
}

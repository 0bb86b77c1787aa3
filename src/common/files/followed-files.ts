import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";

/** How often files are read that nothing told to have changed, as on network file systems: milliseconds. */
const POLL_MS = 5_000;

/** How long after word of a change they are read: one change makes many words, and other files of the folder change too. */
const SETTLE_MS = 100;

/** How long invalid files may still be in the middle of being written before they are reported. */
const PATIENCE_MS = 500;

/** What files are followed with. */
export interface FollowedFilesOptions<Content> {
  /** What they held when they were read last. */
  readonly content: Content;
  /** Reads what they hold now: bytes, alone or in lists and plain objects. */
  readonly read: () => Promise<Content>;
  /** Takes what they hold now, where that is something else. What it throws says that this makes no sense. */
  readonly onChange: (content: Content) => void;
  /** Hears that they cannot be read or make no sense: once, until that changes. */
  readonly onError: (error: unknown) => void;
}

/**
 * Follows what files hold that belong together. Their folders are watched, so that a file, or a link on the way to it, may be
 * replaced; and every five seconds their bytes are compared, since neither a watch nor a time stamp tells everything. Keeps
 * no process alive.
 */
export class FollowedFiles<Content> {
  readonly #options: FollowedFilesOptions<Content>;
  readonly #poll: NodeJS.Timeout;
  readonly #watchers: readonly FSWatcher[];
  #settling: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #again = false;
  #content: Content;
  /** What made no sense, and why. */
  #refused: { readonly content: Content; readonly error: unknown } | undefined;
  #trouble: string | undefined;
  #told: string | undefined;
  #closed = false;

  constructor(paths: readonly string[], options: FollowedFilesOptions<Content>) {
    this.#options = options;
    this.#content = options.content;
    this.#poll = setInterval(() => void this.check(), POLL_MS).unref();
    const folders = new Set(paths.map((path) => dirname(path)));
    this.#watchers = [...folders].flatMap((folder) => watchFolder(folder, () => this.#soon(SETTLE_MS)));
  }

  /** Reads the files now; resolves when what they hold is known. */
  async check(): Promise<void> {
    if (this.#reading !== undefined) {
      this.#again = true;
      return this.#reading;
    }
    this.#reading = this.#read();
    await this.#reading;
  }

  /** Leaves the files alone from now on. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#settling);
    for (const watcher of this.#watchers) watcher.close();
  }

  #soon(milliseconds: number): void {
    if (this.#closed || this.#settling !== undefined) return;
    this.#settling = setTimeout(() => {
      this.#settling = undefined;
      void this.check();
    }, milliseconds).unref();
  }

  async #read(): Promise<void> {
    do {
      this.#again = false;
      try {
        const content = await this.#options.read();
        if (this.#closed) break;
        this.#take(content);
      } catch (error) {
        if (!this.#closed) this.#fail(error);
      }
    } while (this.#again && !this.#closed);
    this.#reading = undefined;
  }

  #take(content: Content): void {
    if (!isDeepStrictEqual(content, this.#content)) {
      this.#change(content);
      this.#content = content;
    }
    this.#refused = this.#trouble = this.#told = undefined;
  }

  /** The same makes no sense again, and is not looked into at each poll: a large file can take seconds. */
  #change(content: Content): void {
    if (this.#refused !== undefined && isDeepStrictEqual(content, this.#refused.content)) throw this.#refused.error;
    try {
      this.#options.onChange(content);
    } catch (error) {
      this.#refused = { content, error };
      throw error;
    }
  }

  /** Reports a fault when it is found a second time, so that files that are just being written cause no report. */
  #fail(error: unknown): void {
    const trouble = String((error as Error).message);
    if (trouble === this.#told) return;
    if (trouble !== this.#trouble) {
      this.#trouble = trouble;
      this.#soon(PATIENCE_MS);
      return;
    }
    this.#told = trouble;
    this.#options.onError(error);
  }
}

/** The folder, not the file: a file that is renamed over, or a link that is turned elsewhere, tells nothing any more. */
function watchFolder(folder: string, changed: () => void): FSWatcher[] {
  try {
    const watcher = watch(folder, { persistent: false }, changed);
    return [watcher.on("error", () => watcher.close())];
  } catch {
    // Where nothing can be watched, as when a machine has no watches left, the files are compared all the same.
    return [];
  }
}

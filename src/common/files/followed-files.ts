import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";

/** How often files are read without a change event, as on network file systems. */
const POLL_MS = 5_000;

/** How long after a change event files are read: one change makes many events, and other files of the folder change too. */
const SETTLE_MS = 100;

/** How long invalid files may still be in the middle of being written before they are reported. */
const PATIENCE_MS = 500;

/** The content of followed files, and what to do when it changes. */
export interface FollowedFilesOptions<Content> {
  /** The content when they were last read. */
  readonly content: Content;
  /** Reads the current content: bytes, alone or in lists and plain objects. */
  readonly read: () => Promise<Content>;
  /** Called with changed content. It throws if the content is not valid. */
  readonly onChange: (content: Content) => void;
  /** Called when they cannot be read or are not valid; not again before that changes. */
  readonly onError: (error: unknown) => void;
}

/**
 * Follows the content of files that belong together. Their folders are watched, so that a file, or a link on its path, may be
 * replaced; and every five seconds the bytes are compared, because neither events nor time stamps are complete. Does not keep the
 * process alive.
 */
export class FollowedFiles<Content> {
  readonly #options: FollowedFilesOptions<Content>;
  readonly #poll: NodeJS.Timeout;
  readonly #watchers: readonly FSWatcher[];
  #settling: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #again = false;
  #content: Content;
  /** The content that was not valid, and why. */
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

  /** Stops following the files. */
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

  /** The same invalid content is not checked at each poll, because a large file can take seconds. */
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

/** Watches the folder, not the file: a file that is replaced, or a link that is changed, makes no more events. */
function watchFolder(folder: string, changed: () => void): FSWatcher[] {
  try {
    const watcher = watch(folder, { persistent: false }, changed);
    return [watcher.on("error", () => watcher.close())];
  } catch {
    // If nothing can be watched, for example because no watches are left, the files are still compared.
    return [];
  }
}

import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";
import { readBounded } from "./bounded-file.ts";

/** How often a file is read that nothing told to have changed, as on network file systems: milliseconds. */
const POLL_MS = 5_000;

/** How long after word of a change the file is read: one change makes many words, and other files of the folder change too. */
const SETTLE_MS = 100;

/** How long a file that makes no sense may still be in somebody's hands before that is told. */
const PATIENCE_MS = 500;

/** What a file is watched with. */
export interface WatchedFileOptions {
  /** What the file held when it was read last; undefined where it was not read. */
  readonly content: Uint8Array | undefined;
  readonly maxBytes: number;
  /** Takes what the file holds now. What it throws says that this makes no sense. */
  readonly onChange: (content: Uint8Array) => void;
  /** Hears that the file cannot be read or makes no sense: once, until that changes. */
  readonly onError: (error: unknown) => void;
}

/**
 * Follows what a file holds. Its folder is watched, so that a file, or a link on the way to it, may be replaced; and every
 * five seconds its bytes are compared, since neither a watch nor a time stamp tells everything. Keeps no process alive.
 */
export class WatchedFile {
  readonly #path: string;
  readonly #options: WatchedFileOptions;
  readonly #poll: NodeJS.Timeout;
  #watcher: FSWatcher | undefined;
  #settling: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #again = false;
  #content: Uint8Array | undefined;
  #trouble: string | undefined;
  #told: string | undefined;
  #closed = false;

  constructor(path: string, options: WatchedFileOptions) {
    this.#path = path;
    this.#options = options;
    this.#content = options.content;
    this.#poll = setInterval(() => void this.check(), POLL_MS).unref();
    try {
      this.#watcher = watch(dirname(path), { persistent: false }, () => this.#soon(SETTLE_MS));
      this.#watcher.on("error", () => this.#watcher?.close());
    } catch {
      // There may be no watches left on this machine; the file is compared all the same.
    }
  }

  /** Reads the file now; resolves when what it holds is known. */
  async check(): Promise<void> {
    if (this.#reading !== undefined) {
      this.#again = true;
      return this.#reading;
    }
    this.#reading = this.#read();
    await this.#reading;
  }

  /** Leaves the file alone from now on. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#settling);
    this.#watcher?.close();
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
        const content = await readBounded(this.#path, this.#options.maxBytes);
        if (this.#closed) break;
        this.#take(content);
      } catch (error) {
        if (!this.#closed) this.#fail(error);
      }
    } while (this.#again && !this.#closed);
    this.#reading = undefined;
  }

  #take(content: Uint8Array): void {
    if (this.#content !== undefined && Buffer.compare(content, this.#content) === 0) {
      this.#trouble = this.#told = undefined;
      return;
    }
    this.#options.onChange(content);
    this.#content = content;
    this.#trouble = this.#told = undefined;
  }

  /** Tells of trouble when it is found a second time, so that a file that is just being written is none. */
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

import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { resolve } from "node:path";
import { logLine } from "../../common/log-line.ts";

/** The maximum of characters that wait for a slow or full disk. */
const MAX_WAITING = 4 * 1024 * 1024;

/** How long after a failure writing is tried again without a new line. */
const RETRY_MS = 5_000;

/** Only the user of the application may read the audit. */
const MODE = 0o600;

const { O_WRONLY, O_CREAT, O_APPEND, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;

/** Links are not followed: with one, a user who can write to the folder could redirect the lines into another file. */
const APPEND = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOFOLLOW;

interface OpenFile {
  readonly handle: FileHandle;
  readonly dev: number;
  readonly ino: number;
}

/**
 * Appends lines to a file, in order. After the file was renamed or removed, a new one is made, which is how files are rotated; a
 * file that was copied and truncated is continued. A symbolic link is not followed. If the file cannot be written, lines wait, and
 * lines over the maximum are counted as lost.
 */
export class AuditFile {
  readonly #path: string;
  readonly #onError: (error: unknown) => void;
  #file: OpenFile | undefined;
  readonly #lines: string[] = [];
  #waiting = 0;
  #lost = 0;
  #lostEver = 0;
  /** The file ends within a line. */
  #torn = false;
  #writing: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failing = false;

  /** @param onError called when the file cannot be written; not again before it could */
  constructor(path: string, onError: (error: unknown) => void) {
    this.#path = resolve(path);
    this.#onError = onError;
    // A missing folder should be reported now, and not with the first line.
    void this.#write();
  }

  /** The number of lines that were given up. */
  get lost(): number {
    return this.#lostEver;
  }

  /** Adds a line. */
  append(line: string): void {
    if (this.#waiting + line.length > MAX_WAITING) {
      this.#lost++;
      this.#lostEver++;
    } else {
      this.#lines.push(line);
      this.#waiting += line.length;
    }
    void this.#write();
  }

  /** Writes the waiting lines, as far as possible, and closes the file. */
  async close(): Promise<void> {
    // The write under way may fail although a new one would succeed.
    await this.#writing;
    await this.#write();
    clearTimeout(this.#retry);
    await this.#file?.handle.close().catch(() => undefined);
    this.#file = undefined;
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      // A line that came after the last look.
      if (this.#lines.length > 0 && !this.#failing) void this.#write();
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    clearTimeout(this.#retry);
    try {
      if (this.#file === undefined) await this.#current();
      while (this.#lines.length > 0 || this.#lost > 0) {
        const line = this.#lines[0];
        const lost = this.#lost;
        await this.#writeLine(line ?? lostLine(lost));
        if (line === undefined) {
          this.#lost -= lost;
        } else {
          this.#lines.shift();
          this.#waiting -= line.length;
        }
      }
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#onError(error);
      this.#failing = true;
      this.#retry = setTimeout(() => void this.#write(), RETRY_MS).unref();
    }
  }

  async #writeLine(line: string): Promise<void> {
    const { handle } = await this.#current();
    const bytes = Buffer.from(`${this.#torn ? "\n" : ""}${line}\n`);
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await handle.write(bytes, at);
      at += bytesWritten;
      this.#torn = at < bytes.length;
    }
  }

  /** The file that has the name now. */
  async #current(): Promise<OpenFile> {
    const named = await lstat(this.#path).catch(() => undefined);
    if (this.#file !== undefined && named?.ino === this.#file.ino && named.dev === this.#file.dev) return this.#file;
    await this.#file?.handle.close().catch(() => undefined);
    this.#file = undefined;
    const handle = await open(this.#path, APPEND, MODE).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "ELOOP" ? new Error(`${this.#path} is a symbolic link: name the file itself`) : error;
    });
    const { dev, ino } = await handle.stat();
    this.#torn = false;
    return (this.#file = { handle, dev, ino });
  }
}

function lostLine(lost: number): string {
  return logLine("error", new Date().toISOString(), "audit lines were lost", { lost });
}

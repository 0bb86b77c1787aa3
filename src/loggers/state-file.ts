import { basename, dirname, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { ActuatorError } from "../common/error.ts";
import { replaceFile } from "../common/files/replaced-file.ts";
import { keepAside, prepareFolder, readStored } from "./stored-file.ts";
import { decodeState, type StoredState } from "./stored-state.ts";

/** The largest file that is read or written. */
const MAX_BYTES = 64 * 1024 * 1024;

/** What a state file is used with. */
export interface StateFileOptions {
  /** What the file is to hold, at the moment of the call. */
  readonly content: () => string;
  /** Hears that levels could not be stored: once, until they could again. */
  readonly onError: (error: Error) => void;
}

/** What was found in the place of a state file: a state, or something else that is now beside it; or neither. */
export interface LoadedState {
  readonly state?: StoredState;
  /** What was wrong and what the file is called now, in a sentence without the folder's name. */
  readonly problem?: string;
}

interface Attempt {
  /** The changes that it stores. */
  readonly upTo: number;
  readonly failure: unknown;
}

/**
 * A file that follows a state: written soon after each change, by one write at a time, and atomically. Changes during a write
 * lead to one more write, however many they are. A write that fails is tried again at the next change.
 */
export class StateFile {
  readonly #path: string;
  readonly #options: StateFileOptions;
  /** How many changes there were, and how many of them the file holds. */
  #changes = 0;
  #stopped = false;
  #stored = 0;
  #content: string | undefined;
  #attempt: Promise<Attempt> | undefined;
  #failing = false;

  /** @throws ActuatorError INVALID_ARGUMENT where no file can be written there. */
  constructor(path: string, options: StateFileOptions) {
    this.#path = resolve(path);
    this.#options = options;
    try {
      prepareFolder(this.#path);
    } catch (cause) {
      throw unusable(this.#path, `its folder ${dirname(this.#path)} cannot be written to`, cause);
    }
  }

  /**
   * Reads the file. What is no state, or that of a later version, is kept under another name.
   *
   * @throws ActuatorError INVALID_ARGUMENT where something is there that cannot be read at all.
   */
  load(): LoadedState {
    let bytes: ReturnType<typeof readStored>;
    try {
      bytes = readStored(this.#path, MAX_BYTES);
    } catch (cause) {
      throw unusable(this.#path, "it cannot be read", cause);
    }
    if (bytes === undefined) return {};
    try {
      if (bytes === "too large") throw new Error(`it has more than ${MAX_BYTES} bytes`);
      return { state: decodeState(bytes) };
    } catch (error) {
      const why = (error as Error).message;
      const kept = basename(keepAside(this.#path));
      return { problem: `${basename(this.#path)} was not read: ${why}. It is kept as ${kept}.` };
    }
  }

  /** Leaves the file as it is from now on. */
  stop(): void {
    this.#stopped = true;
  }

  /** The state has changed: the file is to follow. */
  changed(): void {
    if (this.#stopped) return;
    this.#changes++;
    void this.#write();
  }

  /**
   * Resolves when the file holds every change so far.
   *
   * @throws the error of the file system where it cannot be written
   */
  async flushed(): Promise<void> {
    const wanted = this.#changes;
    while (this.#stored < wanted) {
      const { upTo, failure } = await this.#write();
      if (failure !== undefined && upTo >= wanted) throw failure;
    }
  }

  #write(): Promise<Attempt> {
    return (this.#attempt ??= this.#tryToWrite());
  }

  async #tryToWrite(): Promise<Attempt> {
    // What one operation changes is stored at once, and what a busy moment changes with a single write.
    await setImmediate();
    const upTo = this.#changes;
    let failure: unknown;
    try {
      const content = this.#options.content();
      if (content !== this.#content) await this.#replace(content);
      this.#stored = upTo;
      this.#failing = false;
    } catch (cause) {
      failure = new Error(`levels are not stored: ${(cause as Error).message}`, { cause });
      if (!this.#failing) this.#options.onError(failure as Error);
      this.#failing = true;
    }
    this.#attempt = undefined;
    if (this.#changes > upTo) void this.#write();
    return { upTo, failure };
  }

  async #replace(content: string): Promise<void> {
    const bytes = Buffer.byteLength(content);
    if (bytes > MAX_BYTES) throw new Error(`they take ${bytes} bytes, and ${MAX_BYTES} are the most`);
    this.#content = undefined;
    await replaceFile(this.#path, content);
    this.#content = content;
  }
}

function unusable(path: string, why: string, cause: unknown): ActuatorError {
  const { code } = cause as NodeJS.ErrnoException;
  const message = `loggers.state: ${path} cannot be used, because ${why} (${code ?? (cause as Error).message}).`;
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_STATE_FILE", message, { field: "loggers.state" }, { cause });
}

import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { ActuatorError } from "../common/error.ts";
import { OWNER_ONLY, replaceFile, TEMPORARY, temporaryOf } from "../common/files/replaced-file.ts";
import { type DecodedState, decodeState } from "./stored-state.ts";

/** The maximum size of a file that is read or written. */
const MAX_BYTES = 64 * 1024 * 1024;

/** How long after a failure the file is written again without a change. */
const RETRY_MS = 2_000;

/** How many entries that cannot be read a problem names. */
const MAX_NAMED = 3;

/** After this time another process is no longer expected to be writing a temporary file. */
const STALE_AFTER_MS = 60_000;

/** The content of a state file, and what to do if it cannot be written. */
export interface StateFileOptions {
  /** Returns the current content. */
  readonly content: () => string;
  /** Called when levels could not be stored; not again before they could. */
  readonly onError: (error: Error) => void;
}

/** What a state file contained; neither a state nor a problem if there was no file. */
export interface LoadedState {
  /** The state, without the entries that cannot be read; left out if the whole file cannot be read. */
  readonly state?: DecodedState;
  /** A sentence on what was wrong and where the file is kept, without the folder. */
  readonly problem?: string;
}

interface Attempt {
  /** The number of changes that it includes. */
  readonly upTo: number;
  readonly failure: unknown;
}

/**
 * A file that is atomically replaced soon after each change of a state, by one write at a time. All changes during a write lead
 * to one more write. A write that fails is tried again every two seconds, and at the next change.
 */
export class StateFile {
  readonly #path: string;
  readonly #options: StateFileOptions;
  #changes = 0;
  /** The number of changes that the file includes. */
  #stored = 0;
  #stopped = false;
  #content: string | undefined;
  #attempt: Promise<Attempt> | undefined;
  #failing = false;
  #problem: string | undefined;
  #retry: NodeJS.Timeout | undefined;
  readonly #listeners: ((isStored: boolean) => void)[] = [];

  /** @throws ActuatorError INVALID_ARGUMENT if no file can be written there. */
  constructor(path: string, options: StateFileOptions) {
    this.#path = resolve(path);
    this.#options = options;
    try {
      const isLeft = prepareFolder(this.#path);
      // What a process left that was killed a moment ago.
      if (isLeft) setTimeout(() => removeStale(this.#path), STALE_AFTER_MS + 1).unref();
    } catch (cause) {
      throw unusable(this.#path, `its folder ${dirname(this.#path)} cannot be written to`, cause);
    }
  }

  /**
   * Reads the file. If it is not a state, or one of a later version, it is renamed.
   *
   * @throws ActuatorError INVALID_ARGUMENT if there is something that cannot be read at all.
   */
  load(): LoadedState {
    let bytes: ReturnType<typeof readStored>;
    try {
      bytes = readStored(this.#path);
    } catch (cause) {
      throw unusable(this.#path, "it cannot be read", cause);
    }
    if (bytes === undefined) return {};
    try {
      if (bytes === "too large") throw new Error(`it has more than ${MAX_BYTES} bytes`);
      const state = decodeState(bytes);
      if (state.unreadable.length === 0) return { state };
      const kept = basename(keepAside(this.#path, copyFileSync));
      const { length } = state.unreadable;
      const named = state.unreadable.slice(0, MAX_NAMED).join("; ");
      const problem = `${basename(this.#path)}: ${length} of its entries cannot be read: ${named}. It is kept as ${kept}.`;
      this.#problem = problem;
      return { state, problem };
    } catch (error) {
      const why = (error as Error).message;
      const kept = basename(keepAside(this.#path, renameSync));
      this.#problem = `${basename(this.#path)} was not read: ${why}. It is kept as ${kept}.`;
      return { problem: this.#problem };
    }
  }

  /** Stops writing the file. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#retry);
  }

  /** What was wrong when it was read, and whether there are changes that the last write could not store. */
  get problems(): readonly string[] {
    const unstored = "Levels are in force that the file of loggers.state does not have: it cannot be written.";
    return [...(this.#problem === undefined ? [] : [this.#problem]), ...(this.#failing ? [unstored] : [])];
  }

  /** Calls `listener` when the file cannot be written any more, and when it could be again. */
  onStored(listener: (isStored: boolean) => void): void {
    this.#listeners.push(listener);
  }

  /** Writes the file soon, because the state has changed. */
  changed(): void {
    if (this.#stopped) return;
    this.#changes++;
    void this.#write();
  }

  /**
   * Resolves when the file includes every change so far.
   *
   * @throws the error of the file system if the file cannot be written.
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
    // One write covers all changes of this turn.
    await setImmediate();
    const upTo = this.#changes;
    let failure: unknown;
    clearTimeout(this.#retry);
    try {
      const content = this.#options.content();
      if (content !== this.#content) await this.#replace(content);
      this.#stored = upTo;
      this.#setFailing(false);
    } catch (cause) {
      failure = new Error(`levels are not stored: ${(cause as Error).message}`, { cause });
      if (!this.#failing) this.#options.onError(failure as Error);
      this.#setFailing(true);
      if (!this.#stopped) this.#retry = setTimeout(() => void this.#write(), RETRY_MS).unref();
    }
    this.#attempt = undefined;
    if (this.#changes > upTo) void this.#write();
    return { upTo, failure };
  }

  #setFailing(failing: boolean): void {
    if (failing === this.#failing) return;
    this.#failing = failing;
    for (const listener of this.#listeners) listener(!failing);
  }

  async #replace(content: string): Promise<void> {
    const bytes = Buffer.byteLength(content);
    if (bytes > MAX_BYTES) throw new Error(`they take ${bytes} bytes, and the maximum is ${MAX_BYTES}`);
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

/**
 * Checks that a file can be written there, and removes temporary files that killed processes left behind. Returns whether there are others.
 *
 * @throws the error of the file system.
 */
function prepareFolder(path: string): boolean {
  const temporary = temporaryOf(path);
  closeSync(openSync(temporary, "wx", OWNER_ONLY));
  rmSync(temporary);
  return removeStale(path);
}

/** Removes old temporary files; those that another process may be writing stay. Returns whether there are any. */
function removeStale(path: string): boolean {
  const folder = dirname(path);
  let isLeft = false;
  // Without throwing: the folder may be gone when this is done again.
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (!name.startsWith(`${basename(path)}.`) || !TEMPORARY.test(name)) continue;
    const left = join(folder, name);
    const age = Date.now() - (statSync(left, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY);
    if (age > STALE_AFTER_MS) rmSync(left, { force: true });
    else isLeft = true;
  }
  return isLeft;
}

/**
 * Reads the file; undefined if there is none, "too large" if it has more than the maximum.
 *
 * @throws the error of the file system, and Error if it is not a file.
 */
function readStored(path: string): Uint8Array | "too large" | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  // A pipe, for example, may never end.
  if (!found.isFile()) throw new Error("not a file");
  const file = openSync(path, "r");
  try {
    return fstatSync(file).size > MAX_BYTES ? "too large" : readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Renames or copies the file to an unused name beside it, and returns the new path. */
function keepAside(path: string, keep: (from: string, to: string) => void): string {
  const time = new Date().toISOString().replaceAll(":", "-");
  let kept = `${path}.kept-${time}`;
  for (let count = 2; existsSync(kept); count++) kept = `${path}.kept-${time}-${count}`;
  keep(path, kept);
  return kept;
}

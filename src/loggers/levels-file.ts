import { readFileSync, statSync } from "node:fs";
import { ActuatorError } from "../common/error.ts";
import type { Lease } from "./lease.ts";
import { type Level, levelFromText } from "./level.ts";
import { loggerName } from "./name.ts";
import type { Override } from "./setting.ts";

/** How often the file is looked at: a mounted ConfigMap is replaced by a link, which no notice of the system tells reliably. */
const LOOK_MS = 2_000;
const MAX_BYTES = 1024 * 1024;

/** What follows the file. */
interface LevelHolder {
  readonly instance: string;
  get(name: string): { readonly override?: Override | undefined } | undefined;
  onRevision(listener: () => void): () => void;
  holdDecided(name: string, level: Level, author: Override, isBeneath: boolean): { readonly lease: Lease };
}

/** A level of the file that is in force, or beneath another one. */
interface Applied {
  readonly level: Level;
  readonly lease: Lease | undefined;
}

/**
 * A file of levels that is followed, with a line `name=level` for each. Its levels lie beneath all that callers and a fleet set, and
 * come back when those are cleared or restored.
 */
export class LevelsFile {
  readonly #path: string;
  readonly #loggers: LevelHolder;
  readonly #onError: (error: Error) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #unlisten: () => void;
  #applied = new Map<string, Applied>();
  #text = "";
  #isFailing = false;
  #willHold = false;

  /** @throws ActuatorError INVALID_ARGUMENT for a file that cannot be read, or has a line without a name and a level */
  constructor(path: string, loggers: LevelHolder, onError: (error: Error) => void) {
    this.#path = path;
    this.#loggers = loggers;
    this.#onError = onError;
    this.#apply(this.#read());
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
    this.#unlisten = loggers.onRevision(() => this.#holdSoon());
  }

  /** Ends its levels. */
  close(): void {
    clearInterval(this.#timer);
    this.#unlisten();
    const applied = this.#applied;
    this.#applied = new Map();
    for (const { lease } of applied.values()) lease?.release();
  }

  #look(): void {
    try {
      this.#apply(this.#read());
      this.#isFailing = false;
    } catch (error) {
      if (this.#isFailing) return;
      this.#isFailing = true;
      this.#onError(new Error(`${(error as Error).message} The levels that it had before stay.`, { cause: error }));
    }
  }

  #read(): string {
    try {
      const { size } = statSync(this.#path);
      if (size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
      return readFileSync(this.#path, "utf8");
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw invalid(
        `The file of levels ${this.#path} cannot be read: ${code === "ENOENT" ? "it is not there" : message}.`,
      );
    }
  }

  #apply(text: string): void {
    if (text === this.#text) return;
    const levels = levelsIn(text, this.#path);
    const before = this.#applied;
    const after = new Map<string, Applied>();
    for (const [name, { level, lease }] of before) if (levels.get(name) !== level) lease?.release();
    this.#applied = after;
    for (const [name, level] of levels) {
      const known = before.get(name);
      after.set(name, known?.level === level ? known : this.#hold(name, level));
    }
    this.#text = text;
  }

  #hold(name: string, level: Level): Applied {
    const author = {
      ...{ setTime: Date.now(), expireTime: undefined, actor: "", reason: `the file ${this.#path}` },
      ...{ instance: this.#loggers.instance, held: true, ofFile: true },
    };
    try {
      const { lease } = this.#loggers.holdDecided(name, level, author, true);
      return { level, lease };
    } catch (error) {
      this.#onError(error as Error);
      return { level, lease: undefined };
    }
  }

  /** Later, because a revision grows in the middle of a change. */
  #holdSoon(): void {
    if (this.#willHold) return;
    this.#willHold = true;
    queueMicrotask(() => {
      this.#willHold = false;
      this.#holdAgain();
    });
  }

  /** A permanent level ends the lease of the file's. After that one is restored, the file's is in force again. */
  #holdAgain(): void {
    for (const [name, { level, lease }] of this.#applied) {
      const isOver = lease?.end !== undefined;
      if (isOver && this.#loggers.get(name)?.override === undefined) this.#applied.set(name, this.#hold(name, level));
    }
  }
}

function levelsIn(text: string, path: string): ReadonlyMap<string, Level> {
  const levels = new Map<string, Level>();
  for (const [at, line] of text.split("\n").entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const [, name, word] = /^(.*?)\s*=\s*(\S*)$/.exec(trimmed) ?? [];
    const level = word === undefined ? undefined : levelFromText(word);
    if (name === undefined || level === undefined) {
      throw invalid(`${path}:${at + 1}: a line must be a name and a level, such as orders.payment=DEBUG.`);
    }
    levels.set(loggerName(name), level);
  }
  return levels;
}

function invalid(message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_LEVELS_FILE", message, { field: "loggers.levelsFile" });
}

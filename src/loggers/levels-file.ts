import { resolve } from "node:path";
import { ActuatorError } from "../common/error.ts";
import { readBounded, readBoundedSync } from "../common/files/bounded-file.ts";
import { FollowedFiles } from "../common/files/followed-files.ts";
import type { Lease } from "./lease.ts";
import { type Level, levelFromText } from "./level.ts";
import { loggerName } from "./name.ts";
import type { Override, Setting } from "./setting.ts";

const MAX_BYTES = 1024 * 1024;

/** What follows the file. */
interface LevelHolder {
  readonly instance: string;
  get(name: string): { readonly override?: Override | undefined } | undefined;
  onRevision(listener: () => void): () => void;
  holdDecided(
    name: string,
    level: Level,
    author: Override,
    isBeneath: (other: Setting) => boolean,
  ): { readonly lease: Lease };
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
  readonly #file: FollowedFiles<Buffer>;
  readonly #unlisten: () => void;
  #applied = new Map<string, Applied>();
  #willHold = false;

  /** @throws ActuatorError INVALID_ARGUMENT for a file that cannot be read, or has a line without a name and a level */
  constructor(path: string, loggers: LevelHolder, onError: (error: Error) => void) {
    this.#path = path;
    this.#loggers = loggers;
    this.#onError = onError;
    const content = readLevels(path);
    this.#apply(content);
    this.#file = new FollowedFiles([resolve(path)], {
      content,
      read: () =>
        readBounded(path, MAX_BYTES).catch((error) => {
          throw unreadable(path, error);
        }),
      onChange: (changed) => this.#apply(changed),
      onError: (error) => {
        const { message } = error as Error;
        onError(new Error(`${message} The levels that it had before stay.`, { cause: error }));
      },
    });
    this.#unlisten = loggers.onRevision(() => this.#holdSoon());
  }

  /** Ends its levels. */
  close(): void {
    this.#file.close();
    this.#unlisten();
    const applied = this.#applied;
    this.#applied = new Map();
    for (const { lease } of applied.values()) lease?.release();
  }

  #apply(content: Buffer): void {
    const levels = levelsIn(content.toString(), this.#path);
    const before = this.#applied;
    const after = new Map<string, Applied>();
    for (const [name, { level, lease }] of before) if (levels.get(name) !== level) lease?.release();
    this.#applied = after;
    for (const [name, level] of levels) {
      const known = before.get(name);
      after.set(name, known?.level === level ? known : this.#hold(name, level));
    }
  }

  #hold(name: string, level: Level): Applied {
    const author = {
      ...{ setTime: Date.now(), expireTime: undefined, actor: "", reason: `the file ${this.#path}` },
      ...{ instance: this.#loggers.instance, held: true, ofFile: true },
    };
    try {
      const { lease } = this.#loggers.holdDecided(name, level, author, ({ override }) => override !== undefined);
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

function readLevels(path: string): Buffer {
  try {
    return readBoundedSync(path, MAX_BYTES);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): ActuatorError {
  const { code, message } = error as NodeJS.ErrnoException;
  return invalid(`The file of levels ${path} cannot be read: ${code === "ENOENT" ? "it is not there" : message}.`);
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

import type { Level } from "../../../loggers/level.ts";
import { ALL_LEVELS, type LevelSet, levelFromLevelSet, levelSetFromLevel } from "./level.ts";

/** The levels of one context, or of the root for records without one. */
export interface Threshold {
  /** Undefined for the root. */
  readonly context: string | undefined;
  levels: LevelSet;
  /** Whether the context has levels of its own, rather than those of the root. */
  own: boolean;
  /** The levels that the application chose, which may have gaps; undefined if it chose none. */
  native: LevelSet | undefined;
}

/** The maximum of contexts. If there are more, they are probably not classes but something like order ids. */
const MAX_CONTEXTS = 10_000;

/** The levels of each context. In Nest a context is just a string in a call, and all contexts share the same levels. */
export class Contexts {
  /** The threshold of records without a context, and of contexts without levels of their own. */
  readonly root: Threshold = { context: undefined, levels: 0, own: true, native: undefined };
  readonly #thresholds = new Map<string, Threshold>();
  #union: LevelSet | undefined;

  get isFull(): boolean {
    return this.#thresholds.size >= MAX_CONTEXTS;
  }

  get(context: string): Threshold | undefined {
    return this.#thresholds.get(context);
  }

  entries(): Iterable<[string, Threshold]> {
    return this.#thresholds;
  }

  /** What at least one context lets through. */
  get union(): LevelSet {
    if (this.#union === undefined) {
      this.#union = this.root.levels;
      for (const { levels } of this.#thresholds.values()) this.#union |= levels;
    }
    return this.#union;
  }

  /** Adds a context. `native` are the levels that the application gave it, if any. */
  add(context: string, native: LevelSet | undefined): Threshold {
    const threshold = { context, levels: native ?? this.root.levels, own: native !== undefined, native };
    this.#thresholds.set(context, threshold);
    this.#union = undefined;
    return threshold;
  }

  /** Adopts levels that the application chose. Returns false if nothing changed. */
  choose(threshold: Threshold, native: LevelSet): boolean {
    threshold.native = native;
    return this.#change(threshold, native);
  }

  /** Sets a level: the levels that the application chose, if they are shown as this level. Returns false if nothing changed. */
  set(threshold: Threshold, level: Level): boolean {
    const { native } = threshold;
    const asChosen = native !== undefined && levelFromLevelSet(native) === level;
    return this.#change(threshold, asChosen ? native : levelSetFromLevel(level));
  }

  /** Sets the levels that the application chose; without any, a context follows the root again. Returns false if nothing changed. */
  restore(threshold: Threshold): boolean {
    const { native } = threshold;
    if (native !== undefined) return this.#change(threshold, native);
    threshold.own = false;
    const { levels } = threshold;
    threshold.levels = this.root.levels;
    this.#union = undefined;
    return levels !== threshold.levels;
  }

  /** Forgets all contexts and lets everything through. */
  open(): void {
    this.#thresholds.clear();
    this.#change(this.root, ALL_LEVELS);
  }

  #change(threshold: Threshold, levels: LevelSet): boolean {
    if (threshold.own && threshold.levels === levels) return false;
    threshold.own = true;
    threshold.levels = levels;
    if (threshold === this.root) {
      for (const follower of this.#thresholds.values()) if (!follower.own) follower.levels = levels;
    }
    this.#union = undefined;
    return true;
  }
}

const MAX_CONTEXT_LENGTH = 100;

/** What contexts look like: the name of a class, or a few words or names. Other text is more likely part of a message. */
const CONTEXT_PATTERN = /^[A-Za-z_$][\w$]*(?:[ .:/-][\w$]+)*$/;

/** The last argument after the message. Passed on by itself, so that V8 need not allocate the list. */
export function last(rest: readonly unknown[]): unknown {
  return rest.length > 0 ? rest[rest.length - 1] : undefined;
}

/** The argument before the last one. */
export function beforeLast(rest: readonly unknown[]): unknown {
  return rest.length > 1 ? rest[rest.length - 2] : undefined;
}

/** The context of a record, as Nest finds it: the last argument if it is a string, or the one before a stack. */
export function contextArgument(lastOne: unknown, oneBefore: unknown): string | undefined {
  if (typeof lastOne !== "string") return undefined;
  if (!lastOne.includes("\n")) return lastOne;
  return typeof oneBefore === "string" && !oneBefore.includes("\n") ? oneBefore : undefined;
}

/**
 * Whether to show a {@link contextArgument} as a logger. Nest also takes the last string of `logger.log("signed in", userId)`
 * for a context.
 */
export function isContextName(text: string): boolean {
  return text.length <= MAX_CONTEXT_LENGTH && CONTEXT_PATTERN.test(text);
}

import type { Level } from "../../../loggers/level.ts";
import { ALL_LEVELS, type LevelSet, levelFromLevelSet, levelSetFromLevel } from "./level.ts";

/** What is let through under one context, or under none. */
export interface Threshold {
  /** Undefined for the root. */
  readonly context: string | undefined;
  levels: LevelSet;
  /** Whether it has levels of its own; else it follows those of the root. */
  own: boolean;
  /** The levels that the application chose, which may have gaps; undefined where it chose none. */
  native: LevelSet | undefined;
}

/** How many contexts are told apart. More of them are no classes but something like the ids of orders. */
const MAX_CONTEXTS = 10_000;

/** The level of each context. Nest has one for all, and gives a context no life of its own: it is a text in a call. */
export class Contexts {
  /** For records without a context, and for contexts without levels of their own. */
  readonly root: Threshold = { context: undefined, levels: 0, own: true, native: undefined };
  readonly #thresholds = new Map<string, Threshold>();
  #union: LevelSet | undefined;

  get full(): boolean {
    return this.#thresholds.size >= MAX_CONTEXTS;
  }

  get(context: string): Threshold | undefined {
    return this.#thresholds.get(context);
  }

  entries(): Iterable<[string, Threshold]> {
    return this.#thresholds;
  }

  /** What is let through under one context at least. */
  get union(): LevelSet {
    if (this.#union === undefined) {
      this.#union = this.root.levels;
      for (const { levels } of this.#thresholds.values()) this.#union |= levels;
    }
    return this.#union;
  }

  /** Adds a context; `native` are the levels that the application gave it, where it did. */
  add(context: string, native: LevelSet | undefined): Threshold {
    const threshold = { context, levels: native ?? this.root.levels, own: native !== undefined, native };
    this.#thresholds.set(context, threshold);
    this.#union = undefined;
    return threshold;
  }

  /** Takes over what the application chose. Returns false where it was so before. */
  choose(threshold: Threshold, native: LevelSet): boolean {
    threshold.native = native;
    return this.#change(threshold, native);
  }

  /** Lets through what the level says. Returns false where it was so before. */
  set(threshold: Threshold, level: Level): boolean {
    const { native } = threshold;
    const asChosen = native !== undefined && levelFromLevelSet(native) === level;
    return this.#change(threshold, asChosen ? native : levelSetFromLevel(level));
  }

  /** Follows the root again. */
  release(threshold: Threshold): void {
    threshold.own = false;
    threshold.levels = this.root.levels;
    this.#union = undefined;
  }

  /** Lets everything through, whatever the context. */
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

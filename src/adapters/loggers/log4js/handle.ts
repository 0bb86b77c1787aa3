import type { LoggerHandle } from "../../../loggers/adapter.ts";
import { type Level, levelVerbosity } from "../../../loggers/level.ts";
import { writtenLevel } from "./filter.ts";
import { pushLevel } from "./instrumentation.ts";
import { levelFromNative, nativeLevel } from "./level.ts";
import type { Log4jsCopy, NativeCategory, NativeLevel } from "./native.ts";

/** One category of log4js, by its name: what stands for it in log4js is made anew whenever that is configured again. */
export class CategoryHandle implements LoggerHandle {
  /** The name in the tree. */
  readonly name: string;
  readonly category: string;
  /** The level that the application gave to this very category; undefined where it has one only by inheritance. */
  own: Level | undefined;
  /** What the category came with, before the core gave it its level. */
  native: NativeLevel;
  /** The level that the core gave it. */
  applied: Level | undefined;
  /** What was reached with it. */
  reached: Level | undefined;
  readonly #copy: Log4jsCopy;

  constructor(copy: Log4jsCopy, category: string, name: string, native: NativeLevel, own: Level | undefined) {
    this.#copy = copy;
    this.category = category;
    this.name = name;
    this.native = native;
    this.own = own;
  }

  apply(level: Level): Level {
    this.applied = level;
    pushLevel(this.#copy.categories, this.category, this.#nativeFor(level));
    return this.reach() ?? level;
  }

  /** Gives a category that has been made anew the level that it had. */
  restore(category: NativeCategory): void {
    if (this.applied !== undefined) category.level = this.#nativeFor(this.applied);
  }

  /** What the level given reaches with the appenders as they are; undefined where log4js has forgotten the category. */
  reach(): Level | undefined {
    const category = this.#copy.categories.get(this.category);
    if (category === undefined || this.applied === undefined) return undefined;
    const most = writtenLevel(this.#copy.levels, category);
    return (this.reached = levelVerbosity(most) < levelVerbosity(this.applied) ? most : this.applied);
  }

  /** A level between two, which the application chose itself, is kept for as long as it amounts to the one asked for. */
  #nativeFor(level: Level): NativeLevel {
    const { levels } = this.#copy;
    return levelFromNative(levels, this.native) === level ? this.native : nativeLevel(levels, level);
  }
}

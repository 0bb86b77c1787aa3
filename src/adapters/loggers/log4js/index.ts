import { checkOptions, text, unknown } from "../../../common/options.ts";
import type { CallTally, LoggerAdapter, LoggerHandle, LoggerHost } from "../../../loggers/adapter.ts";
import { type Level, levelVerbosity } from "../../../loggers/level.ts";
import { dotted, parentName, ROOT } from "../../../loggers/name.ts";
import { callCounter } from "../../kit/loggers/call-counter.ts";
import { stricter } from "../../kit/loggers/level-table.ts";
import { recordObserver } from "../../kit/loggers/record-instrumentation.ts";
import { listenToCalls } from "./call-listening.ts";
import { filterLimits, writtenLevel } from "./filter.ts";
import { type CategoriesObserver, categoriesInstrumentation } from "./instrumentation.ts";
import {
  type Log4js,
  type Log4jsCopy,
  levelFromNative,
  log4jsCopy,
  type NativeCategory,
  type NativeLevel,
  nativeLevel,
} from "./native.ts";
import { recordListening } from "./record-listening.ts";

export type { Log4js } from "./native.ts";

/** How the categories of log4js are named and found. */
export interface Log4jsLoggersOptions {
  /** The name of the category `default`; the others keep theirs. Default: ROOT. */
  readonly name?: string | undefined;
  /** What `log4js/lib/categories` exports. Needed only if Node.js did not load log4js itself, as in a bundle. */
  readonly categories?: object | undefined;
  /** What `log4js/lib/clustering` exports, from which records are heard. Needed only if Node.js did not load log4js itself. */
  readonly clustering?: object | undefined;
}

const DEFAULT = "default";

/**
 * Manages the categories of log4js 6; `default` is ROOT. The adapter finds the categories that exist and all that any code
 * asks for later.
 *
 * log4js copies a level once, when a category is first asked for. With the adapter, a category without a level of its own
 * follows the nearest one above it that has one. A level that the application sets is adopted. If the application calls
 * `log4js.configure()` again, each level that differs from its previous configuration is adopted, and levels set by an operator
 * stay where the configuration has not changed. If a `logLevelFilter` filters records again, the logger shows a warning. Marks,
 * which log4js writes at every level but OFF, stay as they are.
 *
 * @example
 * ```ts
 * import { createActuator } from "connect-actuator";
 * import { log4jsLoggers } from "connect-actuator/log4js";
 * import log4js from "log4js";
 *
 * const actuator = createActuator({ loggers: { adapters: [log4jsLoggers(log4js)] } });
 * const orders = log4js.getLogger("shop.orders");
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if the value is not log4js 6, or if its categories are not found.
 */
export function log4jsLoggers(log4js: Log4js, options: Log4jsLoggersOptions = {}): LoggerAdapter {
  checkOptions<Log4jsLoggersOptions>("log4jsLoggers", options, {
    name: text,
    categories: unknown,
    clustering: unknown,
  });
  return new Log4jsLoggers(log4js, log4jsCopy(log4js, options), options.name ?? ROOT);
}

class Log4jsLoggers implements LoggerAdapter, CategoriesObserver {
  readonly kind = "log4js";
  readonly hides: true | string = true;
  readonly tail?: NonNullable<LoggerAdapter["tail"]>;
  readonly #log4js: Log4js;
  readonly #copy: Log4jsCopy;
  readonly #rootName: string;
  readonly #handles = new Map<string, CategoryHandle>();
  #host: LoggerHost | undefined;
  #reviewing = false;

  constructor(log4js: Log4js, copy: Log4jsCopy, rootName: string) {
    this.#log4js = log4js;
    this.#copy = copy;
    this.#rootName = rootName;
    const { clustering } = copy;
    if (clustering === undefined) {
      this.hides = 'log4js/lib/clustering was not found; pass what it exports as "clustering" to log4jsLoggers';
      return;
    }
    this.tail = (sinkOf, hides = false) => {
      const observer = recordObserver(sinkOf, (category: string) => this.#handles.get(category), hides);
      return recordListening(log4js, copy, clustering).observe(observer);
    };
  }

  attach(host: LoggerHost): () => void {
    this.#host = host;
    const stop = categoriesInstrumentation(this.#copy.categories).observe(this);
    for (const handle of this.#present()) this.#discover(handle);
    return () => {
      stop();
      this.#handles.clear();
      this.#host = undefined;
    };
  }

  measure(tallyOf: (name: string) => CallTally | undefined): () => void {
    const count = callCounter<CategoryHandle>(tallyOf);
    return listenToCalls(this.#log4js, (category, native, enabled) => {
      const level = levelFromNative(this.#copy.levels, native);
      // MARK is not a level that a logger could be set to.
      if (level !== "OFF") count(this.#handles.get(category), levelVerbosity(level), enabled);
    });
  }

  refresh(): void {
    for (const handle of this.#handles.values()) {
      this.#warn(handle);
      if (handle.levelHasChanged()) this.#host?.reachChanged();
    }
  }

  categorySet(category: string, native: NativeCategory): void {
    const own = this.#ownLevel(category, native);
    // A copy of a category with an operator's level is not to keep that.
    const level = own === undefined ? (this.#above(category)?.native ?? native.level) : native.level;
    const handle = this.#handles.get(category);
    if (handle === undefined) this.#discover(this.#handleOf(category, this.#nameOf(category), level, own), native);
    else this.#setAnew(handle, native, level, own);
    this.#review();
  }

  levelSet(category: string, { level }: NativeCategory): void {
    const handle = this.#handles.get(category);
    if (handle === undefined || this.#host?.pushing !== false) return;
    this.#adopt(handle, level, levelFromNative(this.#copy.levels, level));
  }

  #handleOf(category: string, name: string, native: NativeLevel, own: Level | undefined): CategoryHandle {
    return new CategoryHandle(this.#copy, category, name, native, own, () => this.#above(category)?.level);
  }

  /** The nearest category above that log4js has now. It is the one that log4js copies. */
  #above(category: string): CategoryHandle | undefined {
    for (let at = category; at !== DEFAULT; ) {
      at = aboveIn(at) || DEFAULT;
      if (this.#copy.categories.has(at)) return this.#handles.get(at);
    }
    return undefined;
  }

  #discover(handle: CategoryHandle, native?: NativeCategory): void {
    this.#handles.set(handle.category, handle);
    if (native !== undefined) handle.settle(native);
    if (this.#host?.discovered(handle.name, handle, handle.own) !== true) {
      this.#handles.delete(handle.category);
      return;
    }
    this.#warn(handle);
  }

  /** The category was set again: log4js was configured again, or the category was asked for again after that. */
  #setAnew(handle: CategoryHandle, category: NativeCategory, native: NativeLevel, own: Level | undefined): void {
    // A level of the application that is gone is no reason to end an operator's.
    if (own !== handle.own && (own !== undefined || !handle.isOverridden)) this.#adopt(handle, native, own);
    else handle.adopt(native, own, handle.isOverridden);
    handle.settle(category);
  }

  #adopt(handle: CategoryHandle, native: NativeLevel, own: Level | undefined): void {
    handle.adopt(native, own, false);
    this.#host!.changedOutside(handle, own);
  }

  /** The level of its own that a category has when log4js sets it; undefined for a copy of the one above it. */
  #ownLevel(category: string, native: NativeCategory): Level | undefined {
    const { levels, categories } = this.#copy;
    const above = categories.get(aboveIn(category));
    if (category !== DEFAULT) {
      const source = above ?? categories.get(DEFAULT);
      if (source?.appenders === native.appenders) return undefined;
      // In the configuration a category below another one may leave out its level, and log4js does not keep whether it did.
      if (above !== undefined && this.#nativeOf(aboveIn(category), above) === native.level) return undefined;
    }
    return levelFromNative(levels, native.level);
  }

  /** All existing categories. One whose level differs from the one above it in the tree of names has a level of its own. */
  #present(): readonly CategoryHandle[] {
    const { levels, categories } = this.#copy;
    const byName = new Map([...categories].map(([category, native]) => [this.#nameOf(category), native]));
    return [...categories].map(([category, native]) => {
      const name = this.#nameOf(category);
      let above = parentName(name);
      while (above !== ROOT && !byName.has(above)) above = parentName(above);
      const inherited = (byName.get(above) ?? categories.get(DEFAULT))?.level;
      const differs = native.level === inherited ? undefined : levelFromNative(levels, native.level);
      const own = this.#ownLevel(category, native) ?? differs;
      return this.#handleOf(category, name, native.level, own);
    });
  }

  #nativeOf(category: string, native: NativeCategory) {
    return this.#handles.get(category)?.native ?? native.level;
  }

  #nameOf(category: string): string {
    return category === DEFAULT ? this.#rootName : dotted(category);
  }

  #warn(handle: CategoryHandle): void {
    const category = this.#copy.categories.get(handle.category);
    if (category === undefined) return;
    for (const limit of filterLimits(this.#copy.levels, category)) this.#host?.warn(handle.name, limit);
  }

  /** Refreshes once all of the current turn's changes are made: log4js sets a category once for each of its appenders. */
  #review(): void {
    if (this.#reviewing) return;
    this.#reviewing = true;
    queueMicrotask(() => {
      this.#reviewing = false;
      this.refresh();
    });
  }
}

/** One category, by its name: log4js makes a new object for it whenever it is configured again. */
class CategoryHandle implements LoggerHandle {
  /** The name in the tree. */
  readonly name: string;
  readonly category: string;
  /** The level that the application gave to this category; undefined if it only inherits one. */
  #own: Level | undefined;
  /** The category's level as log4js and the application set it. */
  #native: NativeLevel;
  readonly #copy: Log4jsCopy;
  readonly #levelAbove: () => Level | undefined;
  #applied: Level | undefined;
  #shown: Level | undefined;

  /** `levelAbove` returns the level of the category that log4js would copy for this one, while it does not have it. */
  constructor(
    copy: Log4jsCopy,
    category: string,
    name: string,
    native: NativeLevel,
    own: Level | undefined,
    levelAbove: () => Level | undefined,
  ) {
    this.#copy = copy;
    this.category = category;
    this.name = name;
    this.#native = native;
    this.#own = own;
    this.#levelAbove = levelAbove;
  }

  get level(): Level {
    const { levels, categories } = this.#copy;
    const category = categories.get(this.category);
    if (category !== undefined) {
      return stricter(levelFromNative(levels, category.level), writtenLevel(levels, category));
    }
    const above = this.own === undefined && this.#applied === undefined ? this.#levelAbove() : undefined;
    return above ?? levelFromNative(levels, this.#wanted);
  }

  /** Whether an operator's level is in force. */
  get isOverridden(): boolean {
    return this.#applied !== undefined;
  }

  get native(): NativeLevel {
    return this.#native;
  }

  get own(): Level | undefined {
    return this.#own;
  }

  /** Notes what the application set, and whether an operator's level stays in force. */
  adopt(native: NativeLevel, own: Level | undefined, isOverridden: boolean): void {
    this.#native = native;
    this.#own = own;
    if (!isOverridden) this.#applied = undefined;
  }

  apply(level: Level): void {
    this.#applied = level;
    this.#push();
  }

  restore(): void {
    this.#applied = undefined;
    this.#push();
  }

  /** Gives a category that was made anew the level that it is to have. */
  settle(category: NativeCategory): void {
    category.level = this.#wanted;
  }

  /** Whether the level is another one than at the last call. */
  levelHasChanged(): boolean {
    const before = this.#shown;
    this.#shown = this.level;
    return before !== this.#shown;
  }

  #push(): void {
    categoriesInstrumentation(this.#copy.categories).pushLevel(this.category, this.#wanted);
  }

  /** An operator's level, unless the application's own, which may lie between two levels, is shown as the same. */
  get #wanted(): NativeLevel {
    const { levels } = this.#copy;
    if (this.#applied === undefined || levelFromNative(levels, this.native) === this.#applied) return this.native;
    return nativeLevel(levels, this.#applied);
  }
}

function aboveIn(category: string): string {
  return category.slice(0, Math.max(0, category.lastIndexOf(".")));
}

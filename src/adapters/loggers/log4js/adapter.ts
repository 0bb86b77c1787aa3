import type { CallTally, LoggerAdapter, LoggerHost } from "../../../loggers/adapter.ts";
import { callCounter } from "../../../loggers/call-counter.ts";
import { type Level, levelVerbosity } from "../../../loggers/level.ts";
import { parentName, ROOT } from "../../../loggers/name.ts";
import { listenToCalls } from "./call-listening.ts";
import { filterLimits } from "./filter.ts";
import { CategoryHandle } from "./handle.ts";
import { type CategoriesObserver, observeCategories } from "./instrumentation.ts";
import { levelFromNative } from "./level.ts";
import { type Log4js, type Log4jsCopy, log4jsCopy, type NativeCategory } from "./native.ts";

/** How log4js's categories are named and found. */
export interface Log4jsLoggersOptions {
  /** The name of the category `default`; the others keep theirs. Default: ROOT. */
  readonly name?: string | undefined;
  /** What `log4js/lib/categories` exports. Needed only where Node.js did not load log4js itself, as in a bundle. */
  readonly categories?: object | undefined;
}

const DEFAULT = "default";

/**
 * Manages the categories of log4js 6; `default` is ROOT. Categories that are there already are found, and those asked for
 * later, however the code that asks came by `getLogger`.
 *
 * log4js copies a level when a category is first asked for, and never again; here a category without a level of its own
 * follows the nearest one above it that has one. A level set by application code is adopted. `log4js.configure()` called
 * again brings levels of its own: one that differs from what the application had before is adopted, and levels set by an
 * operator stay where the application has not changed its mind. Where a `logLevelFilter` filters again, the logger carries a
 * warning. Marks, which log4js writes at every level but OFF, stay as they are.
 *
 * @throws ActuatorError INVALID_ARGUMENT for what is no log4js 6, or where its categories are not found.
 */
export function log4jsLoggers(log4js: Log4js, options: Log4jsLoggersOptions = {}): LoggerAdapter {
  return new Log4jsLoggers(log4js, log4jsCopy(log4js, options.categories), options.name ?? ROOT);
}

class Log4jsLoggers implements LoggerAdapter, CategoriesObserver {
  readonly kind = "log4js";
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
  }

  attach(host: LoggerHost): () => void {
    this.#host = host;
    const stop = observeCategories(this.#copy.categories, this);
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
      // A mark is no level that a logger could be set to.
      if (level !== "OFF") count(this.#handles.get(category), levelVerbosity(level), enabled);
    });
  }

  refresh(): void {
    const host = this.#host;
    if (host === undefined) return;
    for (const handle of this.#handles.values()) {
      const { reached } = handle;
      this.#warn(handle);
      if (handle.reach() === undefined || handle.reached === reached) continue;
      host.gone(handle);
      host.discovered(handle.name, handle);
    }
  }

  categorySet(category: string, native: NativeCategory): void {
    const own = this.#ownLevel(category, native);
    const handle = this.#handles.get(category);
    if (handle === undefined) {
      this.#discover(new CategoryHandle(this.#copy, category, this.#nameOf(category), native.level, own));
    } else {
      this.#setAnew(handle, native, own);
    }
    this.#review();
  }

  levelSet(category: string, { level }: NativeCategory): void {
    const handle = this.#handles.get(category);
    if (handle === undefined || this.#host?.pushing !== false) return;
    handle.native = level;
    handle.own = levelFromNative(this.#copy.levels, level);
    this.#host.changedOutside(handle, handle.own);
  }

  #discover(handle: CategoryHandle): void {
    if (this.#host?.discovered(handle.name, handle, handle.own) !== true) return;
    this.#handles.set(handle.category, handle);
    this.#warn(handle);
  }

  /** log4js has been configured again since, or the category has been asked for again after that. */
  #setAnew(handle: CategoryHandle, category: NativeCategory, own: Level | undefined): void {
    const before = handle.own;
    const isOverridden = handle.applied !== before;
    handle.own = own;
    handle.native = category.level;
    const changed = own !== before && !(own === undefined && isOverridden);
    if (changed) this.#host!.changedOutside(handle, own);
    handle.restore(category);
  }

  /** The level that a category has itself, now that log4js has set it; undefined for a copy of the one above it. */
  #ownLevel(category: string, native: NativeCategory): Level | undefined {
    const { levels, categories } = this.#copy;
    const above = categories.get(aboveIn(category));
    if (category !== DEFAULT) {
      const source = above ?? categories.get(DEFAULT);
      if (source?.appenders === native.appenders) return undefined;
      // A category of the configuration may leave out its level where there is one above it; log4js does not tell.
      if (above !== undefined && this.#nativeOf(aboveIn(category), above) === native.level) return undefined;
    }
    return levelFromNative(levels, native.level);
  }

  /** The categories there are. One that is no copy any more, or never was one in the tree of names, has a level itself. */
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
      return new CategoryHandle(this.#copy, category, name, native.level, own);
    });
  }

  #nativeOf(category: string, native: NativeCategory) {
    return this.#handles.get(category)?.native ?? native.level;
  }

  #nameOf(category: string): string {
    return category === DEFAULT ? this.#rootName : category.replace(/[:/]/g, ".");
  }

  #warn(handle: CategoryHandle): void {
    const category = this.#copy.categories.get(handle.category);
    if (category === undefined) return;
    for (const limit of filterLimits(this.#copy.levels, category)) this.#host?.warn(handle.name, limit);
  }

  /** log4js sets a category once for each of its appenders, the last time with all of them. */
  #review(): void {
    if (this.#reviewing) return;
    this.#reviewing = true;
    queueMicrotask(() => {
      this.#reviewing = false;
      this.refresh();
    });
  }
}

function aboveIn(category: string): string {
  return category.slice(0, Math.max(0, category.lastIndexOf(".")));
}

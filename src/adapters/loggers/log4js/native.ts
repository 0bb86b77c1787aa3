import { createRequire } from "node:module";
import { join, sep } from "node:path";
import { ActuatorError } from "../../../common/error.ts";
import { LEVELS, type Level } from "../../../loggers/level.ts";
import { hasMethods } from "../../kit/interception/field.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { wrongArgument } from "../../kit/loggers/wrong-argument.ts";

/** What `import log4js from "log4js"` gives. `log4jsLoggers` checks that it is log4js 6. */
export interface Log4js {
  readonly levels: object;
  getLogger(category?: string): unknown;
  configure(configuration: never): unknown;
}

/** A level of log4js. A smaller value lets more through. */
export interface NativeLevel {
  readonly level: number;
  readonly levelStr: string;
}

/** The levels of one copy of log4js, including those that its configuration adds. */
export interface NativeLevels {
  getLevel(name: unknown): NativeLevel | undefined;
}

/** A record, as far as a filter reads it. */
export interface NativeEvent {
  readonly level: { readonly level: number };
}

export type NativeAppender = (event: NativeEvent) => void;

/** A category. log4js reads its level for every record. */
export interface NativeCategory {
  level: NativeLevel;
  /** One array for each category of the configuration, shared with those that were copied from it. */
  readonly appenders: readonly NativeAppender[];
}

/**
 * All categories in the configuration and all that the application has asked for, by name. log4js keeps this map private, in
 * `log4js/lib/categories`.
 */
export interface NativeCategories extends Map<string, NativeCategory> {
  setLevelForCategory(category: string, level: NativeLevel): void;
}

/** A record on its way to the appenders. */
export interface NativeRecord {
  readonly categoryName: string;
  readonly level: NativeLevel;
  readonly data: readonly unknown[];
  readonly context: object;
}

/** What hands every record to the appenders, in `log4js/lib/clustering`. */
export interface NativeClustering {
  send(record: NativeRecord): void;
}

/** One copy of log4js. */
export interface Log4jsCopy {
  readonly levels: NativeLevels;
  readonly categories: NativeCategories;
  /** Undefined if it was not found; records can then not be heard. */
  readonly clustering: NativeClustering | undefined;
}

/**
 * Finds the levels and categories of a copy of log4js. If `given` does not hold the categories, they are found among the
 * modules that Node.js has loaded, beside the module of this copy.
 *
 * @throws ActuatorError INVALID_ARGUMENT if the value is not log4js 6, or if its categories are not found.
 */
export function log4jsCopy(
  log4js: Log4js,
  given: { readonly categories?: object | undefined; readonly clustering?: object | undefined },
): Log4jsCopy {
  const levels = log4js?.levels as NativeLevels | undefined;
  if (typeof levels?.getLevel !== "function" || typeof log4js.getLogger !== "function") {
    throw wrongArgument(
      "NOT_LOG4JS",
      'log4jsLoggers needs log4js 6, as `import log4js from "log4js"` gives it',
      log4js,
    );
  }
  requireVersion({ subpath: "log4js", library: "log4js", versions: "6.4 to 6.x" });
  const categories = given.categories ?? loadedBeside(log4js, "categories.js");
  if (!(categories instanceof Map) || typeof (categories as NativeCategories).setLevelForCategory !== "function") {
    const message =
      'log4jsLoggers cannot find the categories of this log4js, perhaps because it is part of a bundle. Pass what "log4js/lib/categories" exports as options.categories.';
    throw new ActuatorError("INVALID_ARGUMENT", "NO_LOG4JS_CATEGORIES", message);
  }
  const clustering = given.clustering ?? loadedBeside(log4js, "clustering.js");
  return {
    levels,
    categories: categories as NativeCategories,
    clustering: hasMethods(clustering, "send") ? (clustering as NativeClustering) : undefined,
  };
}

function loadedBeside(log4js: Log4js, file: string): unknown {
  const { cache } = createRequire(import.meta.url);
  for (const [path, module] of Object.entries(cache)) {
    if (module?.exports === log4js && path.endsWith(`${sep}log4js.js`)) {
      return cache[join(path, "..", file)]?.exports;
    }
  }
  return undefined;
}

/** The native level for a level. log4js has the seven levels by the same names. */
export function nativeLevel(levels: NativeLevels, level: Level): NativeLevel {
  return levels.getLevel(level)!;
}

/**
 * The level to show for a threshold of log4js: the most verbose level that passes it. MARK, which stops everything but marks,
 * is OFF. A level of the application's own between two levels is shown as the less verbose one.
 */
export function levelFromNative(levels: NativeLevels, threshold: NativeLevel): Level {
  return LEVELS.findLast((level) => nativeLevel(levels, level).level >= threshold.level)!;
}

/** The least verbose level at which a record of a native level is written. A mark is written at every level but OFF. */
export function recordLevel(levels: NativeLevels, record: NativeLevel): Level | undefined {
  return LEVELS.find((level) => level !== "OFF" && nativeLevel(levels, level).level <= record.level);
}

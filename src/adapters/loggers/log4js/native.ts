import { createRequire } from "node:module";
import { join, sep } from "node:path";
import { ActuatorError } from "../../../common/error.ts";
import { requireVersion } from "../../kit/library-version.ts";

/** What `import log4js from "log4js"` gives. That it really is log4js 6 is checked when it is used. */
export interface Log4js {
  readonly levels: object;
  getLogger(category?: string): unknown;
  configure(configuration: never): unknown;
}

/** A level of log4js: the smaller value lets through more. */
export interface NativeLevel {
  readonly level: number;
  readonly levelStr: string;
}

/** The levels of one copy of log4js, among them those that its configuration adds. */
export interface NativeLevels {
  getLevel(name: string): NativeLevel | undefined;
}

/** A record, as far as a filter looks at it. */
export interface NativeEvent {
  readonly level: { readonly level: number };
}

export type NativeAppender = (event: NativeEvent) => void;

/** A category: its level is looked at for every record. */
export interface NativeCategory {
  level: NativeLevel;
  /** One array for each category of the configuration, shared with those that were copied from it. */
  readonly appenders: readonly NativeAppender[];
}

/**
 * Every category that the configuration has or that anybody has asked for, by its name. log4js keeps it to itself, in
 * `log4js/lib/categories`.
 */
export interface NativeCategories extends Map<string, NativeCategory> {
  setLevelForCategory(category: string, level: NativeLevel): void;
}

/** One copy of log4js. */
export interface Log4jsCopy {
  readonly levels: NativeLevels;
  readonly categories: NativeCategories;
}

/**
 * Takes a copy of log4js apart. Where its categories are not given, they are found among the modules that Node.js has
 * loaded, beside the one that is this very copy.
 *
 * @throws ActuatorError INVALID_ARGUMENT for what is no log4js 6, or where the categories are not found.
 */
export function log4jsCopy(log4js: Log4js, given: object | undefined): Log4jsCopy {
  const levels = log4js?.levels as NativeLevels | undefined;
  if (typeof levels?.getLevel !== "function" || typeof log4js.getLogger !== "function") {
    throw new ActuatorError(
      "INVALID_ARGUMENT",
      "NOT_LOG4JS",
      'log4jsLoggers expects log4js 6, as "log4js" exports it.',
    );
  }
  requireVersion({ subpath: "log4js", library: "log4js", versions: "6.4 to 6.x" });
  const categories = given ?? loadedCategories(log4js);
  if (!(categories instanceof Map) || typeof (categories as NativeCategories).setLevelForCategory !== "function") {
    const message =
      'log4jsLoggers does not find the categories of this log4js, as in a bundle. Give it what "log4js/lib/categories" exports, as options.categories.';
    throw new ActuatorError("INVALID_ARGUMENT", "NO_LOG4JS_CATEGORIES", message);
  }
  return { levels, categories: categories as NativeCategories };
}

function loadedCategories(log4js: Log4js): unknown {
  const { cache } = createRequire(import.meta.url);
  for (const [path, module] of Object.entries(cache)) {
    if (module?.exports === log4js && path.endsWith(`${sep}log4js.js`)) {
      return cache[join(path, "..", "categories.js")]?.exports;
    }
  }
  return undefined;
}

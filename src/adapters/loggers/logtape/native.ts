import { ActuatorError } from "../../../common/error.ts";
import type { Level } from "../../../loggers/level.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { LevelTable } from "../../kit/loggers/level-table.ts";

/** The lowest level of a logger; null if nothing passes. */
export type NativeLevel = "fatal" | "error" | "warning" | "info" | "debug" | "trace" | null;

const levels = new LevelTable<NativeLevel>({
  OFF: null,
  FATAL: "fatal",
  ERROR: "error",
  WARN: "warning",
  INFO: "info",
  DEBUG: "debug",
  TRACE: "trace",
});

/** LogTape's lowest level for a level. */
export function levelToNative(level: Level): NativeLevel {
  return levels.native(level);
}

/** The level of one of LogTape's lowest levels. */
export function levelFromNative(level: NativeLevel): Level {
  return levels.level(level)!;
}

/** A function that LogTape passes each record to. */
export type Sink = (...of: never[]) => unknown;

/** A logger of LogTape, from within. There is one for each category. */
export interface NativeLogger {
  readonly parent: NativeLogger | null;
  readonly children: { readonly [name: string]: NativeLogger | WeakRef<NativeLogger> };
  readonly category: readonly string[];
  /** Its own sinks, besides those of its parent. */
  readonly sinks: Sink[];
  readonly filters: readonly ((...of: never[]) => boolean)[];
  /**
   * Whether it also writes to its parent's sinks: "inherit" as far as the parent's level allows, "override" not at all, and
   * "forward", since LogTape 2.4, whatever the parent's level is.
   */
  parentSinks: "inherit" | "override" | "forward";
  lowestLevel: NativeLevel;
  getSinks(level: NativeLevel): Iterable<Sink>;
  getChild(subcategory: unknown): NativeLogger;
  resetDescendants(): void;
  isEnabledFor(level: NativeLevel): boolean;
  with(properties: object): object;
  /** The logger that decides under a prefix to all categories. Since LogTape 2.4; before, it is always the one called. */
  getDispatcher?(categoryPrefix: readonly string[]): NativeLogger;
  /** On the root: the store of a configuration for one call of the application's. */
  readonly contextLocalStorage?: { getStore(): Readonly<Record<symbol, unknown>> | undefined } | undefined;
}

/**
 * The root of the one tree of loggers that all copies of LogTape in this process share.
 *
 * @throws ActuatorError FAILED_PRECONDITION if LogTape is not loaded yet, or has another major version.
 */
export function rootLogger(): NativeLogger {
  const root = (globalThis as Record<symbol, unknown>)[Symbol.for("logtape.rootLogger")] as NativeLogger | undefined;
  const methods = [root?.getChild, root?.resetDescendants, root?.getSinks];
  if (root !== undefined && methods.every((method) => typeof method === "function")) {
    requireVersion({ subpath: "logtape", library: "@logtape/logtape", versions: "2" });
    return root;
  }
  const message = "logtapeLoggers needs LogTape 2, which is not loaded yet; import @logtape/logtape before.";
  throw new ActuatorError("FAILED_PRECONDITION", "LOGTAPE_NOT_LOADED", message);
}

/** The logger and all loggers below it that are still in use, each after its parent. */
export function* loggersBelow(logger: NativeLogger): Generator<NativeLogger> {
  yield logger;
  for (const held of Object.values(logger.children)) {
    const child = "deref" in held ? held.deref() : held;
    if (child !== undefined) yield* loggersBelow(child);
  }
}

/**
 * Whether loggers know `parentSinks: "forward"`. The copy that made the root decides, whatever the version of the others; so
 * its loggers are tried, outside of the tree.
 */
export function forwards(logger: NativeLogger): boolean {
  const Logger = logger.constructor as new (parent: NativeLogger | null, category: readonly string[]) => NativeLogger;
  const parent = new Logger(null, []);
  const child = new Logger(parent, ["child"]);
  parent.sinks.push(() => {});
  parent.lowestLevel = null;
  child.parentSinks = "forward";
  return [...child.getSinks("fatal")].length > 0;
}

import type { Level } from "../../../loggers/level.ts";
import { placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { Instrumentation, oncePer } from "../../kit/loggers/instrumentation.ts";
import { stricter } from "../../kit/loggers/level-table.ts";
import {
  forwards,
  levelFromNative,
  levelToNative,
  loggersBelow,
  type NativeLevel,
  type NativeLogger,
  type Sink,
} from "./native.ts";
import { filterThreshold, isConfigured, limitsOf, sinksInReach, threshold } from "./threshold.ts";

/** What an adapter learns from watching LogTape. */
export interface LogTapeObserver {
  /** A category is used for the first time. */
  made(logger: NativeLogger): void;
  /** Another adapter or the application set a level on a logger. */
  levelSet(logger: NativeLogger, level: Level): void;
  /** The application called `configure()` or `reset()`: no logger has the level any more that an adapter gave it. */
  configured(loggers: readonly FoundLogger[]): void;
}

/** A logger as the application has configured it. */
export interface FoundLogger {
  readonly logger: NativeLogger;
  readonly level: Level;
  /** Whether the level is of its own configuration. */
  readonly configured: boolean;
  readonly limits: readonly string[];
}

/** How a logger was before an adapter gave it a level. */
interface Original {
  readonly lowestLevel: NativeLevel;
  readonly parentSinks: NativeLogger["parentSinks"];
  readonly sinks: Sink[];
  /** The level that an adapter gave it. */
  level: NativeLevel;
}

/** The instrumentation of a tree, which all adapters share. */
export const logtapeInstrumentation = oncePer((root: NativeLogger) => new LogTapeInstrumentation(root));

/**
 * Sets levels in a tree of LogTape and watches for loggers that are added to it.
 *
 * In LogTape a logger's level also limits what the loggers below it write to its sinks. So a logger that is given a level here
 * gets access to all sinks above it, and its own level alone decides. All loggers share a prototype, so replacing two of its
 * methods sees each logger being made and reset, and nothing runs when a record is written.
 */
export class LogTapeInstrumentation extends Instrumentation<LogTapeObserver> {
  readonly root: NativeLogger;
  readonly #forwards: boolean;
  #known = new WeakSet<NativeLogger>();
  #originals = new WeakMap<NativeLogger, Original>();
  #reset = false;

  constructor(root: NativeLogger) {
    super();
    this.root = root;
    this.#forwards = forwards(root);
  }

  /** Adds an observer and returns all loggers there are, with a function that removes the observer. */
  start(observer: LogTapeObserver): { readonly found: readonly FoundLogger[]; readonly stop: () => void } {
    // Changes of this turn are reported to the earlier observers only.
    this.settle();
    const stop = this.observe(observer);
    return { found: this.#survey(), stop };
  }

  protected install(): () => void {
    const prototype = Object.getPrototypeOf(this.root) as object;
    const { root } = this;
    const made = (logger: NativeLogger) => this.#made(logger);
    const wasReset = () => this.#wasReset();
    const restore = undoing([
      placeMethod(prototype, "getChild", (original) => {
        return function (this: unknown, ...values) {
          const child = original.apply(this, values) as NativeLogger;
          made(child);
          return child;
        };
      }),
      placeMethod(prototype, "resetDescendants", (original) => {
        return function (this: unknown, ...values) {
          original.apply(this, values);
          if (this === root) wasReset();
        };
      }),
    ]);
    return () => {
      restore();
      for (const logger of loggersBelow(root)) this.#close(logger);
      this.#known = new WeakSet();
      this.#originals = new WeakMap();
    };
  }

  /** Sets a logger's level and tells all other observers. Returns what reaches the logger's sinks. */
  setLevel(logger: NativeLogger, level: Level, by: LogTapeObserver): Level {
    this.settle();
    const native = levelToNative(level);
    const changed = logger.lowestLevel !== native;
    this.#open(logger, native);
    for (const observer of changed ? this.observers : []) if (observer !== by) observer.levelSet(logger, level);
    return stricter(level, filterThreshold(logger));
  }

  /** Looks for levels that the application set. */
  refresh(): void {
    this.settle();
    for (const logger of loggersBelow(this.root)) {
      const original = this.#originals.get(logger);
      if (original === undefined || original.level === logger.lowestLevel) continue;
      for (const observer of this.observers) observer.levelSet(logger, levelFromNative(logger.lowestLevel));
    }
  }

  /** Tells the observers of a configuration that the application made in this turn. */
  settle(): void {
    if (!this.#reset) return;
    this.#reset = false;
    this.#originals = new WeakMap();
    const loggers = this.#survey();
    for (const observer of this.observers) observer.configured(loggers);
  }

  /** All loggers, read before any of them is changed: the level of one depends on those above it. */
  #survey(): readonly FoundLogger[] {
    return [...loggersBelow(this.root)].map((logger) => {
      this.#known.add(logger);
      const configured = isConfigured(this.#originals.get(logger) ?? logger);
      return { logger, level: threshold(logger), configured, limits: limitsOf(logger) };
    });
  }

  #wasReset(): void {
    if (!this.isWatched || this.#reset) return;
    this.#reset = true;
    // `configure()` sets the loggers up in the same turn, after it has reset them.
    queueMicrotask(() => this.settle());
  }

  #made(logger: NativeLogger): void {
    // While LogTape is being configured, all loggers are reported together afterwards.
    if (this.#known.has(logger) || this.#reset || !this.isWatched) return;
    if (logger.parent !== null) this.#made(logger.parent);
    this.#known.add(logger);
    for (const observer of this.observers) observer.made(logger);
  }

  #open(logger: NativeLogger, level: NativeLevel): void {
    const original = this.#originals.get(logger);
    if (original === undefined) {
      const { lowestLevel, parentSinks, sinks } = logger;
      this.#originals.set(logger, { lowestLevel, parentSinks, sinks: [...sinks], level });
      if (logger.parent !== null && parentSinks === "inherit") this.#reachUp(logger, logger.parent);
    } else {
      original.level = level;
    }
    logger.lowestLevel = level;
  }

  #reachUp(logger: NativeLogger, parent: NativeLogger): void {
    if (this.#forwards) {
      logger.parentSinks = "forward";
    } else {
      logger.sinks.unshift(...sinksInReach(parent));
      logger.parentSinks = "override";
    }
  }

  /** Restores a logger, or leaves it as it is if restoring would change its level. */
  #close(logger: NativeLogger): void {
    const original = this.#originals.get(logger);
    if (original === undefined) return;
    const { lowestLevel, parentSinks, sinks } = logger;
    const opened = { lowestLevel, parentSinks };
    const openedSinks = [...sinks];
    restore(logger, original, original.sinks);
    if (threshold(logger) !== levelFromNative(lowestLevel)) restore(logger, opened, openedSinks);
  }
}

function restore(
  logger: NativeLogger,
  { lowestLevel, parentSinks }: Pick<NativeLogger, "lowestLevel" | "parentSinks">,
  sinks: readonly Sink[],
): void {
  logger.lowestLevel = lowestLevel;
  logger.parentSinks = parentSinks;
  logger.sinks.splice(0, logger.sinks.length, ...sinks);
}

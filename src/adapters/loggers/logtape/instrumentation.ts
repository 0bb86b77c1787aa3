import type { Level } from "../../../loggers/level.ts";
import { placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { Instrumentation, oncePer } from "../../kit/loggers/instrumentation.ts";
import {
  forwards,
  levelFromNative,
  levelToNative,
  loggersBelow,
  type NativeLevel,
  type NativeLogger,
  type Sink,
} from "./native.ts";
import { isConfigured, limitsOf, sinksInReach, threshold } from "./threshold.ts";

/** What an adapter learns from watching LogTape. */
export interface LogTapeObserver {
  /** A category is used for the first time. */
  made(logger: NativeLogger): void;
  /** Another adapter set a level on a logger, or took it back (undefined). */
  levelSet(logger: NativeLogger, level: Level | undefined): void;
  /** The application may have configured these loggers anew. They no longer have a level that an adapter gave them. */
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
  /** What reached its sinks. */
  readonly threshold: NativeLevel;
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
  /** The loggers with a level that an adapter set. */
  #set = new WeakSet<NativeLogger>();
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
      for (const logger of loggersBelow(root)) if (this.#originals.has(logger)) this.#leave(logger);
      this.#known = new WeakSet();
      this.#originals = new WeakMap();
      this.#set = new WeakSet();
    };
  }

  /** Sets a logger's level, or gives it back its own (undefined), and tells all other observers. */
  setLevel(logger: NativeLogger, level: Level | undefined, by: LogTapeObserver): void {
    this.settle();
    const before = threshold(logger);
    if (level === undefined) this.#release(logger);
    else {
      this.#shieldBelow(logger);
      this.#set.add(logger);
      this.#open(logger, levelToNative(level));
    }
    const after = threshold(logger);
    if (before === after) return;
    const own = level !== undefined || isConfigured(logger) ? after : undefined;
    for (const observer of this.observers) if (observer !== by) observer.levelSet(logger, own);
  }

  /** Looks for loggers that the application has configured by themselves, or that it has given levels. */
  refresh(): void {
    this.readLevels();
    const unopened = this.#survey().filter(({ logger }) => !this.#originals.has(logger));
    for (const observer of this.observers) observer.configured(unopened);
  }

  /** Looks for levels that the application set on loggers with an operator's, without `configure()`. */
  readLevels(): void {
    this.settle();
    const changed: NativeLogger[] = [];
    for (const logger of loggersBelow(this.root)) {
      const original = this.#originals.get(logger);
      if (original === undefined || original.level === logger.lowestLevel) continue;
      const { lowestLevel } = logger;
      this.#set.delete(logger);
      this.#close(logger);
      logger.lowestLevel = lowestLevel;
      changed.push(logger);
    }
    if (changed.length === 0) return;
    const found = this.#survey().filter(({ logger }) => changed.includes(logger));
    for (const observer of this.observers) observer.configured(found);
  }

  /** Tells the observers of a configuration that the application made in this turn. */
  settle(): void {
    if (!this.#reset) return;
    this.#reset = false;
    this.#originals = new WeakMap();
    this.#set = new WeakSet();
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

  /** Keeps the level of a logger from limiting what configured loggers below write to its sinks. */
  #shieldBelow(logger: NativeLogger): void {
    const below = [...loggersBelow(logger)].filter(
      (other) => other !== logger && !this.#originals.has(other) && isConfigured(other),
    );
    const levels = below.map((other) => levelToNative(threshold(other)));
    for (const [index, other] of below.entries()) this.#open(other, levels[index]!);
  }

  /** Gives a logger back the level that it had. With the last one, all that were opened are as they were. */
  #release(logger: NativeLogger): void {
    if (!this.#set.delete(logger)) return;
    const original = this.#originals.get(logger)!;
    const loggers = [...loggersBelow(this.root)];
    if (!loggers.some((other) => this.#set.has(other))) for (const other of loggers) this.#close(other);
    else if (isConfigured(original) && this.#isSetAbove(logger)) this.#open(logger, original.threshold);
    else this.#close(logger);
  }

  #isSetAbove(logger: NativeLogger): boolean {
    for (let at = logger.parent; at !== null; at = at.parent) if (this.#set.has(at)) return true;
    return false;
  }

  #open(logger: NativeLogger, level: NativeLevel): void {
    const original = this.#originals.get(logger);
    if (original === undefined) {
      const { lowestLevel, parentSinks, sinks } = logger;
      const had = levelToNative(threshold(logger));
      this.#originals.set(logger, { lowestLevel, parentSinks, sinks: [...sinks], threshold: had, level });
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

  /** Makes a logger what it was before it was opened. */
  #close(logger: NativeLogger): void {
    const original = this.#originals.get(logger);
    if (original === undefined) return;
    this.#originals.delete(logger);
    restore(logger, original, original.sinks);
  }

  /** Makes a logger what it was before it was opened, unless that would change its level. */
  #leave(logger: NativeLogger): void {
    const { lowestLevel, parentSinks, sinks } = logger;
    const opened = { lowestLevel, parentSinks };
    const openedSinks = [...sinks];
    this.#close(logger);
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

import type { Level } from "../../../loggers/level.ts";
import { levelFromNative, levelToNative, type NativeLevel, stricter } from "./level.ts";
import { limitsOf } from "./limits.ts";
import { loggersBelow, type NativeLogger, type NativePrototype, type NativeTree, type Sink } from "./native.ts";
import { filterThreshold, isConfigured, sinksInReach, threshold } from "./threshold.ts";

/** What is told to each adapter that watches LogTape. */
export interface LogTapeObserver {
  /** A category is used for the first time. */
  made(logger: NativeLogger): void;
  /** A level was set on a logger, by another adapter or past all of them. */
  levelSet(logger: NativeLogger, level: Level): void;
  /** `configure()` or `reset()` was called: no logger has what an adapter gave it any more. */
  configured(loggers: readonly FoundLogger[]): void;
}

/** A logger as its application has it. */
export interface FoundLogger {
  readonly logger: NativeLogger;
  readonly level: Level;
  /** Whether it has the level by its own configuration. */
  readonly configured: boolean;
  readonly limits: readonly string[];
}

/** How a logger was before it got a level from here. */
interface Original {
  readonly lowestLevel: NativeLevel;
  readonly parentSinks: NativeLogger["parentSinks"];
  readonly sinks: Sink[];
  /** What it has from here. */
  level: NativeLevel;
}

const instrumentations = new WeakMap<NativeLogger, Instrumentation>();

/** What sets levels in a tree of LogTape; one for all adapters that watch the tree. */
export function logtapeInstrumentation(tree: NativeTree): Instrumentation {
  let instrumentation = instrumentations.get(tree.root);
  if (instrumentation === undefined) instrumentations.set(tree.root, (instrumentation = new Instrumentation(tree)));
  return instrumentation;
}

/**
 * Sets levels in a tree of LogTape and tells of the loggers that come into it.
 *
 * In LogTape a logger's level also bounds what those below it write to its sinks. A logger that is given a level here is
 * therefore opened to the sinks above it, so that its own level alone decides. All loggers share a prototype: replacing two of
 * its methods sees each of them made and reset, and nothing of it runs when a record is written.
 */
export class Instrumentation {
  readonly root: NativeLogger;
  readonly #forwards: boolean;
  readonly #prototype: NativePrototype;
  readonly #original: Pick<NativePrototype, "getChild" | "resetDescendants">;
  readonly #replacement: Pick<NativePrototype, "getChild" | "resetDescendants">;
  readonly #observers = new Set<LogTapeObserver>();
  #known = new WeakSet<NativeLogger>();
  #originals = new WeakMap<NativeLogger, Original>();
  #reset = false;

  constructor({ root, prototype, forwards }: NativeTree) {
    const { getChild, resetDescendants } = prototype;
    const self = this;
    this.root = root;
    this.#prototype = prototype;
    this.#forwards = forwards;
    this.#original = { getChild, resetDescendants };
    this.#replacement = {
      getChild(this: NativeLogger, subcategory: unknown) {
        const child = getChild.call(this, subcategory);
        self.#made(child);
        return child;
      },
      resetDescendants(this: NativeLogger) {
        resetDescendants.call(this);
        if (this === root) self.#wasReset();
      },
    };
  }

  /** Tells the observer of what happens from now on. Returns what is there. */
  start(observer: LogTapeObserver): readonly FoundLogger[] {
    if (this.#observers.size === 0) Object.assign(this.#prototype, this.#replacement);
    this.settle();
    this.#observers.add(observer);
    return this.#survey();
  }

  stop(observer: LogTapeObserver): void {
    if (!this.#observers.delete(observer) || this.#observers.size > 0) return;
    for (const key of ["getChild", "resetDescendants"] as const) {
      if (this.#prototype[key] === this.#replacement[key])
        Object.assign(this.#prototype, { [key]: this.#original[key] });
    }
    for (const logger of loggersBelow(this.root)) this.#close(logger);
    this.#known = new WeakSet();
    this.#originals = new WeakMap();
  }

  /** Gives a logger a level and tells everybody else. Returns what reaches the logger's sinks. */
  setLevel(logger: NativeLogger, level: Level, by: LogTapeObserver): Level {
    this.settle();
    const native = levelToNative(level);
    const changed = logger.lowestLevel !== native;
    this.#open(logger, native);
    for (const observer of changed ? this.#observers : []) if (observer !== by) observer.levelSet(logger, level);
    return stricter(level, filterThreshold(logger));
  }

  /** Looks for levels that were set past all adapters. */
  refresh(): void {
    this.settle();
    for (const logger of loggersBelow(this.root)) {
      const original = this.#originals.get(logger);
      if (original === undefined || original.level === logger.lowestLevel) continue;
      for (const observer of this.#observers) observer.levelSet(logger, levelFromNative(logger.lowestLevel));
    }
  }

  /** Tells the observers of a configuration that was made just now, in this very turn. */
  settle(): void {
    if (!this.#reset) return;
    this.#reset = false;
    this.#originals = new WeakMap();
    const loggers = this.#survey();
    for (const observer of this.#observers) observer.configured(loggers);
  }

  /** All loggers, looked at before any of them is changed: what one of them amounts to depends on those above. */
  #survey(): readonly FoundLogger[] {
    return [...loggersBelow(this.root)].map((logger) => {
      this.#known.add(logger);
      const configured = isConfigured(this.#originals.get(logger) ?? logger);
      return { logger, level: threshold(logger), configured, limits: limitsOf(logger) };
    });
  }

  #wasReset(): void {
    if (this.#observers.size === 0 || this.#reset) return;
    this.#reset = true;
    // `configure()` sets the loggers up in the same turn, after it has reset them.
    queueMicrotask(() => this.settle());
  }

  #made(logger: NativeLogger): void {
    // While LogTape is being configured its loggers are told of together.
    if (this.#known.has(logger) || this.#reset || this.#observers.size === 0) return;
    if (logger.parent !== null) this.#made(logger.parent);
    this.#known.add(logger);
    for (const observer of this.#observers) observer.made(logger);
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

  /** Makes a logger what it was or, where that is another level by now, leaves it with the one it has. */
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

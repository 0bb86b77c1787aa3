import type { Level } from "../../../loggers/level.ts";
import { Contexts, contextArgument, isContextName, type Threshold } from "./contexts.ts";
import { type LevelSet, levelBit, levelFromLevelSet } from "./level.ts";
import {
  type ConsoleLogger,
  consoleLevels,
  isServedByNest,
  type LoggerService,
  methodsOf,
  type NestClasses,
  serviceLevels,
} from "./native.ts";

/** What an adapter learns from watching a copy of Nest. The context is undefined for the root. */
export interface NestObserver {
  /** A context was used for the first time; the root comes first. `own` is the level that the application gave it. */
  found(context: string | undefined, own: Level | undefined): void;
  /** A level was set, by the application or through another adapter. */
  levelSet(context: string | undefined, level: Level): void;
  /** There are too many contexts. Those not found so far follow the root. */
  full(): void;
  /** The application has replaced its logger service. `methodsChanged` says whether it can reach other levels than before. */
  serviceReplaced(methodsChanged: boolean): void;
}

/** Decides which context a record belongs to and whether the record is let through. Remembers what the application chose. */
export class LevelController {
  readonly contexts = new Contexts();
  readonly #nest: NestClasses;
  /** The original method of `ConsoleLogger`. */
  readonly #isLevelEnabled: (level: string) => boolean;
  readonly #observers = new Set<NestObserver>();
  /** The loggers that Nest made for `Logger`s without a context. They get the context with each record. */
  readonly #shared = new WeakSet<LoggerService>();
  #state: "waiting" | "settled" | "stopped" = "waiting";

  constructor(nest: NestClasses) {
    this.#nest = nest;
    this.#isLevelEnabled = nest.ConsoleLogger.prototype.isLevelEnabled;
  }

  /** Whether Nest's own levels have been read. */
  get isSettled(): boolean {
    return this.#state === "settled";
  }

  get isWatched(): boolean {
    return this.#observers.size > 0;
  }

  /** Adds an observer and tells it what has been found so far. */
  add(observer: NestObserver): void {
    this.#observers.add(observer);
    if (this.#state !== "settled") return;
    observer.found(undefined, levelFromLevelSet(this.contexts.root.levels));
    for (const [context, { own, levels }] of this.contexts.entries()) {
      observer.found(context, own ? levelFromLevelSet(levels) : undefined);
    }
  }

  delete(observer: NestObserver): void {
    this.#observers.delete(observer);
  }

  /** Lets everything through from now on. Returns the levels to set in Nest; undefined if Nest has the right ones. */
  stop(): LevelSet | undefined {
    const { levels, native } = this.contexts.root;
    const changed = this.#state === "settled" && levels !== native && isServedByNest(this.#nest);
    this.#state = "stopped";
    this.contexts.open();
    return changed ? levels : undefined;
  }

  /**
   * Reads what Nest lets through by itself, at the first record or when an operator reads. Not sooner, because the application
   * may not have set its logger service yet. Returns false if that was done before.
   */
  settle(): boolean {
    if (this.#state !== "waiting") return false;
    this.#state = "settled";
    const { root } = this.contexts;
    this.contexts.choose(root, serviceLevels(this.#nest, this.#isLevelEnabled));
    for (const observer of this.#observers) observer.found(undefined, levelFromLevelSet(root.levels));
    return true;
  }

  /** The level of a context or of the root, as far as the logger service has methods for it. */
  levelOf(context: string | undefined): Level {
    const { levels } = this.#thresholdOf(context) ?? this.contexts.root;
    return levelFromLevelSet(levels & methodsOf(this.#nest.Logger.staticInstanceRef));
  }

  /** Sets the level of a context or of the root. */
  set(context: string | undefined, level: Level): void {
    const threshold = this.#thresholdOf(context);
    if (threshold === undefined) return;
    const methods = methodsOf(this.#nest.Logger.staticInstanceRef);
    const nearest = level === "FATAL" && (methods & levelBit("fatal")) === 0 ? "ERROR" : level;
    if (this.contexts.set(threshold, nearest)) this.#tell(context, level);
  }

  /** Gives a context or the root back the levels that the application chose. Without any, a context follows the root again. */
  restore(context: string | undefined): void {
    const threshold = this.#thresholdOf(context);
    if (threshold !== undefined && this.contexts.restore(threshold)) {
      this.#tell(context, levelFromLevelSet(threshold.levels));
    }
  }

  /** Adopts levels that the application set for a context or for the root. */
  choose(context: string | undefined, levels: LevelSet): void {
    const threshold = this.#thresholdOf(context);
    if (this.#state !== "settled" || threshold === undefined) return;
    if (this.contexts.choose(threshold, levels)) this.#tell(context, levelFromLevelSet(levels));
  }

  /** Adopts the levels of the logger service that has replaced `before`. */
  serviceReplaced(before: LoggerService | undefined): void {
    if (this.#state !== "settled") return;
    const service = this.#nest.Logger.staticInstanceRef;
    const levels = serviceLevels(this.#nest, this.#isLevelEnabled);
    const known = service === undefined || isServedByNest(this.#nest);
    if (known && levels !== this.contexts.root.native) this.choose(undefined, levels);
    const methodsChanged = methodsOf(before) !== methodsOf(service);
    for (const observer of this.#observers) observer.serviceReplaced(methodsChanged);
  }

  /** The threshold for a record of this context. */
  ofContext(context: string): Threshold {
    return this.contexts.get(context) ?? this.#found(context);
  }

  /** The threshold for a record of a logger without a context, which may be among the last two arguments. */
  ofArguments(last: unknown, beforeLast: unknown): Threshold {
    return this.#ofArguments(last, beforeLast) ?? this.contexts.root;
  }

  /** Notes the logger that a `Logger` without a context writes to. */
  share(behind: LoggerService | undefined): void {
    if (behind !== undefined && behind !== this.#nest.Logger.staticInstanceRef) this.#shared.add(behind);
  }

  /** The threshold for a record of a `ConsoleLogger`; undefined for one without a context, which keeps its own levels. */
  ofConsole(logger: ConsoleLogger, last: unknown, beforeLast: unknown): Threshold | undefined {
    const { context } = logger;
    if (!this.#takesContexts(logger)) return context ? this.#ofOwnContext(logger, context) : undefined;
    return this.#ofArguments(last, beforeLast) ?? (context ? this.ofContext(context) : this.contexts.root);
  }

  /** What a `ConsoleLogger` lets through for at least one context; undefined for one that keeps its own levels. */
  levelsOf(logger: ConsoleLogger): LevelSet | undefined {
    this.settle();
    if (this.#state === "stopped") return undefined;
    if (this.#takesContexts(logger)) return this.contexts.union;
    return logger.context ? this.#ofOwnContext(logger, logger.context)?.levels : undefined;
  }

  #thresholdOf(context: string | undefined): Threshold | undefined {
    return context === undefined ? this.contexts.root : this.contexts.get(context);
  }

  /** Adds a context at its first use. `native` is what its own logger lets through. */
  #found(context: string, native?: LevelSet): Threshold {
    this.settle();
    const { root, isFull } = this.contexts;
    if (this.#state === "stopped" || isFull || typeof context !== "string") return root;
    const threshold = this.contexts.add(context, native === root.native ? undefined : native);
    const own = threshold.own ? levelFromLevelSet(threshold.levels) : undefined;
    for (const observer of this.#observers) observer.found(context, own);
    if (this.contexts.isFull) for (const observer of this.#observers) observer.full();
    return threshold;
  }

  #ofArguments(last: unknown, beforeLast: unknown): Threshold | undefined {
    // A known context cannot be a stack, so it needs no closer look.
    const known = typeof last === "string" ? this.contexts.get(last) : undefined;
    if (known !== undefined) return known;
    const context = contextArgument(last, beforeLast);
    if (!context) return undefined;
    return this.contexts.get(context) ?? (isContextName(context) ? this.#found(context) : undefined);
  }

  /** For a logger that the application made for one context: what the logger lets through becomes the context's levels. */
  #ofOwnContext(logger: ConsoleLogger, context: string): Threshold | undefined {
    const threshold = this.contexts.get(context);
    if (threshold !== undefined) return threshold;
    if (this.#state === "stopped" || this.contexts.isFull) return undefined;
    return this.#found(context, consoleLevels(logger, this.#isLevelEnabled));
  }

  /** Whether a logger writes for all contexts and gets the context with each record. */
  #takesContexts(logger: ConsoleLogger): boolean {
    return logger === this.#nest.Logger.staticInstanceRef || (!logger.context && this.#shared.has(logger));
  }

  #tell(context: string | undefined, level: Level): void {
    for (const observer of this.#observers) observer.levelSet(context, level);
  }
}

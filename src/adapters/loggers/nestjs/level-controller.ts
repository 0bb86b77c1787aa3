import type { Level } from "../../../loggers/level.ts";
import { contextArgument, isContextName } from "./context-argument.ts";
import { Contexts, type Threshold } from "./contexts.ts";
import { type LevelSet, levelBit, levelFromLevelSet, levelSetFromLevel } from "./level.ts";
import {
  type ConsoleLogger,
  consoleLevels,
  isServedByNest,
  type LoggerService,
  methodsOf,
  type NestClasses,
  serviceLevels,
} from "./native.ts";

/** What is told to each adapter that watches a copy of Nest. The context is undefined where the root is meant. */
export interface NestObserver {
  /** A context was used for the first time; the root is told of first. `own`: the level that the application gave it. */
  found(context: string | undefined, own: Level | undefined): void;
  /** A level was set, by the application or through another adapter. */
  levelSet(context: string | undefined, level: Level): void;
  /** There are too many contexts; those not found so far follow the root. */
  full(): void;
  /** The application has another logger service now. `methodsChanged`: it may reach other levels than the one before. */
  serviceReplaced(methodsChanged: boolean): void;
}

/** Decides which context a record belongs to and whether it is let through; knows what the application itself chose. */
export class LevelController {
  readonly contexts = new Contexts();
  readonly #nest: NestClasses;
  /** `ConsoleLogger`'s own. */
  readonly #isLevelEnabled: (level: string) => boolean;
  readonly #observers = new Set<NestObserver>();
  /** The loggers that Nest made for those without a context: they get the context with each record. */
  readonly #shared = new WeakSet<LoggerService>();
  #state: "waiting" | "settled" | "stopped" = "waiting";

  constructor(nest: NestClasses) {
    this.#nest = nest;
    this.#isLevelEnabled = nest.ConsoleLogger.prototype.isLevelEnabled;
  }

  get settled(): boolean {
    return this.#state === "settled";
  }

  get watched(): boolean {
    return this.#observers.size > 0;
  }

  /** Tells a new observer what is known so far. */
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

  /** Lets everything through from now on. Returns what Nest is to let through by itself, where it must be told. */
  stop(): LevelSet | undefined {
    const { levels, native } = this.contexts.root;
    const changed = this.#state === "settled" && levels !== native && isServedByNest(this.#nest);
    this.#state = "stopped";
    this.contexts.open();
    return changed ? levels : undefined;
  }

  /**
   * Takes over what Nest lets through by itself, at the first record or when an operator reads. Not sooner: the application
   * may still be about to name its logger service. Returns false where that is done.
   */
  settle(): boolean {
    if (this.#state !== "waiting") return false;
    this.#state = "settled";
    const { root } = this.contexts;
    this.contexts.choose(root, serviceLevels(this.#nest, this.#isLevelEnabled));
    for (const observer of this.#observers) observer.found(undefined, levelFromLevelSet(root.levels));
    return true;
  }

  /** Sets the level of a context, or of the root. Returns the level really reached. */
  set(context: string | undefined, level: Level): Level {
    const threshold = this.#thresholdOf(context);
    if (threshold === undefined) return level;
    const methods = methodsOf(this.#nest.Logger.staticInstanceRef);
    const nearest = level === "FATAL" && (methods & levelBit("fatal")) === 0 ? "ERROR" : level;
    if (this.contexts.set(threshold, nearest)) this.#tell(context, level);
    return levelFromLevelSet(levelSetFromLevel(nearest) & methods);
  }

  /** The application chose levels, for a context or for the root. */
  choose(context: string | undefined, levels: LevelSet): void {
    const threshold = this.#thresholdOf(context);
    if (this.#state !== "settled" || threshold === undefined) return;
    if (this.contexts.choose(threshold, levels)) this.#tell(context, levelFromLevelSet(levels));
  }

  /** The application has another logger service than `before`. */
  serviceReplaced(before: LoggerService | undefined): void {
    if (this.#state !== "settled") return;
    const service = this.#nest.Logger.staticInstanceRef;
    const levels = serviceLevels(this.#nest, this.#isLevelEnabled);
    const known = service === undefined || isServedByNest(this.#nest);
    if (known && levels !== this.contexts.root.native) this.choose(undefined, levels);
    const methodsChanged = methodsOf(before) !== methodsOf(service);
    for (const observer of this.#observers) observer.serviceReplaced(methodsChanged);
  }

  /** Lets a context follow the root again. */
  release(context: string): void {
    const threshold = this.contexts.get(context);
    if (threshold !== undefined) this.contexts.release(threshold);
  }

  /** What holds for a record of this context. */
  ofContext(context: string): Threshold {
    return this.contexts.get(context) ?? this.#found(context);
  }

  /** What holds for a record of a logger without a context: it may be among the arguments, of which these are the last. */
  ofArguments(last: unknown, beforeLast: unknown): Threshold {
    return this.#ofArguments(last, beforeLast) ?? this.contexts.root;
  }

  /** Tells of a logger that stands behind one without a context. */
  share(behind: LoggerService | undefined): void {
    if (behind !== undefined && behind !== this.#nest.Logger.staticInstanceRef) this.#shared.add(behind);
  }

  /** What holds for a record of a `ConsoleLogger`; undefined for one without a context, which goes by its own levels. */
  ofConsole(logger: ConsoleLogger, last: unknown, beforeLast: unknown): Threshold | undefined {
    const { context } = logger;
    if (!this.#takesContexts(logger)) return context ? this.#ofOwnContext(logger, context) : undefined;
    return this.#ofArguments(last, beforeLast) ?? (context ? this.ofContext(context) : this.contexts.root);
  }

  /** What a `ConsoleLogger` lets through under one context or another; undefined for one that goes by its own levels. */
  levelsOf(logger: ConsoleLogger): LevelSet | undefined {
    this.settle();
    if (this.#state === "stopped") return undefined;
    if (this.#takesContexts(logger)) return this.contexts.union;
    return logger.context ? this.#ofOwnContext(logger, logger.context)?.levels : undefined;
  }

  #thresholdOf(context: string | undefined): Threshold | undefined {
    return context === undefined ? this.contexts.root : this.contexts.get(context);
  }

  /** A context that is used for the first time; `native` is what its own logger lets through. */
  #found(context: string, native?: LevelSet): Threshold {
    this.settle();
    const { root, full } = this.contexts;
    if (this.#state === "stopped" || full || typeof context !== "string") return root;
    const threshold = this.contexts.add(context, native === root.native ? undefined : native);
    const own = threshold.own ? levelFromLevelSet(threshold.levels) : undefined;
    for (const observer of this.#observers) observer.found(context, own);
    if (this.contexts.full) for (const observer of this.#observers) observer.full();
    return threshold;
  }

  #ofArguments(last: unknown, beforeLast: unknown): Threshold | undefined {
    // Before anything is looked at closely: a known context, which no stack is.
    const known = typeof last === "string" ? this.contexts.get(last) : undefined;
    if (known !== undefined) return known;
    const context = contextArgument(last, beforeLast);
    if (!context) return undefined;
    return this.contexts.get(context) ?? (isContextName(context) ? this.#found(context) : undefined);
  }

  /** A logger that the application made itself for one context: what it lets through so far is what the context has. */
  #ofOwnContext(logger: ConsoleLogger, context: string): Threshold | undefined {
    const threshold = this.contexts.get(context);
    if (threshold !== undefined) return threshold;
    if (this.#state === "stopped" || this.contexts.full) return undefined;
    return this.#found(context, consoleLevels(logger, this.#isLevelEnabled));
  }

  /** Whether a logger writes for every context, each record telling its own. */
  #takesContexts(logger: ConsoleLogger): boolean {
    return logger === this.#nest.Logger.staticInstanceRef || (!logger.context && this.#shared.has(logger));
  }

  #tell(context: string | undefined, level: Level): void {
    for (const observer of this.#observers) observer.levelSet(context, level);
  }
}

import { levelVerbosity } from "../../../loggers/level.ts";
import { placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { valuesContent } from "../../kit/loggers/call-content.ts";
import { handOver } from "../../kit/loggers/hand-over.ts";
import { keptRecord } from "../../kit/loggers/kept-record.ts";
import { RecordInstrumentation } from "../../kit/loggers/record-instrumentation.ts";
import { beforeLast, last, type Threshold } from "./contexts.ts";
import { type LevelSet, levelBit, levelFromLevelSet, NEST_LEVELS, type NestLevel } from "./level.ts";
import type { LevelController } from "./level-controller.ts";
import type { ConsoleLogger, Facade, LoggerService, NestClasses } from "./native.ts";

/** The arguments of `printMessages`, which a `ConsoleLogger` calls once for each record. */
interface Printed {
  readonly logger: ConsoleLogger;
  readonly messages: readonly unknown[];
  readonly level: NestLevel;
  readonly stack: unknown;
  readonly params: unknown;
  /** The arguments of `error`, if that was called. */
  readonly errorCall: readonly unknown[] | undefined;
}

/** A call that is made for observers alone. */
interface HiddenCall {
  readonly threshold: Threshold;
  readonly levels: LevelSet;
}

/**
 * Hears what the `ConsoleLogger`s of one copy of Nest print. A record that its context drops is made by letting this one call through
 * up to where it would be printed.
 */
export class RecordListening extends RecordInstrumentation<Threshold> {
  readonly #nest: NestClasses;
  readonly #controller: LevelController;
  #hiddenCall: HiddenCall | undefined;
  #errorCall: readonly unknown[] | undefined;

  constructor(nest: NestClasses, controller: LevelController) {
    super();
    this.#nest = nest;
    this.#controller = controller;
  }

  protected install(): () => void {
    const { Logger, ConsoleLogger } = this.#nest;
    const { prototype } = ConsoleLogger;
    const controller = this.#controller;
    const levelMethods = NEST_LEVELS.flatMap((level) => [
      this.#levelMethod<Facade>(
        Logger.prototype,
        level,
        ({ context }, rest) =>
          context ? controller.ofContext(context) : controller.ofArguments(last(rest), beforeLast(rest)),
        (facade) => this.#onlyPrints(facade.localInstance, level),
      ),
      this.#levelMethod(
        Logger,
        level,
        (_, rest) => controller.ofArguments(last(rest), beforeLast(rest)),
        () => this.#onlyPrints(Logger.staticInstanceRef, level),
      ),
      this.#levelMethod<ConsoleLogger>(
        prototype,
        level,
        (logger, rest) => controller.ofConsole(logger, last(rest), beforeLast(rest)),
        (logger) => this.#onlyPrints(logger),
      ),
    ]);
    return undoing([...levelMethods, this.#errorMethod(prototype), ...this.#printMethods(prototype)]);
  }

  #levelMethod<T>(
    owner: object,
    level: NestLevel,
    thresholdOf: (logger: T, rest: readonly unknown[]) => Threshold | undefined,
    onlyPrints: (logger: T) => boolean,
  ): () => void {
    const listening = this;
    const bit = levelBit(level);
    const border = { verbosity: verbosityOf(level), hidden: true };
    return placeMethod(owner, level, (original) => {
      return function (this: unknown, ...values): unknown {
        const call = () => original.apply(this, values);
        // What Nest buffers is printed later.
        const isPrinted = listening.#nest.Logger.isBufferAttached !== true;
        if (listening.#hiddenCall !== undefined || !isPrinted || !listening.hides) return call();
        listening.#controller.settle();
        const threshold = thresholdOf(this as T, values.slice(1));
        const isDropped = threshold !== undefined && (threshold.levels & bit) === 0;
        if (!isDropped || !listening.wants(threshold, border) || !onlyPrints(this as T)) return call();
        return listening.#hide(threshold, bit, call);
      };
    });
  }

  /** Whether a service does nothing with a record that is not printed: a class of the application's own may. */
  #onlyPrints(service: LoggerService | undefined, level?: NestLevel): boolean {
    const { ConsoleLogger } = this.#nest;
    if (!(service instanceof ConsoleLogger)) return false;
    const [given, own] = [service, ConsoleLogger.prototype] as unknown as Record<string, unknown>[];
    const methods = ["isLevelEnabled", "printMessages", "printStackTrace", ...(level === undefined ? [] : [level])];
    return methods.every((name) => given![name] === own![name]);
  }

  #hide(threshold: Threshold, bit: LevelSet, call: () => unknown): undefined {
    const { levels } = threshold;
    this.#hiddenCall = { threshold, levels };
    threshold.levels |= bit;
    try {
      call();
    } catch {
      // Without an observer the call would have done nothing.
    } finally {
      threshold.levels = levels;
      this.#hiddenCall = undefined;
    }
  }

  /** Before Nest 11, `error` does not pass the stack on to `printMessages`. */
  #errorMethod(prototype: object): () => void {
    const listening = this;
    return placeMethod(prototype, "error", (original) => {
      return function (this: unknown, ...values) {
        const outer = listening.#errorCall;
        listening.#errorCall = values;
        try {
          return original.apply(this, values);
        } finally {
          listening.#errorCall = outer;
        }
      };
    });
  }

  #printMethods(prototype: object): (() => void)[] {
    const listening = this;
    const { observers } = this;
    const printMessages = placeMethod(prototype, "printMessages", (original) => {
      return function (this: unknown, ...values): unknown {
        if (observers.size === 0) return original.apply(this, values);
        const [given, context, level, , stack, params] = values;
        const logger = this as ConsoleLogger;
        const errorCall = listening.#errorCall;
        listening.#errorCall = undefined;
        const printed = { logger, level: (level ?? "log") as NestLevel, stack, params, errorCall };
        const hiddenCall = listening.#hiddenCall;
        if (hiddenCall !== undefined) {
          return listening.#takeHidden(hiddenCall, { ...printed, messages: given as readonly unknown[] });
        }
        const messages = (given as readonly unknown[]).map((message) => calledOnce(logger, message));
        const found = listening.#controller.ofConsole(logger, context || undefined, undefined);
        if (found !== undefined) listening.#take(found, { ...printed, messages }, false);
        return handOver(() => original.call(this, messages, ...values.slice(1)));
      };
    });
    const printStackTrace = placeMethod(prototype, "printStackTrace", (original) => {
      return function (this: unknown, ...values): unknown {
        if (listening.#hiddenCall !== undefined) return undefined;
        return handOver(() => original.apply(this, values));
      };
    });
    return [printMessages, printStackTrace];
  }

  #takeHidden(hiddenCall: HiddenCall, printed: Printed): void {
    // A message that is a function may log, too.
    hiddenCall.threshold.levels = hiddenCall.levels;
    this.#hiddenCall = undefined;
    this.#take(hiddenCall.threshold, printed, true);
    this.#hiddenCall = hiddenCall;
  }

  #take(threshold: Threshold, printed: Printed, hidden: boolean): void {
    const verbosity = verbosityOf(printed.level);
    if (verbosity === 0) return;
    const head = { verbosity, nativeLevel: printed.level, hidden };
    this.tell(threshold, head, () => keptRecord(head, contentOf(printed)));
  }
}

function verbosityOf(level: NestLevel): number {
  return levelVerbosity(levelFromLevelSet(levelBit(level)));
}

function contentOf({ logger, messages, stack, params, errorCall }: Printed) {
  // The option `redact` of Nest 12.
  const redacted = (value: unknown): unknown => logger.redact?.(value) ?? value;
  const content = valuesContent(
    messages.map((message) => redacted(printed(logger, message))),
    redacted(params) as object,
  );
  const given = stack ?? (errorCall && logger.getContextAndStackAndMessagesToPrint?.(errorCall)?.stack);
  return { ...content, stack: typeof given === "string" ? given : undefined };
}

/** A message that gives what the application's function returned, however often Nest calls it. */
function calledOnce(logger: ConsoleLogger, message: unknown): unknown {
  if (typeof message !== "function" || isClass(message) || leavesOutFunctions(logger)) return message;
  const value = resolved(message());
  return () => value;
}

/** A message as it is printed. */
function printed(logger: ConsoleLogger, message: unknown): unknown {
  return typeof message === "function" && leavesOutFunctions(logger) ? "" : resolved(message);
}

/** A message as Nest resolves it: a class is its name, and any other function is called. */
function resolved(message: unknown): unknown {
  if (typeof message !== "function") return message;
  return isClass(message) ? message.name : resolved(message());
}

/** The JSON of Nest 11 has no messages that are functions. */
function leavesOutFunctions({ options, resolveMessage }: ConsoleLogger): boolean {
  return options?.json === true && resolveMessage === undefined;
}

function isClass(message: object): boolean {
  return Function.prototype.toString.call(message).startsWith("class ");
}

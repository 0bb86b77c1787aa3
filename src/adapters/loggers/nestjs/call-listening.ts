import { placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { Instrumentation } from "../../kit/loggers/instrumentation.ts";
import { beforeLast, last, type Threshold } from "./contexts.ts";
import { levelBit, NEST_LEVELS, type NestLevel } from "./level.ts";
import type { LevelController } from "./level-controller.ts";
import type { ConsoleLogger, Facade, LoggerService, NestClasses } from "./native.ts";

/** Called for each call, with the threshold of its context, its method, and whether the context lets it through. */
export type CallListener = (threshold: Threshold, level: NestLevel, enabled: boolean) => void;

/**
 * Sees the calls of one copy of Nest: the methods that decide on a record are replaced once more.
 *
 * Nest passes a record from method to method: from `Logger` to a service, which may be a `Logger` too, and on to a
 * `ConsoleLogger`. So a call within a call of the same context is the same record and counts once. A record that Nest buffers
 * counts when it is made, not when the buffer is flushed.
 */
export class CallListening extends Instrumentation<CallListener> {
  readonly #nest: NestClasses;
  readonly #controller: LevelController;
  /** What is being called right now. */
  #inside: Threshold | "flush" | undefined;

  constructor(nest: NestClasses, controller: LevelController) {
    super();
    this.#nest = nest;
    this.#controller = controller;
  }

  protected install(): () => void {
    const { Logger, ConsoleLogger } = this.#nest;
    const controller = this.#controller;
    const listening = this;
    const replaced = NEST_LEVELS.flatMap((level) => {
      const isServed = () => this.#isServed(level);
      return [
        this.#replace<Facade>(Logger.prototype, level, isServed, ({ context }, rest) =>
          context ? controller.ofContext(context) : controller.ofArguments(last(rest), beforeLast(rest)),
        ),
        this.#replace(Logger, level, isServed, (_, rest) => controller.ofArguments(last(rest), beforeLast(rest))),
        this.#replace<ConsoleLogger>(
          ConsoleLogger.prototype,
          level,
          () => true,
          (logger, rest) => controller.ofConsole(logger, last(rest), beforeLast(rest)),
        ),
      ];
    });
    const flush = placeMethod(Logger, "flush", (original) => {
      return function (this: unknown, ...values) {
        return listening.#within("flush", () => original.apply(this, values));
      };
    });
    return undoing([...replaced, flush]);
  }

  #replace<T>(
    owner: object,
    level: NestLevel,
    isServed: () => boolean,
    thresholdOf: (logger: T, rest: readonly unknown[]) => Threshold | undefined,
  ): () => void {
    const listening = this;
    return placeMethod(owner, level, (original) => {
      return function (this: unknown, ...values): unknown {
        if (!listening.isWatched || listening.#inside === "flush") return original.apply(this, values);
        listening.#controller.settle();
        const threshold = thresholdOf(this as T, values.slice(1));
        if (threshold === undefined || threshold === listening.#inside) return original.apply(this, values);
        const enabled = (threshold.levels & levelBit(level)) !== 0 && isServed();
        for (const listener of listening.observers) listener(threshold, level, enabled);
        return listening.#within(threshold, () => original.apply(this, values));
      };
    });
  }

  #within(inside: Threshold | "flush", call: () => unknown): unknown {
    const outside = this.#inside;
    this.#inside = inside;
    try {
      return call();
    } finally {
      this.#inside = outside;
    }
  }

  /** Whether the service has a method for a level: it need not have all of them. */
  #isServed(level: NestLevel): boolean {
    const service = this.#nest.Logger.staticInstanceRef as (LoggerService & Record<NestLevel, unknown>) | undefined;
    return typeof service?.[level] === "function";
  }
}

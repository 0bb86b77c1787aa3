import { beforeLast, last } from "./context-argument.ts";
import type { Threshold } from "./contexts.ts";
import { levelBit, NEST_LEVELS, type NestLevel } from "./level.ts";
import type { LevelController } from "./level-controller.ts";
import type { ConsoleLogger, Facade, LoggerService, NestClasses } from "./native.ts";
import { Replacements } from "./replacements.ts";

/** Hears of a call: what holds for its context, its method, and whether its context lets it through. */
export type CallListener = (threshold: Threshold, level: NestLevel, enabled: boolean) => void;

/**
 * Tells of the calls of one copy of Nest while somebody listens: the methods that decide on a record are then replaced once more.
 *
 * Nest hands a record on from one method to the next: from `Logger` to a service, which may be a `Logger` too, and on to a
 * `ConsoleLogger`. A call within a call of the same context is therefore the same record, and told of once. So is one that
 * Nest keeps back in its buffer: when it is made, not when it is let go.
 */
export class CallListening {
  readonly #nest: NestClasses;
  readonly #controller: LevelController;
  readonly #listeners = new Set<CallListener>();
  readonly #replacements = new Replacements();
  #inside: Threshold | "flush" | undefined;

  constructor(nest: NestClasses, controller: LevelController) {
    this.#nest = nest;
    this.#controller = controller;
  }

  /** Tells of every call until the returned function is called. */
  listen(listener: CallListener): () => void {
    if (this.#listeners.size === 0) this.#replaceAll();
    this.#listeners.add(listener);
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#replacements.restore();
    };
  }

  #replaceAll(): void {
    const { Logger, ConsoleLogger } = this.#nest;
    const controller = this.#controller;
    for (const level of NEST_LEVELS) {
      const served = () => this.#isServed(level);
      this.#replace<Facade>(Logger.prototype, level, served, ({ context }, rest) =>
        context ? controller.ofContext(context) : controller.ofArguments(last(rest), beforeLast(rest)),
      );
      this.#replace(Logger, level, served, (_, rest) => controller.ofArguments(last(rest), beforeLast(rest)));
      const always = () => true;
      this.#replace<ConsoleLogger>(ConsoleLogger.prototype, level, always, (logger, rest) =>
        controller.ofConsole(logger, last(rest), beforeLast(rest)),
      );
    }
    const listening = this;
    this.#replacements.replace(Logger, "flush", (original) => {
      return function flush(this: unknown, ...values: unknown[]): unknown {
        return listening.#within("flush", () => original.apply(this, values));
      };
    });
  }

  #replace<T>(
    owner: object,
    level: NestLevel,
    served: () => boolean,
    thresholdOf: (logger: T, rest: readonly unknown[]) => Threshold | undefined,
  ): void {
    const listening = this;
    this.#replacements.replace(owner, level, (original) => {
      return function call(this: T, ...values: unknown[]): unknown {
        // Whoever wrapped what stands here keeps calling it after the end.
        if (listening.#listeners.size === 0 || listening.#inside === "flush") return original.apply(this, values);
        listening.#controller.settle();
        const threshold = thresholdOf(this, values.slice(1));
        if (threshold === undefined || threshold === listening.#inside) return original.apply(this, values);
        const enabled = (threshold.levels & levelBit(level)) !== 0 && served();
        for (const listener of listening.#listeners) listener(threshold, level, enabled);
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

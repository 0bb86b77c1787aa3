import { checkOptions, unknown } from "../../../common/options.ts";
import type { LoggerAdapter, LoggerHandle, LoggerHost } from "../../../loggers/adapter.ts";
import { type Level, levelVerbosity } from "../../../loggers/level.ts";
import { loggerName, ROOT } from "../../../loggers/name.ts";
import { callCounter } from "../../kit/loggers/call-counter.ts";
import { recordObserver } from "../../kit/loggers/record-instrumentation.ts";
import type { CallListener } from "./call-listening.ts";
import type { Threshold } from "./contexts.ts";
import { nestInstrumentation, observeNest } from "./instrumentation.ts";
import { levelBit, levelFromLevelSet } from "./level.ts";
import type { LevelController, NestObserver } from "./level-controller.ts";
import { type NestClasses, type NestCommon, nestClasses, serviceLimit } from "./native.ts";

export type { NestCommon } from "./native.ts";

/** How the contexts of Nest are named. */
export interface NestjsLoggersOptions {
  /**
   * A name to put before every context, such as "nest" for `nest.OrdersService`. The level of records without a context is then
   * the level of that name. Default: none, and ROOT.
   */
  readonly prefix?: string | undefined;
}

/**
 * Manages the contexts of Nest's `Logger`: `new Logger("OrdersService")` writes as the logger `OrdersService`. Nest itself has
 * one level for all contexts. Pass the classes that the application imports from @nestjs/common 10, 11 or 12; nothing else of
 * the application changes, and its own logger service stays in place.
 *
 * A context is found at its first use by a `Logger`, by `Logger.log` and the like, or by a `ConsoleLogger` that the application
 * made for it. What Nest lets through by itself is the level of ROOT; calls of `app.useLogger`, `Logger.overrideLogger` and
 * `setLogLevels` are adopted. If the logger service filters records again, ROOT shows a warning. When the adapter is detached,
 * Nest keeps ROOT's level for all contexts.
 *
 * @example
 * ```ts
 * import { ConsoleLogger, Logger } from "@nestjs/common";
 * import { createActuator } from "connect-actuator";
 * import { nestjsLoggers } from "connect-actuator/nestjs";
 *
 * const actuator = createActuator({ loggers: { adapters: [nestjsLoggers({ Logger, ConsoleLogger })] } });
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if these are not Nest's classes, or for an invalid prefix.
 */
export function nestjsLoggers(nest: NestCommon, options: NestjsLoggersOptions = {}): LoggerAdapter {
  checkOptions<NestjsLoggersOptions>("nestjsLoggers", options, { prefix: unknown });
  const classes = nestClasses(nest);
  const prefix = options.prefix === undefined ? undefined : loggerName(options.prefix);
  let controller: LevelController | undefined;
  let handles: ContextHandles | undefined;
  return {
    kind: "nestjs",
    attach(host) {
      return observeNest(classes, (found) => {
        controller = found;
        handles = new ContextHandles(classes, found, host, prefix);
        return handles;
      });
    },
    refresh: () => void controller?.settle(),
    measure(tallyOf) {
      const count = callCounter<ContextHandle>(tallyOf);
      const listener: CallListener = (threshold, level, enabled) =>
        count(handles?.of(threshold), levelVerbosity(levelFromLevelSet(levelBit(level))), enabled);
      return nestInstrumentation(classes)?.listening.observe(listener) ?? (() => {});
    },
    tail(sinkOf, hides = false) {
      const observer = recordObserver(sinkOf, (threshold: Threshold) => handles?.of(threshold), hides);
      return nestInstrumentation(classes)?.records.observe(observer) ?? (() => {});
    },
    hides: true,
  };
}

interface ContextHandle extends LoggerHandle {
  readonly name: string;
  /** The level that an operator set, while it is in force. */
  applied: Level | undefined;
}

/** The contexts of Nest as the loggers of one host. */
class ContextHandles implements NestObserver {
  readonly #nest: NestClasses;
  readonly #controller: LevelController;
  readonly #host: LoggerHost;
  readonly #prefix: string | undefined;
  /** By context; the root is under undefined. */
  readonly #handles = new Map<string | undefined, ContextHandle>();

  constructor(nest: NestClasses, controller: LevelController, host: LoggerHost, prefix: string | undefined) {
    this.#nest = nest;
    this.#controller = controller;
    this.#host = host;
    this.#prefix = prefix;
  }

  /** The logger that a record counts for: its context or, if the host did not take that, the root that it follows. */
  of({ context, own }: Threshold): ContextHandle | undefined {
    return this.#handles.get(context) ?? (own ? undefined : this.#handles.get(undefined));
  }

  found(context: string | undefined, own: Level | undefined): void {
    const controller = this.#controller;
    const handle: ContextHandle = {
      name: this.#nameOf(context),
      parent: context === undefined ? undefined : this.#handles.get(undefined),
      applied: undefined,
      get level() {
        return controller.levelOf(context);
      },
      apply(level) {
        handle.applied = level;
        controller.set(context, level);
      },
      restore() {
        handle.applied = undefined;
        controller.restore(context);
      },
    };
    this.#handles.set(context, handle);
    if (!this.#host.discovered(handle.name, handle, own)) this.#handles.delete(context);
    if (context === undefined) this.#warnOfService();
  }

  levelSet(context: string | undefined, level: Level): void {
    const handle = this.#handles.get(context);
    if (handle === undefined || this.#host.pushing) return;
    handle.applied = undefined;
    this.#host.changedOutside(handle, level);
  }

  full(): void {
    this.#host.warn(this.#nameOf(undefined), "there are too many contexts; those found from now on have its level");
  }

  serviceReplaced(methodsChanged: boolean): void {
    this.#warnOfService();
    if (!methodsChanged) return;
    // The service may have more or fewer levels than before.
    for (const [context, { applied }] of this.#handles) {
      if (applied !== undefined) this.#controller.set(context, applied);
    }
    this.#host.reachChanged();
  }

  #nameOf(context: string | undefined): string {
    if (context === undefined) return this.#prefix ?? ROOT;
    return this.#prefix === undefined ? context : `${this.#prefix}.${context}`;
  }

  #warnOfService(): void {
    const limit = serviceLimit(this.#nest);
    if (limit !== undefined) this.#host.warn(this.#nameOf(undefined), limit);
  }
}

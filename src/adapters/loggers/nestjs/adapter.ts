import type { LoggerAdapter, LoggerHandle, LoggerHost } from "../../../loggers/adapter.ts";
import { callCounter } from "../../../loggers/call-counter.ts";
import { type Level, levelVerbosity } from "../../../loggers/level.ts";
import { loggerName, ROOT } from "../../../loggers/name.ts";
import type { Threshold } from "./contexts.ts";
import { listenToCalls, observeNest } from "./instrumentation.ts";
import { levelBit, levelFromLevelSet } from "./level.ts";
import type { LevelController, NestObserver } from "./level-controller.ts";
import { type NestClasses, type NestCommon, nestClasses, serviceLimit } from "./native.ts";

/** How the contexts of Nest are named. */
export interface NestjsLoggersOptions {
  /**
   * What stands before every context, such as "nest" for `nest.OrdersService`; what Nest lets through by itself is then the
   * level of that name. Default: nothing, and ROOT.
   */
  readonly prefix?: string | undefined;
}

/**
 * Manages the contexts of Nest's `Logger`, which has one level for all by itself: `new Logger("OrdersService")` writes under
 * the logger `OrdersService`. `nestjsLoggers({ Logger, ConsoleLogger })` takes the classes that the application imports from
 * @nestjs/common 10, 11 or 12; nothing else of the application changes, and a logger service of its own stays in place.
 *
 * A context is found when it is first used, by a `Logger`, by `Logger.log` and the like, or by a `ConsoleLogger` that the
 * application made for it. What Nest lets through by itself is ROOT's level; `app.useLogger`, `Logger.overrideLogger` and
 * `setLogLevels` are noticed and adopted. Where the logger service filters again, ROOT carries a warning. When the adapter is
 * detached, Nest keeps the level of ROOT, for all contexts.
 *
 * @throws ActuatorError INVALID_ARGUMENT for what are not Nest's classes, and for an unfit prefix.
 */
export function nestjsLoggers(nest: NestCommon, options: NestjsLoggersOptions = {}): LoggerAdapter {
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
      return listenToCalls(classes, (threshold, level, enabled) =>
        count(handles?.of(threshold), levelVerbosity(levelFromLevelSet(levelBit(level))), enabled),
      );
    },
  };
}

interface ContextHandle extends LoggerHandle {
  readonly name: string;
}

/** The contexts of Nest as loggers of one host. */
class ContextHandles implements NestObserver {
  readonly #nest: NestClasses;
  readonly #controller: LevelController;
  readonly #host: LoggerHost;
  readonly #prefix: string | undefined;
  /** Under undefined, the root. */
  readonly #handles = new Map<string | undefined, ContextHandle>();

  constructor(nest: NestClasses, controller: LevelController, host: LoggerHost, prefix: string | undefined) {
    this.#nest = nest;
    this.#controller = controller;
    this.#host = host;
    this.#prefix = prefix;
  }

  /** The logger that a record counts for: that of its context or, where the host did not take that, the root it follows. */
  of({ context, own }: Threshold): ContextHandle | undefined {
    return this.#handles.get(context) ?? (own ? undefined : this.#handles.get(undefined));
  }

  found(context: string | undefined, own: Level | undefined): void {
    const controller = this.#controller;
    const handle: ContextHandle = {
      name: this.#nameOf(context),
      parent: context === undefined ? undefined : this.#handles.get(undefined),
      apply: (level) => controller.set(context, level),
    };
    this.#handles.set(context, handle);
    if (!this.#host.discovered(handle.name, handle, own)) this.#handles.delete(context);
    if (context === undefined) this.#warnOfService();
  }

  levelSet(context: string | undefined, level: Level): void {
    const handle = this.#handles.get(context);
    if (handle !== undefined && !this.#host.pushing) this.#host.changedOutside(handle, level);
  }

  full(): void {
    this.#host.warn(this.#nameOf(undefined), "there are too many contexts; those found from now on have its level");
  }

  serviceReplaced(methodsChanged: boolean): void {
    this.#warnOfService();
    if (!methodsChanged) return;
    // The levels that were reached are not reached any more, or are at last: the core has to ask again.
    const [root, ...contexts] = this.#handles;
    for (const [, handle] of contexts) this.#host.gone(handle);
    for (const [context, handle] of root === undefined ? [] : [root, ...contexts]) {
      if (context === undefined) this.#host.gone(handle);
      else this.#controller.release(context);
      this.#host.discovered(handle.name, handle);
    }
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

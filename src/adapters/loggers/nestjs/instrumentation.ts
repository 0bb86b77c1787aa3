import { type CallListener, CallListening } from "./call-listening.ts";
import { beforeLast, last } from "./context-argument.ts";
import { type LevelSet, levelBit, levelSetFromNames, NEST_LEVELS, namesFromLevelSet } from "./level.ts";
import { LevelController, type NestObserver } from "./level-controller.ts";
import type { ConsoleLogger, Facade, LoggerService, NestClasses } from "./native.ts";
import { type Method, Replacements } from "./replacements.ts";

interface Instrumentation {
  readonly controller: LevelController;
  readonly replacements: Replacements;
  readonly listening: CallListening;
}

const instrumentations = new WeakMap<object, Instrumentation>();

/**
 * Gives a copy of Nest a level for each context, until the returned function is called. `Logger` and `ConsoleLogger` are
 * classes that everybody shares, so replacing methods of theirs sees every record, whoever makes the loggers and whatever
 * the application's own service is. A record that its context does not let through goes no further; any other finds the way
 * open as far as Nest itself would stop it.
 *
 * Several observers of one copy share the levels. When the last one goes, Nest is as it was, and the level that it has for
 * all is the root's.
 */
export function observeNest(nest: NestClasses, observe: (controller: LevelController) => NestObserver): () => void {
  let found = instrumentations.get(nest.Logger);
  if (found === undefined) instrumentations.set(nest.Logger, (found = instrument(nest)));
  const { controller, replacements } = found;
  const observer = observe(controller);
  controller.add(observer);
  return () => {
    controller.delete(observer);
    if (controller.watched || instrumentations.get(nest.Logger) !== found) return;
    instrumentations.delete(nest.Logger);
    replacements.restore();
    const levels = controller.stop();
    if (levels !== undefined) leaveLevels(nest, levels);
  };
}

/** Tells of every call of an observed copy of Nest until the returned function is called. */
export function listenToCalls(nest: NestClasses, listener: CallListener): () => void {
  return instrumentations.get(nest.Logger)?.listening.listen(listener) ?? (() => {});
}

/** As `overrideLogger` does with a list, which Nest 10 fails at where the service takes no levels. */
function leaveLevels({ Logger }: NestClasses, levels: LevelSet): void {
  const names = namesFromLevelSet(levels);
  Logger.logLevels = names;
  Logger.staticInstanceRef?.setLogLevels?.(names);
}

function instrument(nest: NestClasses): Instrumentation {
  const controller = new LevelController(nest);
  const replacements = new Replacements();
  replaceFacade(nest, controller, replacements);
  replaceConsole(nest, controller, replacements);
  return { controller, replacements, listening: new CallListening(nest, controller) };
}

function replaceFacade({ Logger }: NestClasses, controller: LevelController, replacements: Replacements): void {
  const withheld = (call: Method, facade: unknown, args: unknown[]): unknown => {
    if (controller.settle()) return Reflect.apply(call, facade, args);
    // While Nest keeps records back, they are judged when it lets them go.
    if (Logger.isBufferAttached) Logger.logBuffer?.push({ methodRef: call.bind(facade), arguments: args });
    return undefined;
  };
  for (const level of NEST_LEVELS) {
    const bit = levelBit(level);
    replacements.replace(Logger.prototype, level, (original) => {
      return function call(this: Facade, message: unknown, ...rest: unknown[]): unknown {
        const { context } = this;
        const threshold = context
          ? controller.ofContext(context)
          : controller.ofArguments(last(rest), beforeLast(rest));
        if ((threshold.levels & bit) === 0) {
          if (controller.settled && !Logger.isBufferAttached) return undefined;
          return withheld(call as Method, this, [message, ...rest]);
        }
        if (!context) controller.share(this.localInstance);
        return original.call(this, message, ...rest);
      };
    });
    replacements.replace(Logger, level, (original) => {
      return function call(this: unknown, message: unknown, ...rest: unknown[]): unknown {
        const threshold = controller.ofArguments(last(rest), beforeLast(rest));
        if ((threshold.levels & bit) === 0) {
          if (controller.settled && !Logger.isBufferAttached) return undefined;
          return withheld(call as Method, this, [message, ...rest]);
        }
        return original.call(this, message, ...rest);
      };
    });
  }
  replacements.replace(Logger, "isLevelEnabled", (original) => {
    return function isLevelEnabled(this: unknown, level: string): unknown {
      if (!controller.watched) return original.call(this, level);
      controller.settle();
      return Logger.staticInstanceRef !== undefined && (controller.contexts.union & levelBit(level)) !== 0;
    };
  });
  replacements.replace(Logger, "overrideLogger", (original) => {
    return function overrideLogger(this: unknown, logger: LoggerService | readonly string[] | boolean): unknown {
      const before = Logger.staticInstanceRef;
      const result = original.call(this, logger);
      const service = Logger.staticInstanceRef;
      if (!Array.isArray(logger)) {
        if (service !== before) controller.serviceReplaced(before);
      } else if (service instanceof Logger || service?.setLogLevels !== undefined) {
        controller.choose(undefined, levelSetFromNames(logger));
      }
      return result;
    };
  });
}

function replaceConsole(
  { Logger, ConsoleLogger }: NestClasses,
  controller: LevelController,
  replacements: Replacements,
): void {
  const { prototype } = ConsoleLogger;
  /** A logger whose record has just been let through: it asks once more, without saying for what context. */
  let passed: ConsoleLogger | undefined;
  for (const level of NEST_LEVELS) {
    const bit = levelBit(level);
    replacements.replace(prototype, level, (original) => {
      return function call(this: ConsoleLogger, message: unknown, ...rest: unknown[]): unknown {
        const threshold = controller.ofConsole(this, last(rest), beforeLast(rest));
        if (threshold !== undefined) {
          if ((threshold.levels & bit) === 0) {
            return controller.settle() ? call.call(this, message, ...rest) : undefined;
          }
          passed = this;
        }
        return original.call(this, message, ...rest);
      };
    });
  }
  replacements.replace(prototype, "isLevelEnabled", (original) => {
    return function isLevelEnabled(this: ConsoleLogger, level: string): unknown {
      if (passed === this) {
        passed = undefined;
        return true;
      }
      const levels = controller.levelsOf(this);
      return levels === undefined ? original.call(this, level) : (levels & levelBit(level)) !== 0;
    };
  });
  replacements.replace(prototype, "setLogLevels", (original) => {
    return function setLogLevels(this: ConsoleLogger, names: readonly string[]): unknown {
      const result = original.call(this, names);
      if (this === Logger.staticInstanceRef) controller.choose(undefined, levelSetFromNames(names));
      // Nest hands its own list down to the loggers that it made, which follow the root anyway.
      else if (this.context && names !== Logger.logLevels) controller.choose(this.context, levelSetFromNames(names));
      return result;
    };
  });
}

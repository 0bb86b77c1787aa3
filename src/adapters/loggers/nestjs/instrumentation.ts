import { placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { CallListening } from "./call-listening.ts";
import { beforeLast, last } from "./contexts.ts";
import { type LevelSet, levelBit, levelSetFromNames, NEST_LEVELS, namesFromLevelSet } from "./level.ts";
import { LevelController, type NestObserver } from "./level-controller.ts";
import type { ConsoleLogger, Facade, LoggerService, NestClasses } from "./native.ts";
import { RecordListening } from "./record-listening.ts";

/** What is put in place for one copy of Nest. */
interface NestInstrumentation {
  readonly controller: LevelController;
  /** Tells listeners of the calls. */
  readonly listening: CallListening;
  /** Tells observers of the records. */
  readonly records: RecordListening;
  /** Puts the original methods back. */
  restore(): void;
}

/** Not kept after the last observer has gone: the controller's levels end with it. */
const instrumentations = new WeakMap<object, NestInstrumentation>();

/** The instrumentation of a copy of Nest; undefined while it is not observed. */
export function nestInstrumentation(nest: NestClasses): NestInstrumentation | undefined {
  return instrumentations.get(nest.Logger);
}

/**
 * Gives a copy of Nest a level for each context, until the returned function is called. All code shares the classes `Logger`
 * and `ConsoleLogger`, so replacing their methods sees every record, whatever the application's own logger service is. A record
 * that its context does not let through ends there. Any other passes all checks that Nest itself would make.
 *
 * Several observers of one copy share the levels. When the last one goes, Nest is as it was and has the root's level for all
 * contexts.
 */
export function observeNest(nest: NestClasses, observe: (controller: LevelController) => NestObserver): () => void {
  let found = instrumentations.get(nest.Logger);
  if (found === undefined) instrumentations.set(nest.Logger, (found = instrument(nest)));
  const { controller, restore } = found;
  const observer = observe(controller);
  controller.add(observer);
  return () => {
    controller.delete(observer);
    if (controller.isWatched || instrumentations.get(nest.Logger) !== found) return;
    instrumentations.delete(nest.Logger);
    restore();
    const levels = controller.stop();
    if (levels !== undefined) leaveLevels(nest, levels);
  };
}

/** Does what `overrideLogger` does with a list. Nest 10 itself fails there if the service takes no levels. */
function leaveLevels({ Logger }: NestClasses, levels: LevelSet): void {
  const names = namesFromLevelSet(levels);
  Logger.logLevels = names;
  Logger.staticInstanceRef?.setLogLevels?.(names);
}

function instrument(nest: NestClasses): NestInstrumentation {
  const controller = new LevelController(nest);
  const restore = undoing([...replaceFacade(nest, controller), ...replaceConsole(nest, controller)]);
  const listening = new CallListening(nest, controller);
  return { controller, listening, records: new RecordListening(nest, controller), restore };
}

function replaceFacade({ Logger }: NestClasses, controller: LevelController): (() => void)[] {
  const withheld = (call: (...args: unknown[]) => unknown, facade: unknown, args: unknown[]): unknown => {
    if (controller.settle()) return Reflect.apply(call, facade, args);
    // While Nest buffers records, they are judged when the buffer is flushed.
    if (Logger.isBufferAttached) Logger.logBuffer?.push({ methodRef: call.bind(facade), arguments: args });
    return undefined;
  };
  const levelMethods = NEST_LEVELS.flatMap((level) => {
    const bit = levelBit(level);
    return [
      placeMethod(Logger.prototype, level, (original) => {
        return function call(this: unknown, message: unknown, ...rest: unknown[]): unknown {
          const { context, localInstance } = this as Facade;
          const threshold = context
            ? controller.ofContext(context)
            : controller.ofArguments(last(rest), beforeLast(rest));
          if ((threshold.levels & bit) === 0) {
            if (controller.isSettled && !Logger.isBufferAttached) return undefined;
            return withheld(call, this, [message, ...rest]);
          }
          if (!context) controller.share(localInstance);
          return original.call(this, message, ...rest);
        };
      }),
      placeMethod(Logger, level, (original) => {
        return function call(this: unknown, message: unknown, ...rest: unknown[]): unknown {
          const threshold = controller.ofArguments(last(rest), beforeLast(rest));
          if ((threshold.levels & bit) === 0) {
            if (controller.isSettled && !Logger.isBufferAttached) return undefined;
            return withheld(call, this, [message, ...rest]);
          }
          return original.call(this, message, ...rest);
        };
      }),
    ];
  });
  const isLevelEnabled = placeMethod(Logger, "isLevelEnabled", (original) => {
    return function (this: unknown, level): unknown {
      if (!controller.isWatched) return original.call(this, level);
      controller.settle();
      return Logger.staticInstanceRef !== undefined && (controller.contexts.union & levelBit(level as string)) !== 0;
    };
  });
  const overrideLogger = placeMethod(Logger, "overrideLogger", (original) => {
    return function (this: unknown, given): unknown {
      const logger = given as LoggerService | readonly string[] | boolean;
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
  return [...levelMethods, isLevelEnabled, overrideLogger];
}

function replaceConsole({ Logger, ConsoleLogger }: NestClasses, controller: LevelController): (() => void)[] {
  const { prototype } = ConsoleLogger;
  /** A logger whose record has just been let through. It then calls `isLevelEnabled`, which does not know the context. */
  let passed: unknown;
  const levelMethods = NEST_LEVELS.map((level) => {
    const bit = levelBit(level);
    return placeMethod(prototype, level, (original) => {
      return function call(this: unknown, message: unknown, ...rest: unknown[]): unknown {
        const threshold = controller.ofConsole(this as ConsoleLogger, last(rest), beforeLast(rest));
        if (threshold !== undefined) {
          if ((threshold.levels & bit) === 0) {
            return controller.settle() ? call.call(this, message, ...rest) : undefined;
          }
          passed = this;
        }
        return original.call(this, message, ...rest);
      };
    });
  });
  const isLevelEnabled = placeMethod(prototype, "isLevelEnabled", (original) => {
    return function (this: unknown, level): unknown {
      if (passed === this) {
        passed = undefined;
        return true;
      }
      const levels = controller.levelsOf(this as ConsoleLogger);
      return levels === undefined ? original.call(this, level) : (levels & levelBit(level as string)) !== 0;
    };
  });
  const setLogLevels = placeMethod(prototype, "setLogLevels", (original) => {
    return function (this: unknown, given): unknown {
      const names = given as readonly string[];
      const { context } = this as ConsoleLogger;
      const result = original.call(this, names);
      if (this === Logger.staticInstanceRef) controller.choose(undefined, levelSetFromNames(names));
      // Nest passes its own list on to the loggers that it made, which follow the root in any case.
      else if (context && names !== Logger.logLevels) controller.choose(context, levelSetFromNames(names));
      return result;
    };
  });
  return [...levelMethods, isLevelEnabled, setLogLevels];
}

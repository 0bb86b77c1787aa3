import { requireVersion } from "../../kit/library-version.ts";
import { wrongArgument } from "../../kit/loggers/wrong-argument.ts";
import { ALL_LEVELS, type LevelSet, levelBit, levelSetFromNames, NEST_LEVELS } from "./level.ts";

/** The classes of the application's copy of @nestjs/common 10, 11 or 12. The whole module can be passed as well. */
export interface NestCommon {
  readonly Logger: { readonly prototype: object; overrideLogger(logger: never): unknown };
  readonly ConsoleLogger: { readonly prototype: object };
}

/** A logger service of Nest: the application's own, a `ConsoleLogger`, or even a `Logger`. */
export interface LoggerService {
  context?: string | undefined;
  setLogLevels?(levels: readonly string[]): unknown;
  isLevelEnabled?(level: string): boolean;
}

/** An instance of `ConsoleLogger`, from within. */
export interface ConsoleLogger extends LoggerService {
  options?: { logLevels?: readonly string[] | undefined; readonly json?: boolean };
  /** Calls a message that is a function, for JSON too. Since Nest 12. */
  resolveMessage?(message: unknown): unknown;
  /** Hides the values that are secret by its options. Since Nest 12. */
  redact?(value: unknown): unknown;
  /** Splits the arguments of `error`. */
  getContextAndStackAndMessagesToPrint?(values: readonly unknown[]): { readonly stack?: unknown } | undefined;
}

type ConsoleLoggerPrototype = ConsoleLogger & Required<Pick<LoggerService, "setLogLevels" | "isLevelEnabled">>;

/** An instance of `Logger`, from within: a facade that passes every record on to a service. */
export interface Facade extends LoggerService {
  readonly localInstance?: LoggerService | undefined;
}

/** The class `Logger`, from within: its static part is a facade too. */
export interface FacadeClass extends Facade {
  new (context?: string): Facade;
  readonly prototype: Facade;
  /** Undefined while logging is switched off. */
  readonly staticInstanceRef?: LoggerService | undefined;
  logLevels?: readonly string[] | undefined;
  readonly isBufferAttached?: boolean | undefined;
  readonly logBuffer?: { methodRef: (...args: unknown[]) => unknown; arguments: unknown[] }[];
  overrideLogger(logger: LoggerService | readonly string[] | boolean): unknown;
}

/** {@link NestCommon} from within. */
export interface NestClasses {
  readonly Logger: FacadeClass;
  readonly ConsoleLogger: { new (): ConsoleLogger; readonly prototype: ConsoleLoggerPrototype };
}

/**
 * Returns the classes of Nest with their internals.
 *
 * @throws ActuatorError INVALID_ARGUMENT if they are not the classes of Nest.
 */
export function nestClasses(nest: NestCommon): NestClasses {
  const { Logger, ConsoleLogger } = (nest ?? {}) as Partial<NestClasses>;
  const fit =
    has(Logger, ["overrideLogger", ...NEST_LEVELS]) &&
    has(Logger!.prototype, NEST_LEVELS) &&
    has(ConsoleLogger?.prototype, ["isLevelEnabled", "setLogLevels", ...NEST_LEVELS]);
  requireVersion({ subpath: "nestjs", library: "@nestjs/common", versions: "10 to 12" });
  if (fit) return { Logger: Logger!, ConsoleLogger: ConsoleLogger! };
  throw wrongArgument("NOT_NEST", "nestjsLoggers needs { Logger, ConsoleLogger } of @nestjs/common 10, 11 or 12", nest);
}

function has(value: unknown, methods: readonly string[]): boolean {
  const object = value as Record<string, unknown> | null | undefined;
  return methods.every((method) => typeof object?.[method] === "function");
}

/** Whether records end up in a `ConsoleLogger`, whose levels are known. */
export function isServedByNest({ Logger, ConsoleLogger }: NestClasses): boolean {
  const service = Logger.staticInstanceRef;
  return service instanceof ConsoleLogger || service instanceof Logger;
}

/** The levels that a service has methods for: `debug`, `verbose` and `fatal` may be missing. */
export function methodsOf(service: LoggerService | undefined): LevelSet {
  if (service === undefined) return 0;
  return NEST_LEVELS.reduce((set, level) => (has(service, [level]) ? set | levelBit(level) : set), 0);
}

/** What a `ConsoleLogger` lets through by itself. `isLevelEnabled` is Nest's original method. */
export function consoleLevels(logger: ConsoleLogger, isLevelEnabled: (level: string) => boolean): LevelSet {
  const options = logger.options;
  const before = options?.logLevels;
  const enabled = NEST_LEVELS.filter((level) => isLevelEnabled.call(logger, level));
  // Nest sets a default when it is first asked, from the environment of that moment; this call must not be the first.
  if (options !== undefined && before === undefined) options.logLevels = undefined;
  return levelSetFromNames(enabled);
}

/** What Nest lets through with its current service. */
export function serviceLevels(
  { Logger, ConsoleLogger }: NestClasses,
  isLevelEnabled: (level: string) => boolean,
): LevelSet {
  const service = Logger.staticInstanceRef;
  if (service === undefined) return 0;
  const last = service instanceof Logger ? (service as Facade).localInstance : service;
  if (last instanceof ConsoleLogger) return consoleLevels(last, isLevelEnabled);
  const told = Logger.logLevels !== undefined && typeof service.setLogLevels === "function";
  return told ? levelSetFromNames(Logger.logLevels!) : ALL_LEVELS;
}

/** A warning for the operator if the service filters records again, whatever level a context has. */
export function serviceLimit({ Logger, ConsoleLogger }: NestClasses): string | undefined {
  const service = Logger.staticInstanceRef;
  if (service === undefined) return "logging is switched off in the application (logger: false); nothing is written";
  if (service instanceof Logger) return undefined;
  const name = service.constructor?.name || "the logger service of the application";
  if (!(service instanceof ConsoleLogger)) {
    return `${name} may keep a level of its own; less severe records are not written by it`;
  }
  if (service.isLevelEnabled === ConsoleLogger.prototype.isLevelEnabled) return undefined;
  return `${name} has its own isLevelEnabled; what it refuses is not written`;
}

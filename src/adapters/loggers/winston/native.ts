import { requireVersion } from "../../kit/library-version.ts";
import { wrongArgument } from "../../kit/loggers/wrong-argument.ts";

/** Under this key winston keeps a record's level, so that a format may change what is shown as such. */
export const LEVEL = Symbol.for("level");

/** A logger of winston 3. The type is loose because frameworks may declare less; `winstonLoggers` checks what it is given. */
export interface WinstonLogger {
  level: string;
  child(metadata: object): unknown;
}

/** A container of loggers, such as `winston.loggers`. */
export interface WinstonContainer {
  readonly loggers: ReadonlyMap<string, WinstonLogger>;
  readonly options?: { readonly level?: unknown } | undefined;
  add(id: string, ...options: never[]): unknown;
}

/** What `import winston from "winston"` gives. It stands for the default logger and for `winston.loggers`. */
export interface WinstonModule {
  readonly loggers: WinstonContainer;
  createLogger(...options: never[]): unknown;
}

/** Severities by label: the smaller number is the more severe one. */
export type NativeLevels = Readonly<Record<string, number>>;

/** A winston logger from within. A child inherits everything from the logger that made it, and has a `write` of its own. */
export interface NativeLogger extends WinstonLogger {
  readonly levels: NativeLevels;
  readonly transports: readonly NativeTransport[];
  readonly defaultMeta?: unknown;
  readonly silent?: boolean;
  readonly format: { readonly options?: unknown; transform(record: unknown, options: unknown): unknown };
  configure(...options: unknown[]): unknown;
  add(...of: unknown[]): unknown;
  remove(...of: unknown[]): unknown;
  clear(...of: unknown[]): unknown;
  [key: string]: unknown;
}

/** A destination of records. It filters by its own level, or else by the level of the first logger that it was added to. */
export interface NativeTransport {
  level?: string | undefined;
  readonly silent?: boolean | undefined;
  /** The levels of the first logger. A plain stream, which `pipe()` may have added, has none. */
  readonly levels?: NativeLevels | undefined;
  readonly parent?: NativeLogger | null | undefined;
  readonly name?: string | undefined;
  /** The original transport, if winston 3 wraps one written for winston 2. */
  readonly transport?: { readonly name?: string | undefined } | undefined;
}

/** One logger or container in what the application passed. */
export type WinstonSource =
  | { readonly type: "logger"; readonly logger: NativeLogger }
  | { readonly type: "container"; readonly container: WinstonContainer };

/**
 * Reads one argument of `winstonLoggers`: a logger, a container, or the module, which is both.
 *
 * @throws ActuatorError INVALID_ARGUMENT for anything else.
 */
export function winstonSources(value: WinstonLogger | WinstonContainer | WinstonModule): readonly WinstonSource[] {
  const given = value as Partial<
    WinstonModule & WinstonLogger & WinstonContainer & { default: unknown; version: unknown }
  > | null;
  requireVersion({ subpath: "winston", library: "winston", versions: "3.3 to 3.x" }, given?.version);
  if (typeof given?.createLogger === "function") {
    // `import * as winston` lacks what the module adds to its exports in a loop; its default export has it.
    const module = (typeof given.child === "function" ? given : given.default) as WinstonModule & WinstonLogger;
    const defaultLogger = Object.getPrototypeOf(module.child({})) as NativeLogger;
    return [
      { type: "logger", logger: defaultLogger },
      { type: "container", container: module.loggers },
    ];
  }
  if (given?.loggers instanceof Map && typeof given.add === "function") {
    return [{ type: "container", container: given as WinstonContainer }];
  }
  const logger = given as NativeLogger;
  if (
    typeof given !== "object" ||
    given === null ||
    loggerPrototype(logger) === undefined ||
    !Array.isArray(logger.transports)
  ) {
    const expected =
      "winstonLoggers needs a logger made by winston 3, such as winston.createLogger(), a container of loggers, the winston module, or a list of these";
    throw wrongArgument("NOT_A_WINSTON_LOGGER", expected, value);
  }
  return [{ type: "logger", logger }];
}

/** The `winston.Logger.prototype` that a logger inherits from; undefined if winston did not make it. */
export function loggerPrototype(logger: NativeLogger): NativeLogger | undefined {
  let prototype: NativeLogger | undefined;
  for (let at = Object.getPrototypeOf(logger); at !== null; at = Object.getPrototypeOf(at)) {
    // The one nearest to the top: a class of the application may override these methods.
    if (Object.hasOwn(at, "configure") && Object.hasOwn(at, "child") && Object.hasOwn(at, "add")) prototype = at;
  }
  return prototype;
}

/** The logger that has the transports: the logger itself, or the one that a child descends from. */
export function owner(logger: NativeLogger): NativeLogger {
  for (let at = logger; at !== null; at = Object.getPrototypeOf(at) as NativeLogger) {
    if (Object.hasOwn(at, "_readableState")) return at;
  }
  return logger;
}

/** The name of a transport for the operator. */
export function transportName(transport: NativeTransport): string {
  return transport.name ?? transport.transport?.name ?? transport.constructor.name;
}

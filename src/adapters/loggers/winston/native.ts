import { ActuatorError } from "../../../common/error.ts";
import { requireVersion } from "../../kit/library-version.ts";

/** A logger of winston 3, also where a framework declares it as less. That it really is one is checked when it is used. */
export interface WinstonLogger {
  level: string;
  child(metadata: object): unknown;
}

/** A container of loggers, such as `winston.loggers`. */
export interface WinstonContainer {
  readonly loggers: ReadonlyMap<string, WinstonLogger>;
  add(id: string, ...options: never[]): unknown;
}

/** What `import winston from "winston"` gives: it stands for the default logger and for `winston.loggers`. */
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
  configure(...options: unknown[]): unknown;
  add(...of: unknown[]): unknown;
  remove(...of: unknown[]): unknown;
  clear(...of: unknown[]): unknown;
  [key: string]: unknown;
}

/** Where records go. It filters again: by its own level, or else by the level of the first logger that it was added to. */
export interface NativeTransport {
  level?: string | undefined;
  /** Those of the first logger. A plain stream, which `pipe()` may have added, has none. */
  readonly levels?: NativeLevels | undefined;
  readonly parent?: NativeLogger | null | undefined;
  readonly name?: string | undefined;
  /** Of a transport written for winston 2, which winston 3 wraps. */
  readonly transport?: { readonly name?: string | undefined } | undefined;
  listeners(event: string): readonly { readonly name: string }[];
}

/** What the application handed over, taken apart. */
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
    // `import * as winston` leaves out what the module adds to its exports in a loop; its default export has it.
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
    const message = "winstonLoggers expects loggers made by winston 3, containers of them, or the winston module.";
    throw new ActuatorError("INVALID_ARGUMENT", "NOT_A_WINSTON_LOGGER", message);
  }
  return [{ type: "logger", logger }];
}

/** What all loggers of one copy of winston inherit from: `winston.Logger.prototype`. Undefined for no logger of winston. */
export function loggerPrototype(logger: NativeLogger): NativeLogger | undefined {
  let prototype: NativeLogger | undefined;
  for (let at = Object.getPrototypeOf(logger); at !== null; at = Object.getPrototypeOf(at)) {
    // Nearest to the top: a class of the application may override these.
    if (Object.hasOwn(at, "configure") && Object.hasOwn(at, "child") && Object.hasOwn(at, "add")) prototype = at;
  }
  return prototype;
}

/** The logger that owns the transports: the logger itself, or the one that a child descends from. */
export function owner(logger: NativeLogger): NativeLogger {
  for (let at = logger; at !== null; at = Object.getPrototypeOf(at) as NativeLogger) {
    if (Object.hasOwn(at, "_readableState")) return at;
  }
  return logger;
}

/** How an operator knows a transport. */
export function transportName(transport: NativeTransport): string {
  return transport.name ?? transport.transport?.name ?? transport.constructor.name;
}

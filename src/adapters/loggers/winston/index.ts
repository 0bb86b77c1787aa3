import { callable, checkOptions, flag, text } from "../../../common/options.ts";
import type { LoggerAdapter } from "../../../loggers/adapter.ts";
import type { WinstonContainer, WinstonLogger, WinstonModule } from "./native.ts";
import { WinstonAdapter } from "./winston-adapter.ts";

export type { WinstonContainer, WinstonLogger, WinstonModule } from "./native.ts";

/** How the loggers of winston are named. */
export interface WinstonLoggersOptions {
  /** The name of the first logger, and of others without one of their own. Default: ROOT. */
  readonly name?: string | undefined;
  /**
   * Returns the name for a child from its metadata, or for a logger from its `defaultMeta`. If it returns undefined the logger
   * is left alone; a child then follows its parent. Default: the first non-empty string among `logger`, `module`, `component`,
   * `name`, `label` and `service`.
   */
  readonly nameOf?: ((metadata: Readonly<Record<string, unknown>>) => string | undefined) | undefined;
  /**
   * Whether named loggers and children that exist already are searched for in the heap, for an application that calls this late. The
   * call then stops the process for about 13 ms per MB of heap with Node.js 24, and up to 20 with 22: a second or two for 100 MB.
   * Default: false.
   */
  readonly findExisting?: boolean | undefined;
}

/** What `winstonLoggers` takes: a logger, a container of loggers, or the module with its default logger and container. */
export type WinstonLoggersSource = WinstonLogger | WinstonContainer | WinstonModule;

/**
 * Manages the loggers of winston 3. The first logger given is ROOT; further ones go by the name in their `defaultMeta`, or are
 * ROOT too. The loggers of a container, such as `winston.loggers`, go by their ids. The module stands for its default logger
 * and `winston.loggers`.
 *
 * The adapter finds the named loggers and children that any code makes after this call; so call it right after making the first
 * logger, or use `findExisting`. Children without a name follow their parent. A level that the application sets is adopted; on a
 * child it has no effect in winston, and none here.
 *
 * Until an operator sets a level, everything is as winston alone does it. A level that is set decides on the records of that
 * logger or child on all transports, and on those of no other. A call that it disables returns at once, and OFF is off. A
 * transport with a level of its own keeps it: less severe records are not written to it, and the logger shows a warning.
 *
 * @example
 * ```ts
 * import { createActuator } from "connect-actuator";
 * import { winstonLoggers } from "connect-actuator/winston";
 * import winston from "winston";
 *
 * const log = winston.createLogger({ transports: [new winston.transports.Console()] });
 * const actuator = createActuator({ loggers: { adapters: [winstonLoggers(log)] } });
 * const orders = log.child({ module: "shop.orders" });
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if a value is not a logger, a container or the module of winston 3; FAILED_PRECONDITION
 *   (NO_HEAP_SEARCH) for `findExisting` if the inspector of Node.js is missing or forbidden.
 */
export function winstonLoggers(
  sources: WinstonLoggersSource | readonly [WinstonLoggersSource, ...WinstonLoggersSource[]],
  options: WinstonLoggersOptions = {},
): LoggerAdapter {
  checkOptions<WinstonLoggersOptions>("winstonLoggers", options, { name: text, nameOf: callable, findExisting: flag });
  const list = Array.isArray(sources) && sources.length > 0 ? sources : [sources as WinstonLoggersSource];
  return new WinstonAdapter(list, options);
}

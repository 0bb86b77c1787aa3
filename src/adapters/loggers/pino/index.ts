import { callable, checkOptions, flag, text } from "../../../common/options.ts";
import type { LoggerAdapter } from "../../../loggers/adapter.ts";
import type { PinoLogger } from "./native.ts";
import { PinoAdapter } from "./pino-adapter.ts";

export type { PinoLogger } from "./native.ts";

/** How the loggers of pino are named. */
export interface PinoLoggersOptions {
  /** The name of the first logger, and of others without one of their own. Default: ROOT. */
  readonly name?: string | undefined;
  /**
   * Returns the name for a child from its bindings, or undefined to leave the child alone, so that it follows its parent.
   * Default: the first non-empty string among `logger`, `module`, `component` and `name`.
   */
  readonly nameOf?: ((bindings: Readonly<Record<string, unknown>>) => string | undefined) | undefined;
  /**
   * Whether children that exist already are searched for in the heap, for an application that calls this late. The call then stops the
   * process for about 13 ms per MB of heap with Node.js 24, and up to 20 with 22: a second or two for 100 MB. Default: false.
   */
  readonly findExisting?: boolean | undefined;
}

/**
 * Manages pino loggers, of pino 8, 9 and 10, and all children that any code makes of them after this call; so call it right after
 * making the root logger, or use `findExisting`. Other root loggers are not touched.
 *
 * The first logger given is ROOT; further ones go by their names, or are ROOT too, and each keeps its own level. Children go by
 * the name in their bindings. Children without a name, such as one for each request, follow their parent. If a stream or
 * transport filters records again, the logger shows a warning.
 *
 * @example
 * ```ts
 * import { createActuator } from "connect-actuator";
 * import { pinoLoggers } from "connect-actuator/pino";
 * import { pino } from "pino";
 *
 * const log = pino();
 * const actuator = createActuator({ loggers: { adapters: [pinoLoggers(log)] } });
 * const orders = log.child({ module: "shop.orders" });
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if a value is not a logger made by pino; FAILED_PRECONDITION (NO_HEAP_SEARCH) for `findExisting`
 *   if the inspector of Node.js is missing or forbidden.
 */
export function pinoLoggers(
  loggers: PinoLogger | readonly [PinoLogger, ...PinoLogger[]],
  options: PinoLoggersOptions = {},
): LoggerAdapter {
  checkOptions<PinoLoggersOptions>("pinoLoggers", options, { name: text, nameOf: callable, findExisting: flag });
  return new PinoAdapter(Array.isArray(loggers) && loggers.length > 0 ? loggers : [loggers as PinoLogger], options);
}

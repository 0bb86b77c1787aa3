import { callable, checkOptions, flag } from "../../../common/options.ts";
import type { CallGate, CallTally, LoggerAdapter, LoggerHost } from "../../../loggers/adapter.ts";
import { ROOT } from "../../../loggers/name.ts";
import { objectsBelow } from "../../kit/heap/heap-search.ts";
import { callCounter } from "../../kit/loggers/call-counter.ts";
import type { LoggerSet } from "./logger-set.ts";
import { ManagedLoggers, type NameOf } from "./managed-loggers.ts";
import { type NativeLogger, type PinoLogger, pinoCopy } from "./native.ts";

export type { PinoLogger } from "./native.ts";

/** How the loggers of pino are named. */
export interface PinoLoggersOptions {
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
  checkOptions<PinoLoggersOptions>("pinoLoggers", options, { nameOf: callable, findExisting: flag });
  return new PinoLoggers(Array.isArray(loggers) && loggers.length > 0 ? loggers : [loggers as PinoLogger], options);
}

class PinoLoggers implements LoggerAdapter {
  readonly kind = "pino";
  /** By copy of pino. */
  readonly #managed: readonly ManagedLoggers[];

  constructor(loggers: readonly PinoLogger[], { nameOf = defaultName, findExisting = false }: PinoLoggersOptions) {
    const managed = new Map<NativeLogger, ManagedLoggers>();
    const found = (loggers as readonly NativeLogger[]).map((logger, index) => {
      const copy = pinoCopy(logger);
      const name = index === 0 ? ROOT : (nameOf(logger.bindings()) ?? ROOT);
      return { logger, name, copy };
    });
    for (const { copy } of found) {
      if (!managed.has(copy.prototype)) managed.set(copy.prototype, new ManagedLoggers(copy, nameOf));
    }
    const given = found.map(({ logger, name, copy }) => ({ logger, name, of: managed.get(copy.prototype)! }));
    // A child that was given as well has its root above it.
    for (const { logger, name, of } of given) if (of.isRoot(logger)) of.addRoot(logger, name);
    for (const { logger, name, of } of given) if (!of.isRoot(logger)) of.addRoot(logger, name);
    if (findExisting) for (const [prototype, each] of managed) each.addExisting(objectsBelow(prototype));
    this.#managed = [...managed.values()];
  }

  attach(host: LoggerHost): () => void {
    for (const managed of this.#managed) managed.attach(host);
    return () => {
      for (const managed of this.#managed) managed.detach();
    };
  }

  refresh(): void {
    for (const managed of this.#managed) managed.refresh();
  }

  measure(tallyOf: (name: string) => CallTally | undefined): () => void {
    const count = callCounter<LoggerSet>(tallyOf);
    return this.#forAll((managed) =>
      managed.instrumentation.interception.listen(
        (logger, verbosity, enabled) => count(managed.followed(logger), verbosity, enabled),
        managed.withOwnMethods(),
      ),
    );
  }

  gate(lets: CallGate): () => void {
    return this.#forAll((managed) => {
      const nameOf = (logger: unknown) => managed.followed(logger)?.name;
      return managed.instrumentation.interception.letThrough(
        (logger, verbosity) => lets(verbosity, logger, nameOf),
        managed.withOwnMethods(),
      );
    });
  }

  #forAll(start: (managed: ManagedLoggers) => () => void): () => void {
    const stops = this.#managed.map(start);
    return () => {
      for (const stop of stops) stop();
    };
  }
}

/** The first name. Spelt out, because it is called for every child that the application makes. */
const defaultName: NameOf = ({ logger, module, component, name }) => {
  if (isName(logger)) return logger;
  if (isName(module)) return module;
  if (isName(component)) return component;
  return isName(name) ? name : undefined;
};

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

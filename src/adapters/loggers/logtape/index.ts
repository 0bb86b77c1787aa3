import { callable, checkOptions } from "../../../common/options.ts";
import type { LoggerAdapter, LoggerHost } from "../../../loggers/adapter.ts";
import { type Level, levelVerbosity } from "../../../loggers/level.ts";
import { ROOT } from "../../../loggers/name.ts";
import { callCounter } from "../../kit/loggers/call-counter.ts";
import { stricter } from "../../kit/loggers/level-table.ts";
import { NativeHandle } from "../../kit/loggers/native-handle.ts";
import { recordObserver } from "../../kit/loggers/record-instrumentation.ts";
import { listenToCalls } from "./call-listening.ts";
import {
  type FoundLogger,
  type LogTapeInstrumentation,
  type LogTapeObserver,
  logtapeInstrumentation,
} from "./instrumentation.ts";
import { type NativeLogger, rootLogger } from "./native.ts";
import { recordListening } from "./record-listening.ts";
import { filterThreshold, isConfigured, threshold } from "./threshold.ts";

/** How the loggers of LogTape are named. */
export interface LogTapeLoggersOptions {
  /**
   * Returns the name for a category, or undefined to leave it to LogTape's own configuration. Default: the category's parts
   * with dots between them, and ROOT for the root category `[]`.
   */
  readonly nameOf?: ((category: readonly string[]) => string | undefined) | undefined;
}

/**
 * Manages the loggers of LogTape 2, all copies of which share one tree in a process.
 *
 * A category with a level or sinks of its own is configured, at the level that its sinks really get. Once an operator sets a level,
 * that alone decides what the logger writes, also to the sinks of its parents, whatever the level of those. A
 * logger with `parentSinks: "override"` keeps to its own sinks. If filters decide too, or sinks that drop records, the logger
 * shows a warning. What `configure()` and `reset()` set later is adopted. A configuration for one call, `withConfig()`, takes
 * precedence over all levels.
 *
 * @example
 * ```ts
 * import { getLogger } from "@logtape/logtape";
 * import { createActuator } from "connect-actuator";
 * import { logtapeLoggers } from "connect-actuator/logtape";
 *
 * const actuator = createActuator({ loggers: { adapters: [logtapeLoggers()] } });
 * const orders = getLogger(["shop", "orders"]);
 * ```
 * @throws ActuatorError FAILED_PRECONDITION if LogTape 2 is not loaded yet.
 */
export function logtapeLoggers(options: LogTapeLoggersOptions = {}): LoggerAdapter {
  checkOptions<LogTapeLoggersOptions>("logtapeLoggers", options, { nameOf: callable });
  const root = rootLogger();
  const instrumentation = logtapeInstrumentation(root);
  const nameOf = options.nameOf ?? ((category) => (category.length === 0 ? ROOT : category.join(".")));
  let attached: Attachment | undefined;
  return {
    kind: "logtape",
    attach(host) {
      const attachment = new Attachment(instrumentation, nameOf, host);
      attached = attachment;
      const { found, stop } = instrumentation.start(attachment);
      for (const logger of found) attachment.found(logger);
      return stop;
    },
    refresh: () => instrumentation.refresh(),
    readLevels: () => instrumentation.readLevels(),
    measure(tallyOf) {
      const count = callCounter<LogTapeHandle>(tallyOf);
      return listenToCalls(root, (logger, level, enabled) =>
        count(attached?.followed(logger), levelVerbosity(level), enabled),
      );
    },
    tail(sinkOf, hides = false) {
      const handleOf = (logger: NativeLogger) => attached?.followed(logger);
      return recordListening(root).observe(recordObserver(sinkOf, handleOf, hides));
    },
    hides: true,
  };
}

/** The loggers of LogTape for one host. */
class Attachment implements LogTapeObserver {
  readonly #instrumentation: LogTapeInstrumentation;
  readonly #nameOf: (category: readonly string[]) => string | undefined;
  readonly #host: LoggerHost;
  readonly #handles = new WeakMap<NativeLogger, LogTapeHandle>();
  readonly #collected: FinalizationRegistry<LogTapeHandle>;

  constructor(
    instrumentation: LogTapeInstrumentation,
    nameOf: (category: readonly string[]) => string | undefined,
    host: LoggerHost,
  ) {
    this.#instrumentation = instrumentation;
    this.#nameOf = nameOf;
    this.#host = host;
    this.#collected = new FinalizationRegistry((handle) => host.gone(handle));
  }

  found({ logger, level, configured, limits }: FoundLogger): void {
    const name = this.#nameOf(logger.category);
    if (name === undefined) return;
    const setLevel: SetLevel = (on, to) => this.#instrumentation.setLevel(on, to, this);
    const handle = new LogTapeHandle(name, setLevel, logger, configured, level);
    this.#handles.set(logger, handle);
    if (!this.#host.discovered(name, handle, configured ? level : undefined)) {
      this.#handles.delete(logger);
      return;
    }
    this.#collected.register(logger, handle);
    for (const limit of limits) this.#host.warn(name, limit);
  }

  /** The handle whose level a logger has: its own, or that of the nearest logger above it which it follows. */
  followed(logger: NativeLogger): LogTapeHandle | undefined {
    for (let at: NativeLogger | null = logger; at !== null; at = at.parent) {
      const handle = this.#handles.get(at);
      if (handle !== undefined) return handle;
      if (isConfigured(at)) return undefined;
    }
    return undefined;
  }

  made(logger: NativeLogger): void {
    this.found({ logger, level: threshold(logger), configured: false, limits: [] });
  }

  levelSet(logger: NativeLogger, level: Level | undefined): void {
    const handle = this.#handles.get(logger);
    if (handle !== undefined) this.#levelSet(handle, level);
  }

  configured(loggers: readonly FoundLogger[]): void {
    for (const found of loggers) {
      const handle = this.#handles.get(found.logger);
      if (handle === undefined) this.found(found);
      else this.#reconfigured(handle, found);
    }
  }

  #levelSet(handle: LogTapeHandle, level: Level | undefined): void {
    handle.forgetApplied();
    this.#host.changedOutside(handle, level);
  }

  #reconfigured(handle: LogTapeHandle, { logger, level, configured, limits }: FoundLogger): void {
    // A level that is no longer in the configuration is taken away.
    const adopted = configured || handle.configured;
    const same = configured === handle.configured && level === handle.found;
    handle.configured = configured;
    handle.found = level;
    if (adopted && !same) this.#levelSet(handle, configured ? level : undefined);
    else handle.applyAgain();
    for (const limit of limits) this.#host.warn(this.#nameOf(logger.category)!, limit);
  }
}

type SetLevel = (logger: NativeLogger, level: Level | undefined) => void;

class LogTapeHandle extends NativeHandle<NativeLogger> {
  /** Whether the application's configuration, as last seen, gives the logger a level. */
  configured: boolean;
  /** The level that the logger had when the application last configured it. */
  found: Level;
  #applied: Level | undefined;
  readonly #setLevel: SetLevel;

  constructor(name: string, setLevel: SetLevel, logger: NativeLogger, configured: boolean, found: Level) {
    super(name, logger);
    this.#setLevel = setLevel;
    this.configured = configured;
    this.found = found;
  }

  get level(): Level {
    const { logger } = this;
    return logger === undefined ? "OFF" : stricter(threshold(logger), filterThreshold(logger));
  }

  apply(level: Level): void {
    this.#applied = level;
    this.applyAgain();
  }

  /** The application's level is in force instead. */
  forgetApplied(): void {
    this.#applied = undefined;
  }

  /** Applies its level to a logger that the application has configured anew, if one was applied. */
  applyAgain(): void {
    const { logger } = this;
    if (logger !== undefined && this.#applied !== undefined) this.#setLevel(logger, this.#applied);
  }

  restore(): void {
    this.#applied = undefined;
    const { logger } = this;
    if (logger !== undefined) this.#setLevel(logger, undefined);
  }
}

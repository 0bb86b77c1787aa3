import type { LoggerAdapter, LoggerHandle, LoggerHost } from "../../../loggers/adapter.ts";
import { callCounter } from "../../../loggers/call-counter.ts";
import { type Level, levelVerbosity } from "../../../loggers/level.ts";
import { ROOT } from "../../../loggers/name.ts";
import { listenToCalls } from "./call-listening.ts";
import {
  type FoundLogger,
  type Instrumentation,
  type LogTapeObserver,
  logtapeInstrumentation,
} from "./instrumentation.ts";
import { type NativeLogger, nativeTree } from "./native.ts";
import { isConfigured, threshold } from "./threshold.ts";

/** How loggers of LogTape are named. */
export interface LogTapeLoggersOptions {
  /**
   * The name of a category's logger; undefined for one that is left to LogTape's own configuration. Default: the category's
   * parts with dots between them, and ROOT for the root category `[]`.
   */
  readonly nameOf?: ((category: readonly string[]) => string | undefined) | undefined;
}

/**
 * Manages the loggers of LogTape 2, all copies of which share one tree in a process.
 *
 * A category is configured when it is found if it has a level or sinks of its own, at the level that its sinks really get. Once it is
 * managed a logger's level alone decides what is written, also to the sinks that it has from its parents, whatever
 * level these have; a logger with `parentSinks: "override"` keeps to its own. Where filters decide as well, or sinks that drop
 * records, the logger carries a warning. What `configure()` and `reset()` set later is adopted. A configuration for one
 * call, `withConfig()`, stands above all levels.
 *
 * @throws ActuatorError FAILED_PRECONDITION where LogTape 2 is not loaded yet.
 */
export function logtapeLoggers(options: LogTapeLoggersOptions = {}): LoggerAdapter {
  const tree = nativeTree();
  const instrumentation = logtapeInstrumentation(tree);
  const nameOf = options.nameOf ?? ((category) => (category.length === 0 ? ROOT : category.join(".")));
  let attached: Attachment | undefined;
  return {
    kind: "logtape",
    attach(host) {
      const attachment = new Attachment(instrumentation, nameOf, host);
      attached = attachment;
      for (const found of instrumentation.start(attachment)) attachment.found(found);
      return () => instrumentation.stop(attachment);
    },
    refresh: () => instrumentation.refresh(),
    measure(tallyOf) {
      const count = callCounter<LogTapeHandle>(tallyOf);
      return listenToCalls(tree, (logger, level, enabled) =>
        count(attached?.followed(logger), levelVerbosity(level), enabled),
      );
    },
  };
}

/** The loggers of LogTape in one registry. */
class Attachment implements LogTapeObserver {
  readonly #instrumentation: Instrumentation;
  readonly #nameOf: (category: readonly string[]) => string | undefined;
  readonly #host: LoggerHost;
  readonly #handles = new WeakMap<NativeLogger, LogTapeHandle>();
  readonly #collected: FinalizationRegistry<LogTapeHandle>;

  constructor(
    instrumentation: Instrumentation,
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
    const handle = new LogTapeHandle(name, setLevel, logger, configured);
    this.#handles.set(logger, handle);
    if (!this.#host.discovered(name, handle, configured ? level : undefined)) {
      this.#handles.delete(logger);
      return;
    }
    this.#collected.register(logger, handle);
    for (const limit of limits) this.#host.warn(name, limit);
  }

  /** The nearest logger held, from this one upwards, whose level this one has. */
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

  levelSet(logger: NativeLogger, level: Level): void {
    const handle = this.#handles.get(logger);
    if (handle !== undefined) this.#host.changedOutside(handle, level);
  }

  configured(loggers: readonly FoundLogger[]): void {
    for (const found of loggers) {
      const handle = this.#handles.get(found.logger);
      if (handle === undefined) this.found(found);
      else this.#reconfigured(handle, found);
    }
  }

  #reconfigured(handle: LogTapeHandle, { logger, level, configured, limits }: FoundLogger): void {
    // A level that the configuration holds no more is taken away.
    const adopted = configured || handle.configured;
    const same = configured === handle.configured && level === handle.level;
    handle.configured = configured;
    if (adopted && !same) this.#host.changedOutside(handle, configured ? level : undefined);
    else handle.apply(handle.level);
    for (const limit of limits) this.#host.warn(this.#nameOf(logger.category)!, limit);
  }
}

type SetLevel = (logger: NativeLogger, level: Level) => Level;

/** One logger of LogTape, held weakly: LogTape itself lets go of those that nobody uses. */
class LogTapeHandle implements LoggerHandle {
  readonly name: string;
  /** Whether the application's configuration, as it was last seen, gives it a level. */
  configured: boolean;
  /** What it was last given. */
  level: Level = "OFF";
  readonly #setLevel: SetLevel;
  readonly #logger: WeakRef<NativeLogger>;

  constructor(name: string, setLevel: SetLevel, logger: NativeLogger, configured: boolean) {
    this.name = name;
    this.#setLevel = setLevel;
    this.#logger = new WeakRef(logger);
    this.configured = configured;
  }

  apply(level: Level): Level {
    this.level = level;
    const logger = this.#logger.deref();
    return logger === undefined ? level : this.#setLevel(logger, level);
  }
}

import type { LoggerHandle, LoggerHost } from "../loggers/adapter.ts";
import { type Level, levelVerbosity } from "../loggers/level.ts";
import type { Loggers } from "../loggers/loggers.ts";
import type { Instance } from "./instance.ts";
import type { RemoteLogger } from "./instance-client.ts";
import type { Warnings } from "./warnings.ts";

/** A logger of one instance in the tree here. */
interface MirroredLogger {
  readonly handle: LoggerHandle;
  /** The level that the tree assumes it has. */
  level: Level;
}

/** How many instances one warning names. */
const MAX_LABELS = 5;

/**
 * Shows the loggers of the instances in the tree here: each name once, with the most verbose of the effective levels. It changes
 * nothing in the instances: a level that the tree applies is the one that the instance is expected to report soon.
 */
export class LoggerMirror {
  readonly #host: LoggerHost;
  readonly #loggers: Loggers;
  readonly #warnings: Warnings;
  readonly #shown = new Map<Instance, Map<string, MirroredLogger>>();
  /** Whether levels of instances are being shown: then the tree learns levels instead of applying its own. */
  #showing = false;

  constructor(host: LoggerHost, loggers: Loggers, warnings: Warnings) {
    this.#host = host;
    this.#loggers = loggers;
    this.#warnings = warnings;
  }

  /** Shows these loggers of an instance as they are now. */
  show(instance: Instance, names: Iterable<string>): void {
    this.#whileShowing(() => {
      const shown = this.#shown.get(instance) ?? new Map<string, MirroredLogger>();
      this.#shown.set(instance, shown);
      for (const name of names) this.#put(name, instance, shown);
    });
  }

  /** Stops showing the loggers of an instance, and returns their names. */
  hide(instance: Instance): readonly string[] {
    const shown = this.#shown.get(instance);
    if (shown === undefined) return [];
    this.#shown.delete(instance);
    for (const { handle } of shown.values()) this.#host.gone(handle);
    return [...shown.keys()];
  }

  /** Shows again the loggers for which the tree expected another level than the instance reports. */
  correct(instance: Instance): void {
    this.show(instance, [...(this.#shown.get(instance)?.keys() ?? [])]);
  }

  /**
   * Takes over the level that the instances have configured by themselves, unless a level that was set here is in force. If they
   * differ, it takes the most verbose one and warns.
   */
  adopt(name: string): void {
    const levels = new Map<Level | undefined, string[]>();
    let any: LoggerHandle | undefined;
    for (const [instance, shown] of this.#shown) {
      const logger = instance.loggers.get(name);
      any ??= shown.get(name)?.handle;
      if (logger === undefined) continue;
      const labels = levels.get(logger.configured) ?? [];
      levels.set(logger.configured, [...labels, instance.label]);
    }
    if (levels.size > 1) this.#warnings.set(name, "mixed", mixedText(levels));
    else this.#warnings.clear(name, "mixed");
    if (any === undefined) return;
    const here = this.#loggers.get(name);
    // A group of this name hides the logger.
    if (here?.type !== "logger" || here.override !== undefined) return;
    const level = mostVerbose([...levels.keys()]);
    if (level === here.configuredLevel) return;
    this.#whileShowing(() => this.#host.changedOutside(any, level));
  }

  #put(name: string, instance: Instance, shown: Map<string, MirroredLogger>): void {
    const logger = instance.loggers.get(name);
    const before = shown.get(name);
    if (logger === undefined) {
      shown.delete(name);
      if (before !== undefined) this.#host.gone(before.handle);
    } else if (before === undefined) {
      this.#discover(name, instance, logger, shown);
    } else if (before.level !== logger.effective) {
      this.#host.gone(before.handle);
      this.#discover(name, instance, logger, shown);
    }
  }

  #discover(name: string, instance: Instance, logger: RemoteLogger, shown: Map<string, MirroredLogger>): void {
    const entry: MirroredLogger = {
      handle: {
        apply: (level) => (entry.level = this.#showing ? (instance.loggers.get(name)?.effective ?? level) : level),
      },
      level: logger.effective,
    };
    if (this.#host.discovered(name, entry.handle, logger.baseline)) shown.set(name, entry);
    else shown.delete(name);
  }

  #whileShowing(show: () => void): void {
    const before = this.#showing;
    this.#showing = true;
    try {
      show();
    } finally {
      this.#showing = before;
    }
  }
}

function mostVerbose(levels: readonly (Level | undefined)[]): Level | undefined {
  const known = levels.filter((level) => level !== undefined);
  return known.sort((a, b) => levelVerbosity(b) - levelVerbosity(a))[0];
}

function mixedText(levels: ReadonlyMap<Level | undefined, readonly string[]>): string {
  const parts = [...levels].map(([level, labels]) => {
    const more = labels.length > MAX_LABELS ? ` and ${labels.length - MAX_LABELS} more` : "";
    return `${level ?? "none"} at ${labels.slice(0, MAX_LABELS).join(", ")}${more}`;
  });
  return `the configured levels differ: ${parts.sort().join("; ")}`;
}

import type { LoggerHandle, LoggerHost } from "../loggers/adapter.ts";
import { type Level, levelVerbosity } from "../loggers/level.ts";
import type { Loggers } from "../loggers/loggers.ts";
import type { Instance } from "./instance.ts";
import type { Notices } from "./notices.ts";
import type { RemoteLogger } from "./remote-logger.ts";

/** A logger of one instance, as the tree here holds it. */
interface Shown {
  readonly handle: LoggerHandle;
  /** The level that the tree takes it to have reached. */
  level: Level;
}

/** More names in one sentence nobody reads. */
const MOST_LABELS = 5;

/**
 * Shows the loggers of the instances in the tree here: each name once, with the most verbose of the levels that are really in
 * effect. It never changes anything there: a level that the tree hands down is what an instance is expected to say soon.
 */
export class Mirror {
  readonly #host: LoggerHost;
  readonly #loggers: Loggers;
  readonly #notices: Notices;
  readonly #shown = new Map<Instance, Map<string, Shown>>();
  /** Whether what the instances say is being shown, so that the tree learns levels rather than handing them down. */
  #showing = false;

  constructor(host: LoggerHost, loggers: Loggers, notices: Notices) {
    this.#host = host;
    this.#loggers = loggers;
    this.#notices = notices;
  }

  /** Shows what an instance says of these loggers now. */
  show(instance: Instance, names: Iterable<string>): void {
    this.#whileShowing(() => {
      const shown = this.#shown.get(instance) ?? new Map<string, Shown>();
      this.#shown.set(instance, shown);
      for (const name of names) this.#put(name, instance, shown);
    });
  }

  /** Shows nothing of an instance any more; the names stay known. */
  hide(instance: Instance): readonly string[] {
    const shown = this.#shown.get(instance);
    if (shown === undefined) return [];
    this.#shown.delete(instance);
    for (const { handle } of shown.values()) this.#host.gone(handle);
    return [...shown.keys()];
  }

  /** Shows again what an instance says, where the tree expected something else of it. */
  correct(instance: Instance): void {
    this.show(instance, [...(this.#shown.get(instance)?.keys() ?? [])]);
  }

  /**
   * Takes over what the instances have configured by themselves, unless a level that was set here is in force; where they differ, the
   * most verbose, and a warning tells who has what.
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
    this.#notices.tell(name, "mixed", levels.size > 1 ? mixed(levels) : undefined);
    if (any === undefined) return;
    const here = this.#loggers.get(name);
    // A group of the name hides the logger.
    if (here?.type !== "logger" || here.override !== undefined) return;
    const level = mostVerbose([...levels.keys()]);
    if (level === here.configuredLevel) return;
    this.#whileShowing(() => this.#host.changedOutside(any, level));
  }

  #put(name: string, instance: Instance, shown: Map<string, Shown>): void {
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

  #discover(name: string, instance: Instance, logger: RemoteLogger, shown: Map<string, Shown>): void {
    const entry: Shown = {
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

function mixed(levels: ReadonlyMap<Level | undefined, readonly string[]>): string {
  const parts = [...levels].map(([level, labels]) => {
    const more = labels.length > MOST_LABELS ? ` and ${labels.length - MOST_LABELS} more` : "";
    return `${level ?? "none"} at ${labels.slice(0, MOST_LABELS).join(", ")}${more}`;
  });
  return `the configured levels differ: ${parts.sort().join("; ")}`;
}

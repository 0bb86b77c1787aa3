import type { LoggerHandle, LoggerHost } from "../loggers/adapter.ts";
import { type Level, moreVerbose } from "../loggers/level.ts";
import type { Loggers } from "../loggers/loggers.ts";
import type { Instance } from "./instance.ts";
import type { Warnings } from "./warnings.ts";

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
  readonly #shown = new Map<string, MirroredLogger>();
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
      for (const name of names) this.#put(name, instance);
    });
    this.#host.reachChanged();
  }

  /** Stops showing the loggers of an instance, and returns their names. */
  hide(instance: Instance): readonly string[] {
    const names = this.#namesOf(instance);
    for (const name of names) this.#remove(name, instance);
    return names;
  }

  /** Shows again the loggers for which the tree expected another level than the instance reports. */
  correct(instance: Instance): void {
    this.show(instance, this.#namesOf(instance));
  }

  /**
   * Takes over the level that the instances have configured by themselves, unless a level that was set here is in force. If they
   * differ, it takes the most verbose one and warns.
   */
  adopt(name: string): void {
    const levels = new Map<Level | undefined, string[]>();
    const mirrored = this.#shown.get(name);
    for (const instance of mirrored?.instances ?? []) {
      const logger = instance.loggers.get(name);
      if (logger === undefined) continue;
      const labels = levels.get(logger.configured) ?? [];
      levels.set(logger.configured, [...labels, instance.label]);
    }
    if (levels.size > 1) this.#warnings.set(name, "mixed", mixedText(levels));
    else this.#warnings.clear(name, "mixed");
    if (mirrored === undefined) return;
    const here = this.#loggers.get(name);
    // A group of this name hides the logger.
    if (here?.type !== "logger" || here.override !== undefined) return;
    const level = mostVerbose([...levels.keys()]);
    if (level === here.configuredLevel) return;
    this.#whileShowing(() => this.#host.changedOutside(mirrored, level));
  }

  #put(name: string, instance: Instance): void {
    const logger = instance.loggers.get(name);
    if (logger === undefined) {
      this.#remove(name, instance);
      return;
    }
    const known = this.#shown.get(name);
    const mirrored = known ?? new MirroredLogger(name, () => this.#showing);
    mirrored.add(instance);
    if (known === undefined && this.#host.discovered(name, mirrored, logger.baseline)) this.#shown.set(name, mirrored);
  }

  #remove(name: string, instance: Instance): void {
    const mirrored = this.#shown.get(name);
    if (mirrored === undefined) return;
    mirrored.delete(instance);
    if (mirrored.instances.size > 0) return;
    this.#shown.delete(name);
    this.#host.gone(mirrored);
  }

  #namesOf(instance: Instance): readonly string[] {
    return [...this.#shown].filter(([, { instances }]) => instances.has(instance)).map(([name]) => name);
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

/** A logger of several instances in the tree here. */
class MirroredLogger implements LoggerHandle {
  readonly instances = new Set<Instance>();
  readonly #name: string;
  readonly #isLearning: () => boolean;
  /** The level that the tree has applied and that these instances are expected to report soon. */
  readonly #expected = new Map<Instance, Level>();

  constructor(name: string, isLearning: () => boolean) {
    this.#name = name;
    this.#isLearning = isLearning;
  }

  get level(): Level {
    const levels = [...this.instances].map(
      (instance) => this.#expected.get(instance) ?? instance.loggers.get(this.#name)?.effective,
    );
    return mostVerbose(levels) ?? "OFF";
  }

  /** Shows what this instance reports. */
  add(instance: Instance): void {
    this.instances.add(instance);
    this.#expected.delete(instance);
  }

  delete(instance: Instance): void {
    this.instances.delete(instance);
    this.#expected.delete(instance);
  }

  apply(level: Level): void {
    if (this.#isLearning()) return;
    for (const instance of this.instances) this.#expected.set(instance, level);
  }

  /** The instances restore their own levels, and report them. */
  restore(): void {
    if (!this.#isLearning()) this.#expected.clear();
  }
}

function mostVerbose(levels: readonly (Level | undefined)[]): Level | undefined {
  return levels.reduce((most, level) => (level === undefined ? most : moreVerbose(most, level)), undefined);
}

function mixedText(levels: ReadonlyMap<Level | undefined, readonly string[]>): string {
  const parts = [...levels].map(([level, labels]) => {
    const more = labels.length > MAX_LABELS ? ` and ${labels.length - MAX_LABELS} more` : "";
    return `${level ?? "none"} at ${labels.slice(0, MAX_LABELS).join(", ")}${more}`;
  });
  return `the configured levels differ: ${parts.sort().join("; ")}`;
}

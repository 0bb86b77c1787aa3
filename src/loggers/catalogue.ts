import { effectiveLevel } from "./binding.ts";
import { type Group, isMixed } from "./group.ts";
import type { LevelLedger } from "./ledger.ts";
import { LEVELS } from "./level.ts";
import type { LoggerNode } from "./registry.ts";
import type { Logger, LoggerGroup, LoggersOverview } from "./view.ts";

/** What is shown of loggers and groups. What takes long to put together is put together once for each revision. */
export class Catalogue {
  readonly #ledger: LevelLedger;
  readonly #mixed = new Map<Group, { readonly revision: number; readonly mixed: boolean }>();
  #overview: LoggersOverview | undefined;

  constructor(ledger: LevelLedger) {
    this.#ledger = ledger;
  }

  /** Everything. */
  list(): LoggersOverview {
    const { registry, groups, revision } = this.#ledger;
    if (this.#overview?.revision !== revision) {
      this.#overview = {
        levels: LEVELS,
        loggers: registry.sorted().map((node) => this.logger(node)),
        groups: [...groups.values()].map((group) => this.group(group)),
        revision,
      };
    }
    return this.#overview;
  }

  /** The group of this name, or else the logger; undefined where it is neither. */
  get(name: string): Logger | LoggerGroup | undefined {
    const { registry, groups } = this.#ledger;
    const group = groups.get(name);
    if (group !== undefined) return this.group(group);
    const node = registry.get(name);
    return node && this.logger(node);
  }

  logger(node: LoggerNode): Logger {
    return loggerView(node, this.#ledger.registry.warnings.of(node.name));
  }

  group(group: Group): LoggerGroup {
    // A group without members is written to as a logger, and so shows what that logger has.
    const { configured, override } =
      group.members.length > 0 ? group : (this.#ledger.registry.get(group.name) ?? group);
    return groupView({ ...group, configured, override }, this.#isMixed(group));
  }

  /** A prefix may have every logger below it. */
  #isMixed(group: Group): boolean {
    const { registry, revision } = this.#ledger;
    let known = this.#mixed.get(group);
    if (known?.revision !== revision) {
      known = { revision, mixed: isMixed(group, registry) };
      this.#mixed.set(group, known);
    }
    return known.mixed;
  }
}

/** What is shown of a logger. */
function loggerView(node: LoggerNode, warnings: readonly string[]): Logger {
  return {
    type: "logger",
    name: node.name,
    configuredLevel: node.configured,
    effectiveLevel: effectiveLevel(node),
    baselineLevel: node.baseline,
    override: node.override,
    kind: node.bindings?.[0]?.kind ?? "",
    warnings,
  };
}

/** What is shown of a group. */
function groupView({ name, configured, override, members }: Group, mixed: boolean): LoggerGroup {
  return { type: "group", name, configuredLevel: configured, override, mixed, members };
}

import { ActuatorError } from "../common/error.ts";
import type { Level } from "./level.ts";
import { loggerName } from "./name.ts";
import { effectiveLevel } from "./node-levels.ts";
import type { LoggerNode, LoggerRegistry } from "./registry.ts";
import type { Configurable } from "./setting.ts";

/** The end of a member that is a prefix. */
const WILDCARD = ".*";

/**
 * Every logger below a name, including later ones: `orders.*` is `orders.a` and `orders.a.b`, not `orders`.
 *
 * A level is configured on the loggers directly below the name; deeper ones inherit it unless they have a level of their own.
 * The prefix keeps its own setting, which a new logger directly below starts with.
 */
export interface Prefix extends Configurable {
  /** The name without the wildcard. */
  readonly prefix: string;
}

/** Loggers that are changed together under one name. */
export interface Group extends Configurable {
  readonly name: string;
  /** The names of loggers, as the tree spells them, and of prefixes with their wildcard. */
  readonly members: readonly string[];
  /** The members that are single loggers. */
  readonly loggers: readonly string[];
  /** The members that are prefixes. Groups with the same prefix share it. */
  readonly prefixes: readonly Prefix[];
}

/**
 * Reads the configured groups, in their order.
 *
 * @throws ActuatorError INVALID_ARGUMENT if the name of a group or a member cannot be a logger's name.
 */
export function groupsFrom(configuration: Readonly<Record<string, readonly string[]>>): Map<string, Group> {
  const known = new Map<string, Prefix>();
  return new Map(
    Object.entries(configuration).map(([text, members]) => {
      const name = nameIn(text, text);
      const loggers: string[] = [];
      const prefixes = new Set<Prefix>();
      const names = members.map((member) => {
        const logger = nameIn(text, member);
        if (!logger.endsWith(WILDCARD)) {
          loggers.push(logger);
          return logger;
        }
        const prefix = nameIn(text, logger.slice(0, -WILDCARD.length));
        const shared = known.get(prefix) ?? { prefix, ...unconfigured };
        known.set(prefix, shared);
        prefixes.add(shared);
        return prefix + WILDCARD;
      });
      return [name, { name, members: names, loggers, prefixes: [...prefixes], ...unconfigured }];
    }),
  );
}

/** The loggers to configure for a level of the group. Single members are added to the tree if they are new. */
export function loggersOf({ loggers, prefixes }: Group, registry: LoggerRegistry): ReadonlySet<LoggerNode> {
  const nodes = new Set(loggers.map((name) => registry.ensure(name)));
  for (const { prefix } of prefixes) for (const node of registry.childrenOf(prefix)) nodes.add(node);
  return nodes;
}

/** Whether the effective levels of the group's loggers differ, including every known logger below its prefixes. */
export function isMixed({ loggers, prefixes }: Group, registry: LoggerRegistry): boolean {
  let first: Level | undefined;
  const differs = (node: LoggerNode) => effectiveLevel(node) !== (first ??= effectiveLevel(node));
  if (loggers.some((name) => differs(registry.nearest(name)))) return true;
  const pending = prefixes.flatMap(({ prefix }) => [...registry.childrenOf(prefix)]);
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (differs(at)) return true;
    for (const child of registry.childrenOf(at.key)) pending.push(child);
  }
  return false;
}

const unconfigured: Configurable = {
  configured: undefined,
  override: undefined,
  permanent: undefined,
  temporary: undefined,
};

function nameIn(group: string, text: string): string {
  try {
    return loggerName(text);
  } catch (cause) {
    const message = `loggers.groups: in the group ${JSON.stringify(group)}: ${(cause as Error).message}`;
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_GROUP", message, { group }, { cause });
  }
}

import { ActuatorError } from "../common/error.ts";
import { effectiveLevel } from "./binding.ts";
import type { Level } from "./level.ts";
import { loggerName } from "./name.ts";
import type { LoggerNode, LoggerRegistry } from "./registry.ts";
import type { Configurable } from "./setting.ts";

/** What a member that names a prefix ends with. */
const WILDCARD = ".*";

/**
 * Every logger below a name, those included that appear later: `orders.*` is `orders.a` and `orders.a.b`, not `orders`.
 *
 * A level is configured on the loggers directly below the name, and deeper ones inherit it unless they are configured
 * themselves, as everywhere in the tree. What is kept here is what a logger directly below would have that was there all the
 * time and never changed by itself: one that appears begins with it.
 */
export interface Prefix extends Configurable {
  /** The name without the wildcard. */
  readonly prefix: string;
}

/** Loggers that are changed together, under a name of their own. */
export interface Group extends Configurable {
  readonly name: string;
  /** Names of loggers, as the tree spells them, and prefixes with their wildcard. */
  readonly members: readonly string[];
  /** The members that are single loggers. */
  readonly loggers: readonly string[];
  /** The members that are prefixes; groups that name the same one share it. */
  readonly prefixes: readonly Prefix[];
}

/**
 * Reads the groups of the configuration, in its order.
 *
 * @throws ActuatorError INVALID_ARGUMENT where the name of a group or of a member cannot be a logger's name.
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
        const shared = known.get(prefix) ?? { prefix, ...nothing };
        known.set(prefix, shared);
        prefixes.add(shared);
        return prefix + WILDCARD;
      });
      return [name, { name, members: names, loggers, prefixes: [...prefixes], ...nothing }];
    }),
  );
}

/** The loggers to configure for a level of the group; its single members are added where they are new. */
export function loggersOf({ loggers, prefixes }: Group, registry: LoggerRegistry): ReadonlySet<LoggerNode> {
  const nodes = new Set(loggers.map((name) => registry.ensure(name)));
  for (const { prefix } of prefixes) for (const node of registry.childrenOf(prefix)) nodes.add(node);
  return nodes;
}

/** Whether the effective levels of the group's loggers differ, every known one below its prefixes included. */
export function isMixed({ loggers, prefixes }: Group, registry: LoggerRegistry): boolean {
  let first: Level | undefined;
  const differs = (node: LoggerNode) => effectiveLevel(node) !== (first ??= effectiveLevel(node));
  if (loggers.some((name) => differs(registry.nearest(name)))) return true;
  const pending = prefixes.flatMap(({ prefix }) => registry.childrenOf(prefix));
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (differs(at)) return true;
    for (const child of registry.childrenOf(at.name)) pending.push(child);
  }
  return false;
}

const nothing: Configurable = { configured: undefined, override: undefined, beneath: undefined, temporary: undefined };

function nameIn(group: string, text: string): string {
  try {
    return loggerName(text);
  } catch (cause) {
    const message = `loggers.groups: in the group ${JSON.stringify(group)}: ${(cause as Error).message}`;
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_GROUP", message, { group }, { cause });
  }
}

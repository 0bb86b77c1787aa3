import { similar } from "../common/suggestion.ts";
import type { Group } from "./group.ts";
import type { Level } from "./level.ts";
import { dotted, loggerName, ROOT } from "./name.ts";
import { differentFrom } from "./node-levels.ts";
import type { LoggerNode, LoggerRegistry } from "./registry.ts";

/** What a caller should know of a change of level that succeeded. */
export type NoticeCode =
  /** No logger of this name exists yet. */
  | "LOGGER_UNKNOWN"
  /** No logger of this member of the group exists yet. */
  | "GROUP_MEMBER_UNKNOWN"
  /** Loggers of this name were made before the adapter was attached, and were found only later, so that others may be missing. */
  | "LOGGER_OLDER_THAN_ADAPTER"
  /** Another level is in effect than the one that was set. */
  | "PARTLY_APPLIED";

/** One remark on a change of level. */
export interface Notice {
  readonly code: NoticeCode;
  /** For people. */
  readonly message: string;
  /** The existing logger that was probably meant, if there is one. */
  readonly nearest: string | undefined;
}

/** The maximum of notices of one change: a group may have thousands of members. */
const MAX_NOTICES = 10;

/** The maximum of names that are compared letter by letter. */
const MAX_COMPARED = 10_000;

/** Describes what a change of these loggers did not do. `level` is the one that was set, if any. */
export function noticesOf(
  nodes: Iterable<LoggerNode>,
  group: Group | undefined,
  level: Level | undefined,
  registry: LoggerRegistry,
): readonly Notice[] {
  const notices: Notice[] = [];
  for (const node of nodes) {
    if (notices.length >= MAX_NOTICES) break;
    if (!exists(node)) notices.push(unknown(node.name, group, level, registry));
    else if (registry.isOlder(node)) notices.push(older(node.name));
    const other = level === undefined ? undefined : differentFrom(node, level);
    if (other !== undefined) notices.push(partly(node.name, other, registry.warningsOf(node)));
  }
  for (const { prefix } of group?.prefixes ?? []) {
    if (notices.length < MAX_NOTICES && registry.childrenOf(prefix).size === 0) {
      notices.push(unknown(`${prefix}.*`, group, level, registry));
    }
  }
  return notices;
}

/** The notices on names that no logger has, as {@link noticesOf} has them; for what is not a change of a level. */
export function unknownNotices(names: readonly string[], registry: LoggerRegistry): readonly Notice[] {
  const isKnown = (name: string) => {
    if (name.endsWith(".*")) return registry.childrenOf(loggerName(name.slice(0, -2))).size > 0;
    const node = registry.get(loggerName(name));
    return node !== undefined && exists(node);
  };
  return names
    .filter((name) => !isKnown(name))
    .slice(0, MAX_NOTICES)
    .map((name) => unknown(name, undefined, undefined, registry));
}

/** Whether a logger of this name, or of one below it, exists. ROOT always does. */
export function exists({ name, bindings, children }: LoggerNode): boolean {
  if (name === ROOT || bindings !== undefined) return true;
  for (const child of children ?? []) if (exists(child as LoggerNode)) return true;
  return false;
}

function unknown(name: string, group: Group | undefined, level: Level | undefined, registry: LoggerRegistry): Notice {
  const applies = level === undefined ? "" : "; the level applies as soon as one appears";
  const isMember = group !== undefined;
  let found: { readonly nearest: string | undefined } | undefined;
  return {
    code: isMember ? "GROUP_MEMBER_UNKNOWN" : "LOGGER_UNKNOWN",
    message: `${isMember ? `The group's member ${name} has no logger` : `No logger is named ${name}`} yet${applies}`,
    // Looked for when it is read: code that sets many levels does not.
    get nearest() {
      found ??= { nearest: nearestTo(name, registry) };
      return found.nearest;
    },
  };
}

function older(name: string): Notice {
  const message = `Loggers named ${name} were made before the adapter was attached; those that it has not found keep their level`;
  return { code: "LOGGER_OLDER_THAN_ADAPTER", message, nearest: undefined };
}

function partly(name: string, level: Level, warnings: readonly string[]): Notice {
  const why = warnings.length === 0 ? "" : `: ${warnings.join("; ")}`;
  return { code: "PARTLY_APPLIED", message: `The level in effect on ${name} is ${level}${why}`, nearest: undefined };
}

/** The existing logger of which the name is the end, as `orders` of `shop.orders`, or else the most similar one. */
function nearestTo(text: string, registry: LoggerRegistry): string | undefined {
  const end = `.${dotted(text).toLowerCase()}`;
  const names: string[] = [];
  let shortest: string | undefined;
  for (const node of registry.nodes()) {
    if (node.parent === undefined || !exists(node)) continue;
    if (names.length < MAX_COMPARED) names.push(node.name);
    if (node.key.toLowerCase().endsWith(end) && node.name.length < (shortest?.length ?? Number.POSITIVE_INFINITY)) {
      shortest = node.name;
    }
  }
  return shortest ?? similar(text, names)[0];
}

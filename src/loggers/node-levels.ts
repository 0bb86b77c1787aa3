import type { Binding, BoundNode } from "./bound-node.ts";
import { type Level, moreVerbose } from "./level.ts";

/** The level of ROOT while no library has a logger of this name. */
const DEFAULT_LEVEL: Level = "INFO";

/** The level that an operator has set on a name; undefined if there is none. */
export function operatorLevel({ override, configured }: BoundNode): Level | undefined {
  return override === undefined ? undefined : configured;
}

/** Whether the application set a level on a native logger of this name. */
export function isConfiguredByApplication(node: BoundNode): boolean {
  for (let binding = node.bindings; binding !== undefined; binding = binding.next) {
    if (binding.own !== undefined) return true;
  }
  return false;
}

/**
 * The level that the application itself has configured on a name (`own`), or had when it was found (`initial`); undefined if none or
 * if its native loggers differ. ROOT has the default level while no library has a logger of this name.
 */
export function applicationLevel(node: BoundNode, which: "own" | "initial" = "own"): Level | undefined {
  const { bindings: first } = node;
  if (first === undefined) return node.parent === undefined ? DEFAULT_LEVEL : undefined;
  for (let binding = first.next; binding !== undefined; binding = binding.next) {
    if (binding[which] !== first[which]) return undefined;
  }
  return first[which];
}

/** The level really in effect on a name: the most verbose one of its native loggers, or that of the tree if it has none. */
export function effectiveLevel(node: BoundNode): Level {
  const { bindings: first } = node;
  if (first !== undefined && first.next === undefined) return first.handle.level;
  let most: Level | undefined;
  for (let binding = node.bindings; binding !== undefined; binding = binding.next) {
    most = moreVerbose(most, binding.handle.level);
  }
  if (most !== undefined) return most;
  return operatorLevel(node) ?? (node.parent === undefined ? DEFAULT_LEVEL : effectiveLevel(node.parent));
}

/** Describes how the levels of a name's native loggers differ, such as "pino INFO, winston DEBUG"; undefined if they do not. */
export function differentLevels(node: BoundNode): string | undefined {
  const { bindings: first } = node;
  if (first?.next === undefined) return undefined;
  const levels = new Set<Level>();
  const texts = new Set<string>();
  for (let binding: Binding | undefined = first; binding !== undefined; binding = binding.next) {
    const { level } = binding.handle;
    levels.add(level);
    texts.add(`${binding.kind} ${level}`);
  }
  return levels.size === 1 ? undefined : [...texts].join(", ");
}

/** The level in effect on one of a name's native loggers, if it is another than the one that was set; the most verbose of them. */
export function differentFrom(node: BoundNode, set: Level): Level | undefined {
  let other: Level | undefined;
  for (let binding = node.bindings; binding !== undefined; binding = binding.next) {
    const { level } = binding.handle;
    if (level !== set) other = moreVerbose(other, level);
  }
  return other;
}

/** Whether another native logger of the name is shown the same, so that this one does not change what is shown. */
export function isShownBeside(binding: Binding): boolean {
  const { bindings: first } = binding.node;
  const other = first === binding ? first.next : first;
  return (
    other !== undefined &&
    other.kind === binding.kind &&
    other.own === binding.own &&
    other.handle.level === binding.handle.level
  );
}

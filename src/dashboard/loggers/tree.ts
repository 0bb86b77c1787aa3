import { Level } from "../../gen/actuator/v3/level_pb.ts";
import type { Logger } from "../../gen/actuator/v3/loggers_pb.ts";
import { dotted, parentName, ROOT } from "../../loggers/name.ts";

/** One name in the tree: a logger, or a name between loggers. */
export interface TreeNode {
  /** The name with dots as its only separators. */
  readonly key: string;
  /** What the row shows: the name without that of its parent. */
  readonly part: string;
  readonly parent: TreeNode | undefined;
  /** 1 for ROOT. */
  readonly depth: number;
  /** Undefined for a name that is no logger itself. */
  logger: Logger | undefined;
  /** In the order of their names. */
  children: TreeNode[];
  /** The loggers below. */
  below: number;
}

/** The loggers as a tree of dotted names below ROOT, kept current one logger at a time. */
export class LoggerTree {
  readonly root: TreeNode = node(ROOT, undefined);
  readonly #nodes = new Map<string, TreeNode>([[ROOT, this.root]]);

  constructor(loggers: Iterable<Logger> = []) {
    const unsorted = new Set<TreeNode>();
    for (const logger of loggers) this.#put(logger, unsorted);
    for (const { children } of unsorted) children.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** How many loggers there are. */
  get size(): number {
    return this.root.below + (this.root.logger === undefined ? 0 : 1);
  }

  get(name: string): TreeNode | undefined {
    return this.#nodes.get(dotted(name));
  }

  /** Adds a logger, or replaces what is known of it. Returns whether there is a name more. */
  put(logger: Logger): boolean {
    const known = this.#nodes.get(dotted(logger.name));
    if (known?.logger !== undefined) {
      known.logger = logger;
      return false;
    }
    this.#put(logger, undefined);
    return true;
  }

  /** Removes a logger, and the names that led to it alone. */
  remove(name: string): boolean {
    const found = this.get(name);
    if (found?.logger === undefined) return false;
    found.logger = undefined;
    for (let above = found.parent; above !== undefined; above = above.parent) above.below--;
    for (
      let at = found;
      at.parent !== undefined && at.logger === undefined && at.children.length === 0;
      at = at.parent
    ) {
      const { children } = at.parent;
      children.splice(children.indexOf(at), 1);
      this.#nodes.delete(at.key);
    }
    return true;
  }

  /** Without `unsorted`, each new name takes its place at once. */
  #put(logger: Logger, unsorted: Set<TreeNode> | undefined): void {
    const at = this.#ensure(dotted(logger.name), unsorted);
    if (at.logger === undefined) for (let up = at.parent; up !== undefined; up = up.parent) up.below++;
    at.logger = logger;
  }

  #ensure(key: string, unsorted: Set<TreeNode> | undefined): TreeNode {
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    const parent = this.#ensure(parentName(key), unsorted);
    const made = node(key, parent);
    this.#nodes.set(key, made);
    if (unsorted === undefined) parent.children.splice(placeOf(key, parent.children), 0, made);
    else {
      parent.children.push(made);
      unsorted.add(parent);
    }
    return made;
  }
}

function node(key: string, parent: TreeNode | undefined): TreeNode {
  const start = parent?.parent === undefined ? 0 : parent.key.length + 1;
  const part = key.slice(start);
  return {
    key,
    part: part === "" ? "." : part,
    parent,
    depth: parent === undefined ? 1 : parent.depth + 1,
    logger: undefined,
    children: [],
    below: 0,
  };
}

function placeOf(key: string, children: readonly TreeNode[]): number {
  let [from, to] = [0, children.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (children[middle]!.key < key) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The nearest name above that has a level of its own: the one that this name inherits from. */
export function inheritsFrom({ parent }: TreeNode): TreeNode | undefined {
  let at = parent;
  while (at !== undefined && !isConfigured(at)) at = at.parent;
  return at;
}

/** The level that applies to a name, also to one that is no logger. */
export function effectiveLevel(of: TreeNode): Level {
  for (let at: TreeNode | undefined = of; at !== undefined; at = at.parent) {
    if (at.logger !== undefined) return at.logger.effectiveLevel;
  }
  return Level.UNSPECIFIED;
}

/** The level that a changed logger returns to. */
export function returnsTo(of: TreeNode): Level {
  const baseline = of.logger?.baselineLevel ?? Level.UNSPECIFIED;
  if (baseline !== Level.UNSPECIFIED || of.parent === undefined) return baseline;
  return effectiveLevel(of.parent);
}

function isConfigured({ logger }: TreeNode): boolean {
  return logger !== undefined && logger.configuredLevel !== Level.UNSPECIFIED;
}

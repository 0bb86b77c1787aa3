import type { Level } from "./level.ts";
import { parentName, ROOT } from "./name.ts";

/** One name in the tree. */
export interface LevelNode {
  readonly name: string;
  /** The nearest ancestor; undefined for ROOT alone. */
  readonly parent: LevelNode | undefined;
  /** The names directly below; undefined if there are none, as for most names. */
  children: LevelNode[] | undefined;
  /** The level set on this name; undefined if it inherits. */
  configured: Level | undefined;
}

/** ROOT, which always has a level. */
export interface RootNode extends LevelNode {
  configured: Level;
}

/**
 * Names and their configured levels. A name without a level inherits from its nearest configured ancestor; ROOT always has one.
 * A name comes with all its ancestors, and never leaves the tree.
 */
export class LevelTree<Node extends LevelNode = LevelNode> {
  readonly root: Node & RootNode;
  readonly #nodes = new Map<string, Node>();
  readonly #create: (bare: LevelNode) => Node;

  /** `create` makes the node of a new name, with more than its level. */
  constructor(rootLevel: Level, create: (bare: LevelNode) => Node) {
    this.#create = create;
    this.root = this.#add(ROOT, undefined, rootLevel) as Node & RootNode;
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** All nodes, in the order in which they were added. */
  nodes(): IterableIterator<Node> {
    return this.#nodes.values();
  }

  get(name: string): Node | undefined {
    return this.#nodes.get(name);
  }

  /** The number of nodes that `ensure(name)` would add: the name itself and its missing ancestors. */
  missing(name: string): number {
    let count = 0;
    for (let at = name; !this.#nodes.has(at); at = parentName(at)) count++;
    return count;
  }

  /** The node of a name, which is added with its missing ancestors if it is new. */
  ensure(name: string): Node {
    return this.#nodes.get(name) ?? this.#add(name, this.ensure(parentName(name)), undefined);
  }

  #add(name: string, parent: Node | undefined, configured: Level | undefined): Node {
    const node = this.#create({ name, parent, children: undefined, configured });
    this.#nodes.set(name, node);
    if (parent !== undefined) (parent.children ??= []).push(node);
    return node;
  }
}

/** The node that a node's level comes from: itself or the nearest ancestor that has a level. */
export function levelSource<Node extends LevelNode>(node: Node): Node & RootNode {
  let at: LevelNode = node;
  while (at.configured === undefined) at = at.parent!;
  return at as Node & RootNode;
}

/** Whether `ancestor` is the node itself or one of its ancestors. */
export function isAncestorOrSelf(ancestor: LevelNode, node: LevelNode): boolean {
  for (let at: LevelNode | undefined = node; at !== undefined; at = at.parent) if (at === ancestor) return true;
  return false;
}

/** Calls `visit` for the node and for every node below it without a level of its own on the way. */
export function visitHeirs<Node extends LevelNode>(node: Node, visit: (heir: Node) => void): void {
  const pending: Node[] = [node];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    visit(at);
    for (const child of (at.children as Node[] | undefined) ?? []) {
      if (child.configured === undefined) pending.push(child);
    }
  }
}

import { parentName, ROOT } from "./name.ts";

/** One name in the tree. */
export interface NameNode {
  /** The name with dots, by which it is found. */
  readonly key: string;
  /** The name as it was first written, with dots, colons or slashes. */
  readonly name: string;
  /** The nearest ancestor; undefined for ROOT alone. */
  readonly parent: NameNode | undefined;
  /** The names directly below; undefined if there are none, as for most names. */
  children: Set<NameNode> | undefined;
}

/** The names of loggers. A name comes with all its ancestors. */
export class NameTree<Node extends NameNode = NameNode> {
  readonly root: Node;
  readonly #nodes = new Map<string, Node>();
  readonly #create: (bare: NameNode) => Node;
  #sorted: readonly Node[] | undefined;

  /** `create` makes the node of a new name, with more than its name. */
  constructor(create: (bare: NameNode) => Node) {
    this.#create = create;
    this.root = this.#add(ROOT, ROOT, undefined);
  }

  get size(): number {
    return this.#nodes.size;
  }

  get(key: string): Node | undefined {
    return this.#nodes.get(key);
  }

  /** All nodes, in the order in which they were added. */
  nodes(): Iterable<Node> {
    return this.#nodes.values();
  }

  /** All nodes, ROOT first, then by the UTF-16 code units of their names. */
  sorted(): readonly Node[] {
    if (this.#sorted === undefined) {
      const [root, ...rest] = this.#nodes.values();
      this.#sorted = [root!, ...rest.sort((a, b) => (a.name < b.name ? -1 : 1))];
    }
    return this.#sorted;
  }

  /** The number of nodes that `ensure(key)` would add: the name itself and its missing ancestors. */
  missing(key: string): number {
    let count = 0;
    for (let at = key; !this.#nodes.has(at); at = parentName(at)) count++;
    return count;
  }

  /** The node of a name, which is added with its missing ancestors if it is new. `name` is the spelling to show. */
  ensure(key: string, name = key): Node {
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    const above = parentName(key);
    return this.#add(key, name, this.ensure(above, above === ROOT ? ROOT : name.slice(0, above.length)));
  }

  /** Removes a node without children. */
  remove(node: Node): void {
    this.#nodes.delete(node.key);
    const siblings = node.parent?.children;
    siblings?.delete(node);
    if (siblings?.size === 0) node.parent!.children = undefined;
    this.#sorted = undefined;
  }

  #add(key: string, name: string, parent: Node | undefined): Node {
    const node = this.#create({ key, name, parent, children: undefined });
    this.#nodes.set(key, node);
    if (parent !== undefined) (parent.children ??= new Set()).add(node);
    this.#sorted = undefined;
    return node;
  }
}

/** Whether `ancestor` is the node itself or one of its ancestors. */
export function isAncestorOrSelf(ancestor: NameNode, node: NameNode): boolean {
  for (let at: NameNode | undefined = node; at !== undefined; at = at.parent) if (at === ancestor) return true;
  return false;
}

/** Calls `visit` for the node and then for every node below it, ancestors first, except below nodes for which it returns false. */
export function visitBelow<Node extends NameNode>(node: Node, visit: (at: Node) => boolean): void {
  const pending: Node[] = [node];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (!visit(at)) continue;
    for (const child of (at.children as Set<Node> | undefined) ?? []) pending.push(child);
  }
}

import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import type { Properties } from "../../../integration-graph/properties.ts";

/** How many components are kept, and for how long. */
export interface ComponentLimits {
  /** How many nodes have properties; further ones only have names and numbers. */
  readonly maxNodes: number;
  /** How long a component stays after its last message. */
  readonly maxAgeMs: number;
}

/** The nodes that spans mention, each until it was idle for long. */
export class Components {
  readonly #host: GraphHost;
  readonly #limits: ComponentLimits;
  readonly #declared = new Set<GraphNode>();

  constructor(host: GraphHost, name: string, limits: ComponentLimits) {
    this.#host = host;
    this.#limits = limits;
    const read = () => {
      this.#removeAged();
      return { nodes: [], links: [] };
    };
    host.read({ name, read });
  }

  /** The node of this key, which another adapter may have declared; undefined if its name is invalid. */
  node(declaration: NodeDeclaration): GraphNode | undefined {
    if (this.#declared.size >= this.#limits.maxNodes) this.#removeAged();
    const node = this.#host.observe(declaration);
    // A full graph hides it until there is room.
    if (!node.attached) return node.dormant ? node : undefined;
    if (node.declared || this.#declared.size >= this.#limits.maxNodes) return node;
    const declared = this.#host.declare(declaration);
    if (!declared.attached) return node;
    this.#declared.add(declared);
    return declared;
  }

  /** Adds properties to a node that no other adapter declares. */
  describe(node: GraphNode, declaration: NodeDeclaration, properties: Properties): void {
    if (this.#declared.has(node)) this.#host.declare({ ...declaration, properties });
  }

  #removeAged(): void {
    const oldest = performance.now() - this.#limits.maxAgeMs;
    for (const node of this.#declared) {
      if (node.attached && node.lastSeen >= oldest) continue;
      this.#declared.delete(node);
      if (node.attached) this.#host.withdraw(node);
    }
  }
}

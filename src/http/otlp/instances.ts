import type { Components } from "../../adapters/graph/opentelemetry/components.ts";
import type { NodeDeclaration } from "../../integration-graph/declaration.ts";
import type { GraphNode } from "../../integration-graph/node.ts";

/** More instances of one service than that are not counted. */
const MAX_INSTANCES = 1_000;

/** In how many instances of its service each endpoint was seen: fewer than there are show a rollout that is half done. */
export class Instances {
  readonly #components: Components;
  readonly #seen = new WeakMap<GraphNode, Set<string>>();

  constructor(components: Components) {
    this.#components = components;
  }

  saw(node: GraphNode, declaration: NodeDeclaration, instance: string): void {
    let instances = this.#seen.get(node);
    if (instances === undefined) this.#seen.set(node, (instances = new Set()));
    if (instance === "" || instances.has(instance) || instances.size >= MAX_INSTANCES) return;
    instances.add(instance);
    this.#components.describe(node, declaration, { ...declaration.properties, instances: instances.size });
  }
}

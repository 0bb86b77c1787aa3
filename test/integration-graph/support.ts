import type { IntegrationGraph } from "../../src/integration-graph/graph.ts";
import type { NodeSnapshot } from "../../src/integration-graph/snapshot.ts";

/** The node of this name, as the graph shows it now. */
export function nodeOf(graph: IntegrationGraph, name: string): NodeSnapshot {
  const node = graph.snapshot().nodes.find((node) => node.name === name);
  if (node === undefined) throw new Error(`there is no node "${name}"`);
  return node;
}

/** How many messages a node saw, by outcome. */
export function sends(graph: IntegrationGraph, name: string): readonly [successes: number, failures: number] {
  const { successes, failures } = nodeOf(graph, name).sendTimers!;
  return [successes.count, failures.count];
}

/** How many messages were taken from a node, by outcome. */
export function receives(graph: IntegrationGraph, name: string): readonly [successes: number, failures: number] {
  const { successes, failures } = nodeOf(graph, name).receiveCounters!;
  return [successes, failures];
}

/** Every link with its count, such as `{ "check -output-> paid": 2 }`. */
export function links(graph: IntegrationGraph): { readonly [link: string]: number } {
  const { nodes, links } = graph.snapshot();
  const names = new Map(nodes.map(({ nodeId, name }) => [nodeId, name]));
  return Object.fromEntries(
    links.map(({ from, to, type, count }) => [`${names.get(from)} -${type}-> ${names.get(to)}`, count]),
  );
}

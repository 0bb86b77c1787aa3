import type { IntegrationGraph } from "../../src/integration-graph/graph.ts";
import type { GraphSnapshot, NodeSnapshot } from "../../src/integration-graph/snapshot.ts";

/** The whole graph, as `{ nodes: { "queue orders": "3 ok, 1 failed" }, links: { "queue orders -input-> consumer bill": 4 } }`. */
export function picture({ nodes, links }: GraphSnapshot) {
  const labels = new Map(nodes.map((node) => [node.nodeId, label(node)]));
  return {
    nodes: Object.fromEntries(nodes.map((node) => [label(node), numbers(node)])),
    links: Object.fromEntries(
      links.map(({ from, type, to, count }) => [`${labels.get(from)} -${type}-> ${labels.get(to)}`, count]),
    ),
  };
}

/** The node of this label. */
export function nodeOf(graph: IntegrationGraph, wanted: string): NodeSnapshot {
  const found = graph.snapshot().nodes.find((node) => label(node) === wanted);
  if (found === undefined) throw new Error(`there is no "${wanted}"`);
  return found;
}

function label({ componentType, name }: NodeSnapshot): string {
  return `${componentType.replace("amqp:", "")} ${name}`;
}

function numbers({ sendTimers, receiveCounters }: NodeSnapshot): string {
  const sent = sendTimers && `${sendTimers.successes.count} ok, ${sendTimers.failures.count} failed`;
  const received = receiveCounters && `${receiveCounters.successes} received`;
  return [sent, received].filter(Boolean).join(", ");
}

/** Waits until `condition` holds, as long as the test may take. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

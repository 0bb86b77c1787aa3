import type { IntegrationGraph } from "../../src/integration-graph/graph.ts";
import type { NodeSnapshot } from "../../src/integration-graph/snapshot.ts";

/** The whole graph, as `{ nodes: { "listener bus.a.bill": "3 ok, 1 failed" }, links: { "emitter-event bus.a -input-> listener bus.a.bill": 4 } }`. */
export function picture(graph: IntegrationGraph) {
  const { nodes, links } = graph.snapshot();
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
  return `${componentType.replace(/^(node|nest):/, "")} ${name}`;
}

/** Nothing where no numbers are taken, as of who brings messages in. */
function numbers({ componentType, sendTimers, receiveCounters }: NodeSnapshot): string | undefined {
  const sent = sendTimers && `${sendTimers.successes.count} ok, ${sendTimers.failures.count} failed`;
  const received = receiveCounters && `${receiveCounters.successes} received, ${receiveCounters.failures} failed`;
  return componentType === "gateway" ? undefined : [sent, received].filter(Boolean).join(", ");
}

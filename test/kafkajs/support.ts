import type { GraphSnapshot } from "../../src/integration-graph/snapshot.ts";

/** The whole graph, as `{ nodes: { "topic orders": "3 ok, 1 failed" }, links: { "topic orders -input-> consumer bill": 4 } }`. */
export function picture({ nodes, links }: GraphSnapshot) {
  const label = (node: (typeof nodes)[number]) => `${node.componentType.replace("kafka:", "")} ${node.name}`;
  const labels = new Map(nodes.map((node) => [node.nodeId, label(node)]));
  return {
    nodes: Object.fromEntries(
      nodes.map((node) => {
        const timers = node.sendTimers;
        return [
          label(node),
          timers === undefined ? "" : `${timers.successes.count} ok, ${timers.failures.count} failed`,
        ];
      }),
    ),
    links: Object.fromEntries(
      links.map(({ from, type, to, count }) => [`${labels.get(from)} -${type}-> ${labels.get(to)}`, count]),
    ),
  };
}

/** Waits until `condition` holds, as long as the test may take. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

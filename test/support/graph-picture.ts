import type { GraphSnapshot, NodeSnapshot } from "../../src/integration-graph/snapshot.ts";

/** A graph, or what was shown of it at a moment. */
type Shown = GraphSnapshot | { snapshot(): GraphSnapshot };

/** How a test calls the nodes of a graph, and which of their numbers it looks at. */
export interface Looks {
  label(node: NodeSnapshot): string;
  numbers?(node: NodeSnapshot): string | undefined;
}

/** Whole graphs in few words, for a test to compare, and single nodes by the labels there. */
export function graphPictures({ label, numbers = sentAndReceived }: Looks) {
  return {
    /** `{ nodes: { "queue orders": "3 ok, 1 failed" }, links: { "queue orders -input-> consumer bill": 4 } }`. */
    picture(shown: Shown) {
      const { nodes, links } = snapshotOf(shown);
      const labels = new Map(nodes.map((node) => [node.nodeId, label(node)]));
      return {
        nodes: Object.fromEntries(nodes.map((node) => [label(node), numbers(node)])),
        links: Object.fromEntries(
          links.map(({ from, type, to, count }) => [`${labels.get(from)} -${type}-> ${labels.get(to)}`, count]),
        ),
      };
    },
    nodeOf(shown: Shown, wanted: string): NodeSnapshot {
      const found = snapshotOf(shown).nodes.find((node) => label(node) === wanted);
      if (found === undefined) throw new Error(`there is no "${wanted}"`);
      return found;
    },
  };
}

/** `3 ok, 1 failed`; nothing for what has no such numbers. */
export function sentOnly({ sendTimers }: NodeSnapshot): string {
  return sendTimers === undefined ? "" : `${sendTimers.successes.count} ok, ${sendTimers.failures.count} failed`;
}

/** `3 ok, 1 failed, 2 received`, as far as a node has such numbers. */
function sentAndReceived(node: NodeSnapshot): string {
  const { receiveCounters } = node;
  return [sentOnly(node), receiveCounters && `${receiveCounters.successes} received`].filter(Boolean).join(", ");
}

function snapshotOf(shown: Shown): GraphSnapshot {
  return "snapshot" in shown ? shown.snapshot() : shown;
}

import {
  IntegrationGraphService,
  type Link,
  Link_Type as LinkType,
  type Node,
} from "../gen/actuator/v3/integration_graph_pb.ts";
import { COUNT, described, FLAG, listOf, NUMBER, nameIn, objectOf, TEXT, timeText, upTo } from "./schema.ts";
import type { Tool } from "./tool.ts";

/** Shows a part of the integration graph. */
export const INTEGRATION_GRAPH = {
  name: "integration_graph",
  title: "Show messaging components",
  description:
    "Shows the messaging components of the application (channels, handlers, brokers' queues and topics) with their numbers, and the links between them: those around a component, or all up to the limit.",
  services: [IntegrationGraphService],
  permissions: ["graph:read"],
  writes: false,
  input: {
    focus: {
      type: "string",
      maxLength: 512,
      description: "A text in the name of a component, in any case, or its id.",
    },
    depth: { type: "integer", minimum: 0, maximum: 5, default: 1, description: "How many links away from the focus." },
    limit: upTo(200, 50, "The most components."),
  },
  output: {
    components: listOf(
      objectOf({
        id: { type: "integer" },
        name: TEXT,
        type: TEXT,
        pattern: TEXT,
        sent: COUNT,
        received: COUNT,
        failed: COUNT,
        meanMs: NUMBER,
        messagesPerSecond: NUMBER,
        lastSeen: TEXT,
        stale: described(FLAG, "Whether what declares it could not be reached."),
      }),
    ),
    links: listOf(objectOf({ from: { type: "integer" }, to: { type: "integer" }, type: TEXT, messages: COUNT })),
    more: described(FLAG, "Whether there are more components that fit."),
  },
  async run({ focus, depth = 1, limit = 50 }, { clients, signal }) {
    const { nodes, links } = await clients(IntegrationGraphService).getIntegrationGraph({}, { signal });
    const chosen = focus === undefined ? nodes : around(nodes, links, focus.toLowerCase(), depth);
    const shown = chosen.slice(0, limit);
    const ids = new Set(shown.map(({ nodeId }) => nodeId));
    return {
      components: shown.map(nodeJson),
      links: links.filter(({ from, to }) => ids.has(from) && ids.has(to)).map(linkJson),
      more: chosen.length > limit,
    };
  },
} satisfies Tool<{ focus?: string; depth?: number; limit?: number }>;

/** The nodes that are meant, and those at most `depth` links away, the nearest first. */
function around(nodes: readonly Node[], links: readonly Link[], focus: string, depth: number): readonly Node[] {
  const isMeant = ({ name, nodeId }: Node) => name.toLowerCase().includes(focus) || String(nodeId) === focus;
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const found = new Set(nodes.filter(isMeant));
  for (let step = 0; step < depth; step++) {
    const ids = new Set(Array.from(found, ({ nodeId }) => nodeId));
    for (const { from, to } of links) {
      const next = ids.has(from) ? byId.get(to) : ids.has(to) ? byId.get(from) : undefined;
      if (next !== undefined) found.add(next);
    }
  }
  return [...found];
}

function nodeJson(node: Node) {
  const { sendTimers, receiveCounters } = node;
  const failed = Number(sendTimers?.failures?.count ?? 0n) + Number(receiveCounters?.failures ?? 0n);
  return {
    id: node.nodeId,
    name: node.name,
    type: node.componentType,
    pattern: node.integrationPatternType,
    sent: sendTimers?.successes && Number(sendTimers.successes.count),
    received: receiveCounters && Number(receiveCounters.successes),
    failed: sendTimers === undefined && receiveCounters === undefined ? undefined : failed,
    meanMs: sendTimers?.successes?.mean,
    messagesPerSecond: node.rate,
    lastSeen: timeText(node.lastSeenTime),
    stale: node.stale || undefined,
  };
}

function linkJson({ from, to, type, count }: Link) {
  return { from, to, type: nameIn(LinkType, type)?.toLowerCase(), messages: Number(count) };
}

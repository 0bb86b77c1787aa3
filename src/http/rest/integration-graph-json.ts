import type { GraphSnapshot, LinkSnapshot, NodeSnapshot } from "../../integration-graph/snapshot.ts";

/** The graph as section 2.7 of the specification shows it, with the original's further fields and no others. */
export function integrationGraphJson({ contentDescriptor, nodes, links }: GraphSnapshot): string {
  const { providerVersion, providerFormatVersion, provider } = contentDescriptor;
  return JSON.stringify({
    contentDescriptor: { providerVersion, providerFormatVersion, provider },
    nodes: nodes.map(nodeFields),
    links: links.map(linkFields),
  });
}

/** The order of the keys is the specification's; the original's further fields stand where the original shows them. */
function nodeFields(node: NodeSnapshot) {
  return {
    nodeId: node.nodeId,
    componentType: node.componentType,
    integrationPatternType: node.integrationPatternType,
    integrationPatternCategory: node.integrationPatternCategory,
    properties: node.properties,
    sendTimers: node.sendTimers && {
      successes: timerFields(node.sendTimers.successes),
      failures: timerFields(node.sendTimers.failures),
    },
    receiveCounters: node.receiveCounters && {
      successes: node.receiveCounters.successes,
      failures: node.receiveCounters.failures,
    },
    name: node.name,
    observed: node.observed,
    input: node.input,
    output: node.output,
    errors: node.errors,
    discards: node.discards,
    routes: node.routes,
    handlers: node.handlers?.map(({ name, type }) => ({ name, type })),
  };
}

function timerFields({ count, mean, max }: { count: number; mean: number; max: number }) {
  return { count, mean, max };
}

function linkFields({ from, to, type }: LinkSnapshot) {
  return { from, to, type };
}

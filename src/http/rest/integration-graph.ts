import type { IntegrationGraph } from "../../integration-graph/graph.ts";
import type { GraphSnapshot, LinkSnapshot, NodeSnapshot } from "../../integration-graph/snapshot.ts";
import { JSON_BODY } from "./body.ts";
import type { Operation } from "./operation.ts";
import { Representation } from "./representation.ts";

/** GET of the graph with its current numbers. */
export function readGraph(graph: IntegrationGraph): Operation {
  return {
    run: () => ({
      status: 200,
      representation: new Representation(integrationGraphJson(graph.snapshot())),
      tagged: true,
    }),
  };
}

/** POST that reads every source of the graph again. A body is checked, as the original does, and ignored. */
export function rebuildGraph(graph: IntegrationGraph): Operation {
  return {
    body: { types: JSON_BODY, typeRequired: false },
    async run() {
      await graph.rebuild();
      return { status: 204 };
    },
  };
}

/** The graph as section 2.7 of the specification shows it, with the further fields of the original and no others. */
export function integrationGraphJson({ contentDescriptor, nodes, links }: GraphSnapshot): string {
  const { providerVersion, providerFormatVersion, provider, dropped, collapsed } = contentDescriptor;
  return JSON.stringify({
    contentDescriptor: { providerVersion, providerFormatVersion, provider, dropped, collapsed },
    nodes: nodes.map(nodeFields),
    links: links.map(linkFields),
  });
}

/** The keys are in the order of the specification; the further fields are where the original has them. */
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

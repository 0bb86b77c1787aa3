import type { NodeDeclaration } from "../../src/integration-graph/declaration.ts";
import type { GraphSource, LinkDeclaration } from "../../src/integration-graph/source.ts";

const PATTERNS = ["service_activator", "filter", "router", "transformer", "splitter", "outbound_gateway"] as const;

/** A graph of several applications over one broker: in each a tree of queues and the endpoints that read them, fed by an earlier one. */
export function largeGraph(size: number, applications = 12): GraphSource {
  const nodes: NodeDeclaration[] = [];
  const links: LinkDeclaration[] = [];
  const steps: NodeDeclaration[][] = Array.from({ length: applications }, () => []);
  for (let at = 0; at < size / 2; at++) {
    const index = at % applications;
    const [app, own] = [`app-${index}`, steps[index]!];
    const queue: NodeDeclaration = {
      name: `${app}.queue-${own.length}`,
      pattern: "pollable_channel",
      key: `channel:rabbitmq:main:queue:${app}.queue-${own.length}`,
    };
    const pattern = PATTERNS[own.length % PATTERNS.length]!;
    const step: NodeDeclaration = {
      name: `${app}.step-${own.length}`,
      pattern,
      key: `endpoint:${app}:${pattern}:step-${own.length}`,
    };
    links.push({ from: queue, type: "input", to: step });
    const feeder = own.length > 0 ? own[Math.floor((own.length - 1) / 2)] : steps[Math.floor((index - 1) / 2)]?.at(-1);
    if (feeder !== undefined) links.push({ from: feeder, type: "output", to: queue });
    own.push(step);
    nodes.push(queue, step);
  }
  return { name: "large", read: () => ({ nodes, links }) };
}

import { mergedDeclaration, type NodeDeclaration } from "./declaration.ts";
import type { GraphLink, GraphNode } from "./node.ts";

/** Gives `into` all that `node` has but its links. From then on they share their statistics. */
export function uniteNodes(node: GraphNode, into: GraphNode): void {
  if (!into.declared && node.declared) into.pattern = node.pattern;
  for (const [declarer, declaration] of node.declarations) {
    into.declarations.set(declarer, united(into.declarations.get(declarer), declaration));
  }
  into.observed ||= node.observed;
  into.referenced ||= node.referenced;
  into.since = Math.min(into.since, node.since);
  into.sent = Math.max(into.sent, node.sent);
  into.sends.absorb(node.sends);
  into.receives.absorb(node.receives);
  node.sends = into.sends;
  node.receives = into.receives;
  node.ways.clear();
  node.dormant = false;
  node.successor = into;
}

/** Gives `into` all that `link` has but its ends. From then on they share their count. */
export function uniteLinks(link: GraphLink, into: GraphLink): void {
  for (const declarer of link.declarers) into.declarers.add(declarer);
  into.count += link.count;
  link.tally = into.tally;
  link.dormant = false;
}

function united(known: NodeDeclaration | undefined, declaration: NodeDeclaration): NodeDeclaration {
  try {
    return known === undefined ? declaration : { ...mergedDeclaration(declaration, known), pattern: known.pattern };
  } catch {
    return known!;
  }
}

import { isDeepStrictEqual } from "node:util";
import type { NodeDeclaration } from "./declaration.ts";
import type { GraphElements } from "./elements.ts";
import { patternConflict } from "./invalid.ts";
import { checkEnds } from "./link-ends.ts";
import type { LinkType } from "./link-type.ts";
import type { GraphLink, GraphNode } from "./node.ts";
import { isChannel } from "./pattern.ts";

/** What declares nodes and links: the application, or a source. What no longer has a declarer is removed. */
export type Declarer = object;

/** The application itself, which declares through the builder. */
export const APPLICATION: Declarer = Object.freeze({ name: "application" });

/**
 * Puts down what `declarer` says of a component, in the place of what it said before. A node that was only referred to
 * or seen gives way where its pattern was a guess. Throws as {@link checkConflict} does.
 */
export function declareNode(elements: GraphElements, declaration: NodeDeclaration, declarer: Declarer): GraphNode {
  checkConflict(elements, declaration, declarer);
  const node = known(elements, declaration) ?? elements.add(declaration);
  if (!isDeepStrictEqual(node.declarations.get(declarer), declaration)) {
    node.declarations.set(declarer, declaration);
    if (node.attached) elements.changed();
  }
  return node;
}

/** Puts down that `declarer` declares a link. Throws as {@link checkEnds} does. */
export function declareLink(
  elements: GraphElements,
  from: GraphNode,
  type: LinkType,
  to: GraphNode,
  declarer: Declarer,
): GraphLink | undefined {
  checkEnds(from, type, to);
  const link = from.linkTo(type, to) ?? elements.connect(from, type, to);
  if (link !== undefined && !link.declarers.has(declarer)) {
    link.declarers.add(declarer);
    elements.changed();
  }
  return link;
}

/** @throws ActuatorError FAILED_PRECONDITION if the component is declared, or used, as something else. */
export function checkConflict(elements: GraphElements, declaration: NodeDeclaration, declarer: Declarer): void {
  const node = elements.find(declaration);
  if (node === undefined || node.pattern === declaration.pattern) return;
  // A source may change its mind from one reading to the next; the application may not.
  const declared = [...node.declarations.keys()].some((other) => other !== declarer || other === APPLICATION);
  const usedAsChannel = node.referenced && !isChannel(declaration.pattern);
  if (declared || usedAsChannel) {
    throw patternConflict(`"${node.name}" cannot be a ${declaration.pattern}: it is a ${node.pattern} already`);
  }
}

/** Takes back everything that `declarer` declared, except what is kept. */
export function withdraw(
  elements: GraphElements,
  declarer: Declarer,
  kept: { readonly nodes: ReadonlySet<GraphNode>; readonly links: ReadonlySet<GraphLink> },
): void {
  for (const link of elements.links) if (!kept.links.has(link)) withdrawLink(elements, link, declarer);
  for (const node of elements.nodes) if (!kept.nodes.has(node)) takeBack(elements, node, declarer);
}

/** Withdraws the declaration of a link. Without another declarer, the link is removed. */
export function withdrawLink(elements: GraphElements, link: GraphLink, declarer: Declarer): void {
  if (!link.declarers.delete(declarer)) return;
  if (link.declared) elements.changed();
  else elements.disconnect(link);
}

/** Withdraws the declarations of a node and of its links. Without another declarer, they are removed. */
export function withdrawNode(elements: GraphElements, node: GraphNode, declarer: Declarer): void {
  for (const link of [...node.incoming, ...node.outgoing]) withdrawLink(elements, link, declarer);
  takeBack(elements, node, declarer);
}

function takeBack(elements: GraphElements, node: GraphNode, declarer: Declarer): void {
  if (!node.declarations.delete(declarer)) return;
  if (node.declared || node.referenced) elements.changed();
  else elements.remove(node);
}

function known(elements: GraphElements, declaration: NodeDeclaration): GraphNode | undefined {
  const node = elements.find(declaration);
  if (node === undefined || node.pattern === declaration.pattern) return node;
  if (isChannel(node.pattern) && isChannel(declaration.pattern)) {
    node.pattern = declaration.pattern;
    elements.changed();
    return node;
  }
  // The pattern of an endpoint is part of its identity.
  elements.remove(node);
  return undefined;
}

import { isDeepStrictEqual } from "node:util";
import type { NodeDeclaration } from "./declaration.ts";
import { APPLICATION, type Declarer } from "./declarer.ts";
import type { GraphElements } from "./elements.ts";
import { patternConflict } from "./invalid.ts";
import { checkEnds } from "./link-ends.ts";
import type { LinkType } from "./link-type.ts";
import { type GraphLink, type GraphNode, settled } from "./node.ts";
import { isChannel } from "./pattern.ts";

/**
 * Puts down what `declarer` says of a component, in the place of what it said before. A node that was only referred to
 * or seen gives way where its pattern was a guess. Throws as {@link checkConflict} does.
 */
export function declareNode(elements: GraphElements, declaration: NodeDeclaration, declarer: Declarer): GraphNode {
  checkConflict(elements, declaration, declarer);
  const node = known(elements, declaration) ?? elements.add(declaration, declarer);
  const part = elements.part(declaration) ?? node;
  if (!isDeepStrictEqual(part.declarations.get(declarer), declaration)) {
    part.declarations.set(declarer, declaration);
    if (part !== node) node.parts.add(part);
    if (node.attached) elements.changed();
  }
  return part;
}

/** Puts down that `declarer` declares a link. Throws as {@link checkEnds} does. */
export function declareLink(
  elements: GraphElements,
  from: GraphNode,
  type: LinkType,
  to: GraphNode,
  declarer: Declarer,
): GraphLink | undefined {
  const [start, end] = [settled(from), settled(to)];
  checkEnds(start, type, end);
  const link = start.linkTo(type, end) ?? elements.connect(start, type, end, declarer);
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
  const declared = [...node.declarers].some((other) => other !== declarer || other === APPLICATION);
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
  for (const link of elements.links) {
    for (const each of [...link.parts, link]) if (!kept.links.has(each)) takeBackLink(elements, each, declarer);
  }
  for (const node of elements.nodes) {
    for (const each of [...node.parts, node]) if (!kept.nodes.has(each)) takeBack(elements, each, declarer);
  }
}

/** Withdraws the declaration of a link. Without another declarer, the link is removed. */
export function withdrawLink(elements: GraphElements, link: GraphLink, declarer: Declarer): void {
  takeBackLink(elements, link.declarers.has(declarer) ? link : settled(link), declarer);
}

function takeBackLink(elements: GraphElements, link: GraphLink, declarer: Declarer): void {
  if (!link.declarers.delete(declarer)) return;
  const whole = settled(link);
  if (link.declarers.size === 0) whole.parts.delete(link);
  if (whole.declared) elements.changed();
  else elements.disconnect(whole);
}

/** Withdraws the declarations of a node and of its links. Without another declarer, they are removed. */
export function withdrawNode(elements: GraphElements, node: GraphNode, declarer: Declarer): void {
  const whole = settled(node);
  takeBack(elements, node.declarations.has(declarer) ? node : whole, declarer);
  if (whole.declarers.has(declarer)) return;
  for (const link of [...whole.incoming, ...whole.outgoing]) {
    for (const each of [...link.parts, link]) takeBackLink(elements, each, declarer);
  }
}

function takeBack(elements: GraphElements, node: GraphNode, declarer: Declarer): void {
  if (!node.declarations.delete(declarer)) return;
  const whole = settled(node);
  if (node.declarations.size === 0) whole.parts.delete(node);
  if (whole.declared || whole.referenced) elements.changed();
  else elements.remove(whole);
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

import { Channel, type Component } from "./component.ts";
import type { IntegrationGraph } from "./graph.ts";
import { invalidDeclaration } from "./invalid.ts";
import type { LinkType } from "./link-type.ts";
import type { GraphLink, GraphNode } from "./node.ts";
import type { AnyOptions, ChannelReference } from "./options.ts";
import { PATTERN_TRAITS, type PatternType } from "./pattern.ts";

/** A class of components, as {@link declareComponent} makes them: `input` is the link that messages come in by. */
export type ComponentKind<C extends Component> = new (node: GraphNode, graph: IntegrationGraph, input?: GraphLink) => C;

/** Which links an option declares, in the order in which they are declared. */
const LINK_OPTIONS = [
  ["input", "input"],
  ["output", "output"],
  ["default", "output"],
  ["error", "error"],
  ["discard", "discard"],
  ["routes", "route"],
] as const satisfies readonly (readonly [keyof AnyOptions, LinkType])[];

/**
 * Declares a component with its links in `graph`.
 *
 * @throws ActuatorError INVALID_ARGUMENT if an option is invalid or the pattern does not have it, FAILED_PRECONDITION if the name has
 *   another pattern.
 */
export function declareComponent<C extends Component>(
  graph: IntegrationGraph,
  Kind: ComponentKind<C>,
  pattern: PatternType,
  name: string,
  options: AnyOptions = {},
): C {
  const { componentType, properties, handlers } = options;
  const references = LINK_OPTIONS.flatMap(([option, type]) => {
    const channels = listed(options[option]);
    if (channels.length === 0 || PATTERN_TRAITS[pattern].links.includes(type))
      return channels.map((channel) => ({ type, channel }));
    throw invalidDeclaration(`"${name}" is a ${pattern} and has no "${option}"`);
  });
  const links = references.map(({ type, channel }) => ({ type, channel: resolved(graph, channel) }));
  const node = graph.declare({ name, pattern, componentType, properties, handlers });
  let input: GraphLink | undefined;
  for (const { type, channel } of links) {
    if (type === "input") input = graph.link(channel, type, node);
    else graph.link(node, type, channel);
  }
  return new Kind(node, graph, input);
}

function resolved(graph: IntegrationGraph, channel: ChannelReference): GraphNode {
  if (!(channel instanceof Channel)) return graph.channel(channel);
  if (!channel.belongsTo(graph)) throw invalidDeclaration(`"${channel.name}" is a channel of another graph`);
  return channel.node;
}

function listed(value: AnyOptions[(typeof LINK_OPTIONS)[number][0]]): readonly ChannelReference[] {
  if (value === undefined) return [];
  if (typeof value !== "object" || value instanceof Channel) return [value];
  return Array.isArray(value) ? value : Object.values(value);
}

import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { LinkType } from "../../../integration-graph/link-type.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import { SYSTEM } from "./broker.ts";

export type Kind = "queue" | "exchange";

/** A queue or an exchange, as far as this application has spoken of it. */
export class Destination {
  readonly kind: Kind;
  /** As the graph shows it. */
  readonly name: string;
  /** Whether it stands for all queues with made-up names. These come and go; it stays. */
  readonly temporary: boolean;
  node: GraphNode;
  /** Whether messages are taken out one by one. */
  polled = false;
  /** Why it is in the graph, apart from its ways. */
  readonly reasons = new Set<string>();
  readonly outgoing = new Map<string, Way>();
  readonly incoming = new Set<Way>();

  constructor(kind: Kind, name: string, temporary: boolean, node: GraphNode) {
    this.kind = kind;
    this.name = name;
    this.temporary = temporary;
    this.node = node;
  }

  /** The way of its messages that nobody took, or that were rejected. */
  get deadLetters(): Way | undefined {
    for (const way of this.outgoing.values()) if (way.type === "error") return way;
    return undefined;
  }
}

/** A way from one destination to another, and why it is there: bindings, dead-lettering, an alternate exchange. */
export class Way {
  readonly from: Destination;
  readonly type: LinkType;
  readonly to: Destination;
  link: GraphLink | undefined;
  readonly reasons = new Set<string>();

  constructor(from: Destination, type: LinkType, to: Destination, link: GraphLink | undefined) {
    this.from = from;
    this.type = type;
    this.to = to;
    this.link = link;
  }

  get key(): string {
    return wayKey(this.type, this.to);
  }
}

/** Unique among the ways from one destination: neither types nor kinds hold a space. */
export function wayKey(type: LinkType, { kind, name }: Destination): string {
  return `${type} ${kind} ${name}`;
}

/** A destination as the graph is told of it. */
export function declarationOf(
  kind: Kind,
  name: string,
  { broker, vhost }: { readonly broker: string; readonly vhost: string },
  { polled = false, properties }: { readonly polled?: boolean; readonly properties?: Properties | undefined } = {},
): NodeDeclaration {
  const pattern = kind === "exchange" ? "publish_subscribe_channel" : polled ? "pollable_channel" : "message_channel";
  const key = channelKey(SYSTEM, broker, kind, `${vhost}/${name}`);
  return { name, pattern, componentType: `amqp:${kind}`, properties, key };
}

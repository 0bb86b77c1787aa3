import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import { SYSTEM } from "./broker.ts";
import { hasWildcard, INBOXES, matches, withoutMadeUp } from "./subject.ts";

export type Kind = "subject" | "stream" | "consumer";

/** So many subjects that only messages tell of are shown between two rebuilds: many applications put ids into subjects. */
const MAX_SEEN = 200;
/** So many subjects are remembered before they are looked up again. */
const MAX_REMEMBERED = 1_000;

/** A subject, stream or consumer that messages come by. */
export class Destination {
  readonly kind: Kind;
  /** As the graph shows it. */
  readonly name: string;
  readonly node: GraphNode;
  readonly wildcard: boolean;
  /** How many reasons there are for it. */
  holders = 0;
  /** The ways here from the subjects that messages were sent to; undefined for those that have none of their own. */
  readonly routes = new Map<string, GraphLink | undefined>();
  /** Of a consumer: the way from its stream. */
  feed: GraphLink | undefined;

  constructor(kind: Kind, name: string, node: GraphNode) {
    this.kind = kind;
    this.name = name;
    this.node = node;
    this.wildcard = kind === "subject" && hasWildcard(name);
  }
}

/** The subjects, streams and consumers of one broker that the application uses. */
export class Subjects {
  readonly #host: GraphHost;
  readonly #broker: string;
  readonly #held = new Map<string, Destination>();
  readonly #streams = new Map<string, Destination>();
  readonly #seen = new Set<string>();
  readonly #sent = new Map<string, GraphNode>();
  #inboxes: GraphNode | undefined;

  constructor(host: GraphHost, broker: string) {
    this.#host = host;
    this.#broker = broker;
  }

  declaration(kind: Kind, name: string, properties?: Properties): NodeDeclaration {
    const pattern = kind === "consumer" ? "message_channel" : "publish_subscribe_channel";
    const key = channelKey(SYSTEM, this.#broker, kind, name);
    return { name, pattern, componentType: `nats:${kind}`, properties, key };
  }

  /** As the graph shows a name. */
  shown(name: string): string {
    return this.#host.shownName(withoutMadeUp(name));
  }

  hold(kind: Kind, name: string, properties?: Properties): Destination {
    const shown = this.shown(name);
    const id = `${kind} ${shown}`;
    let destination = this.#held.get(id);
    if (destination === undefined) {
      destination = new Destination(kind, shown, this.#host.declare(this.declaration(kind, shown, properties)));
      this.#held.set(id, destination);
      this.#sent.clear();
    }
    destination.holders++;
    return destination;
  }

  release(destination: Destination): void {
    if (--destination.holders > 0) return;
    this.#held.delete(`${destination.kind} ${destination.name}`);
    this.#sent.clear();
    this.#host.withdraw(destination.node);
  }

  /** The node of a subject that a message was sent to. */
  sentTo(subject: unknown): GraphNode {
    if (typeof subject === "string" && subject.startsWith("_INBOX.")) {
      this.#inboxes ??= this.#host.observe(this.declaration("subject", this.#host.shownName(INBOXES)));
      return this.#inboxes;
    }
    const known = this.#sent.get(subject as string);
    if (known !== undefined) return known;
    const node = this.#lookUp(this.shown(String(subject)));
    if (this.#sent.size >= MAX_REMEMBERED) this.#sent.clear();
    this.#sent.set(subject as string, node);
    return node;
  }

  /** A message that was sent to `subject` came here. */
  came(subject: string, to: Destination): void {
    let link = to.routes.get(subject);
    if (link === undefined && !to.routes.has(subject)) {
      const from = this.sentTo(subject);
      if (from.key !== to.node.key && this.#isShown(subject)) link = this.#host.way(from, "route", to.node);
      if (to.routes.size >= MAX_REMEMBERED) to.routes.clear();
      to.routes.set(subject, link);
    } else if (link?.dormant) {
      link = this.#host.way(link.from, "route", link.to);
      to.routes.set(subject, link);
    }
    if (link !== undefined) link.count++;
  }

  /** A stream that took a message, as it says itself. */
  stream(name: string): Destination {
    const held = this.#held.get(`stream ${this.shown(name)}`) ?? this.#streams.get(name);
    if (held !== undefined) return held;
    const shown = this.shown(name);
    const stream = new Destination("stream", shown, this.#host.observe(this.declaration("stream", shown)));
    if (this.#streams.size >= MAX_SEEN) this.#streams.clear();
    this.#streams.set(name, stream);
    return stream;
  }

  /** Subjects that were seen have aged; there is room for others. */
  renew(): void {
    this.#seen.clear();
    this.#sent.clear();
    for (const { routes } of this.#held.values()) routes.clear();
    this.#streams.clear();
  }

  #isShown(subject: string): boolean {
    const shown = this.shown(subject);
    return this.#seen.has(shown) || this.#held.has(`subject ${shown}`);
  }

  #lookUp(shown: string): GraphNode {
    const held = this.#held.get(`subject ${shown}`);
    if (held !== undefined) return held.node;
    if (this.#seen.has(shown) || this.#seen.size < MAX_SEEN) {
      this.#seen.add(shown);
      return this.#host.observe(this.declaration("subject", shown));
    }
    for (const { wildcard, name, node } of this.#held.values()) if (wildcard && matches(name, shown)) return node;
    return this.#host.observe(this.declaration("subject", ">"));
  }
}

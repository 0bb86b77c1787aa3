import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import { SYSTEM } from "./broker.ts";
import { hasWildcard, matches } from "./filter.ts";

/** So many topics that only messages tell of are shown between two rebuilds: many applications put ids into topics. */
const MAX_SEEN = 200;
/** So many topics are remembered before they are looked up again. */
const MAX_REMEMBERED = 1_000;

/** A topic, or a filter of topics, that the application has declared. */
export class Topic {
  /** As the graph shows it. */
  readonly name: string;
  readonly node: GraphNode;
  readonly wildcard: boolean;
  /** How many reasons there are for it. */
  holders = 0;
  /** The ways here from the topics that messages were sent to; undefined for those that have none of their own. */
  readonly routes = new Map<string, GraphLink | undefined>();

  constructor(name: string, node: GraphNode) {
    this.name = name;
    this.node = node;
    this.wildcard = hasWildcard(name);
  }
}

/** The topics of one broker that the application uses. */
export class Topics {
  readonly #host: GraphHost;
  readonly #broker: string;
  readonly #held = new Map<string, Topic>();
  readonly #retained = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #sent = new Map<string, GraphNode>();

  constructor(host: GraphHost, broker: string) {
    this.#host = host;
    this.#broker = broker;
  }

  hold(name: string, properties?: Properties): Topic {
    const shown = this.#host.shownName(name);
    let topic = this.#held.get(shown);
    if (topic === undefined) {
      topic = new Topic(shown, this.#host.declare(this.#declaration(shown, properties)));
      this.#held.set(shown, topic);
      this.#sent.clear();
    } else if (properties !== undefined) this.#host.declare(this.#declaration(shown, properties));
    topic.holders++;
    return topic;
  }

  release(topic: Topic): void {
    if (--topic.holders > 0) return;
    this.#held.delete(topic.name);
    this.#sent.clear();
    this.#host.withdraw(topic.node);
  }

  /** The node of a topic that a message was sent to. */
  sentTo(topic: unknown): GraphNode {
    const known = this.#sent.get(topic as string);
    if (known !== undefined) return known;
    const node = this.#lookUp(this.#host.shownName(String(topic)));
    if (this.#sent.size >= MAX_REMEMBERED) this.#sent.clear();
    this.#sent.set(topic as string, node);
    return node;
  }

  /** The broker keeps a message for those who subscribe to `name` later: there is more to the topic than its messages. */
  retain(name: string): void {
    if (this.#retained.has(name) || this.#retained.size >= MAX_SEEN) return;
    this.#retained.add(name);
    this.hold(name, { retained: true });
  }

  /** A message that was sent to `topic` came by the filter `to`. */
  came(topic: string, to: Topic): void {
    let link = to.routes.get(topic);
    if (link === undefined && !to.routes.has(topic)) {
      const from = this.sentTo(topic);
      if (from.key !== to.node.key && this.#isShown(topic)) link = this.#host.way(from, "route", to.node);
      if (to.routes.size >= MAX_REMEMBERED) to.routes.clear();
      to.routes.set(topic, link);
    } else if (link?.dormant) {
      link = this.#host.way(link.from, "route", link.to);
      to.routes.set(topic, link);
    }
    if (link !== undefined) link.count++;
  }

  /** Topics that were seen have aged; there is room for others. */
  renew(): void {
    this.#seen.clear();
    this.#sent.clear();
    for (const { routes } of this.#held.values()) routes.clear();
  }

  #isShown(topic: string): boolean {
    const shown = this.#host.shownName(topic);
    return this.#seen.has(shown) || this.#held.has(shown);
  }

  #lookUp(shown: string): GraphNode {
    const held = this.#held.get(shown);
    if (held !== undefined) return held.node;
    if (this.#seen.has(shown) || this.#seen.size < MAX_SEEN) {
      this.#seen.add(shown);
      return this.#host.observe(this.#declaration(shown));
    }
    for (const { wildcard, name, node } of this.#held.values()) if (wildcard && matches(name, shown)) return node;
    return this.#host.observe(this.#declaration("#"));
  }

  #declaration(name: string, properties?: Properties): NodeDeclaration {
    const key = channelKey(SYSTEM, this.#broker, "topic", name);
    return { name, pattern: "publish_subscribe_channel", componentType: "mqtt:topic", properties, key };
  }
}

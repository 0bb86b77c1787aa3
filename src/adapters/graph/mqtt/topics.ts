import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import { type Destination, DestinationRegistry } from "../../kit/messaging/destinations.ts";

/** The system of these brokers in keys and counts. */
export const SYSTEM = "mqtt";

/** How many topics that only messages mention are shown between two rebuilds: many applications put ids into topics. */
const MAX_SEEN = 200;

/** A topic, or a filter of topics. */
export type Topic = Destination<"topic">;

/** The topics of one broker that the application uses. */
export class Topics extends DestinationRegistry<"topic"> {
  readonly #retained = new Set<string>();

  constructor(host: GraphHost, broker: string) {
    super(host, {
      kinds: ["topic"],
      limit: { max: MAX_SEEN, others: "#", isWildcard: hasWildcard, matches },
      declaration: (_, name, { properties }) => ({
        name,
        pattern: "publish_subscribe_channel",
        componentType: "mqtt:topic",
        properties,
        key: channelKey(SYSTEM, broker, "topic", name),
      }),
    });
  }

  /** The broker keeps a message for later subscribers to `name`, so the topic does not age. */
  retain(name: string): void {
    if (this.#retained.has(name) || this.#retained.size >= MAX_SEEN) return;
    this.#retained.add(name);
    this.hold("topic", name, "retained", { retained: true });
  }
}

/** A subscription as the library is asked for it, without the group of clients that share it. */
export function filterOf(subscription: string): { readonly filter: string; readonly group: string | undefined } {
  const [, group, filter] = /^\$share\/([^/]+)\/(.+)$/s.exec(subscription) ?? [];
  return filter === undefined ? { filter: subscription, group: undefined } : { filter, group };
}

function hasWildcard(filter: string): boolean {
  return filter === "#" || filter.endsWith("/#") || filter.split("/").includes("+");
}

/** Whether a filter matches a topic (MQTT 5, section 4.7). */
export function matches(filter: string, topic: string): boolean {
  if (filter === topic) return true;
  // The broker's own topics are matched only by filters that name them.
  if (topic.startsWith("$") && /^[+#]/.test(filter)) return false;
  const [wanted, given] = [filter.split("/"), topic.split("/")];
  // "a/#" matches "a" too.
  const levels = wanted.at(-1) === "#" ? wanted.slice(0, -1) : wanted;
  if (levels.length === wanted.length ? given.length !== levels.length : given.length < levels.length) return false;
  return levels.every((level, index) => level === "+" || level === given[index]);
}

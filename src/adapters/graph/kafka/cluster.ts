import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import { field } from "../../kit/interception/field.ts";
import type { Live } from "../../kit/interception/replaced-method.ts";
import { type Destination, DestinationRegistry } from "../../kit/messaging/destinations.ts";
import { HandlerRegistry, type Input } from "../../kit/messaging/handlers.ts";

/** The system of topics in keys and counts. */
export const SYSTEM = "kafka";

/** A consumer group that reads a topic. */
export interface Consumption {
  readonly groupId: string;
  /** As the graph shows it. */
  readonly topic: string;
}

/** Names the handler of a group and a topic. */
export type HandlerNaming = ((consumption: Consumption) => string | undefined) | undefined;

type Topic = Destination<"topic">;

/** What a consumer group does with a topic: a node, and the link that its messages come by. */
export type Reading = Input<Topic>;

let unnamed = 0;

/** One cluster: its topics, and the consumer groups of the application. */
export class Cluster {
  readonly topics: DestinationRegistry<"topic">;
  /** A handler's users are tokens of its consumers: the clients themselves may be collected. */
  readonly groups: HandlerRegistry<Topic>;
  readonly #host: GraphHost;
  readonly #naming: HandlerNaming;
  readonly #address: string;
  readonly #live: Live;
  readonly #admin: (() => unknown) | undefined;
  #known: boolean;
  #asking = false;

  /** @param admin makes a client that can ask the cluster for its id; kafkajs does not tell the addresses of a client */
  constructor(
    host: GraphHost,
    options: { readonly clusterId?: string | undefined; readonly name?: HandlerNaming },
    live: Live,
    admin?: () => unknown,
  ) {
    const address = options.clusterId ?? `unnamed-${++unnamed}`;
    this.#host = host;
    this.#naming = options.name;
    this.#address = address;
    this.#live = live;
    this.#admin = admin;
    this.#known = options.clusterId !== undefined;
    this.groups = new HandlerRegistry(host);
    this.topics = new DestinationRegistry(host, {
      kinds: ["topic"],
      declaration: (_, name) => ({
        name,
        pattern: "publish_subscribe_channel",
        componentType: "kafka:topic",
        key: channelKey(SYSTEM, host.broker(SYSTEM, address), "topic", name),
      }),
    });
  }

  /** `reader`, a member of the group, subscribes to a topic. */
  read(groupId: string, topicName: string, reader: object): Reading {
    const topic = this.topics.hold("topic", topicName, reader);
    const name = this.#naming?.({ groupId, topic: topic.name }) ?? `${groupId}@${topic.name}`;
    const description = { name, componentType: "kafka:consumer", properties: { group: groupId } };
    const reading = this.groups.add(description, topic, reader);
    topic.release(reader);
    return reading;
  }

  /** The cluster reports its id. */
  identify(clusterId: unknown): void {
    if (!this.#live.live || this.#known || typeof clusterId !== "string" || clusterId === "") return;
    this.#known = true;
    this.#host.nameBroker(SYSTEM, this.#address, clusterId);
  }

  /** Asks the cluster for its id. A client has connected, so it can be reached. */
  async ask(): Promise<void> {
    if (this.#known || this.#asking || this.#admin === undefined || !this.#live.live) return;
    this.#asking = true;
    const admin = this.#admin();
    try {
      await call(admin, "connect");
      this.identify(field(await call(admin, "describeCluster"), "clusterId"));
    } catch {
      // The next client that connects asks again.
    } finally {
      this.#asking = false;
      await call(admin, "disconnect").catch(() => {});
    }
  }
}

async function call(object: unknown, name: string): Promise<unknown> {
  return (field(object, name) as () => unknown).call(object);
}

import type { GraphHost } from "../../../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../../../integration-graph/declaration.ts";
import type { GraphNode } from "../../../../integration-graph/node.ts";
import { channelKey } from "../../../../integration-graph/node-id.ts";

/** The system that topics are of, as keys and counts name it. */
export const SYSTEM = "kafka";

/** So many topics are known at once; names may be made up without end. */
const MAX_KNOWN = 1_000;

/** The topics of one cluster. */
export class Topics {
  readonly #host: GraphHost;
  readonly #address: string;
  readonly #sentTo = new Map<string, GraphNode>();

  /** `address` is what the cluster goes by until its id is known. */
  constructor(host: GraphHost, address: string) {
    this.#host = host;
    this.#address = address;
  }

  /** A topic that the application subscribes to. */
  declare(name: string): GraphNode {
    return this.#host.declare(this.#declaration(name));
  }

  /** A topic that messages are sent to. */
  sentTo(name: string): GraphNode {
    let node = this.#sentTo.get(name);
    if (node === undefined) {
      node = this.#host.observe(this.#declaration(name));
      if (this.#sentTo.size >= MAX_KNOWN) this.#sentTo.clear();
      this.#sentTo.set(name, node);
    }
    return node;
  }

  /** The cluster calls itself `clusterId`. */
  identify(clusterId: string): void {
    this.#host.nameBroker(SYSTEM, this.#address, clusterId);
  }

  #declaration(topic: string): NodeDeclaration {
    const name = this.#host.shownName(topic);
    const key = channelKey(SYSTEM, this.#host.broker(SYSTEM, this.#address), "topic", name);
    return { name, pattern: "publish_subscribe_channel", componentType: "kafka:topic", key };
  }
}

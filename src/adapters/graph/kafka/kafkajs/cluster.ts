import type { GraphHost } from "../../../../integration-graph/adapter.ts";
import { field } from "../../../kit/interception/field.ts";
import { Groups } from "./groups.ts";
import type { KafkajsOptions } from "./options.ts";
import type { Watching } from "./replaced-method.ts";
import type { KafkajsKafka } from "./target.ts";
import { Topics } from "./topics.ts";

let unnamed = 0;

/** What one cluster is to the graph, and how it is called. */
export class Cluster {
  readonly topics: Topics;
  readonly groups: Groups;
  readonly #watching: Watching;
  readonly #admin: (() => unknown) | undefined;
  #known: boolean;
  #asking = false;

  /** kafkajs does not tell the addresses of `kafka`, and clients that were given alone cannot be asked. */
  constructor(host: GraphHost, options: KafkajsOptions, watching: Watching, kafka?: KafkajsKafka) {
    this.topics = new Topics(host, options.clusterId ?? `unnamed-${++unnamed}`);
    this.groups = new Groups(host, this.topics, options.name);
    this.#watching = watching;
    this.#known = options.clusterId !== undefined;
    // The library's own method, not the one that is put in its place.
    const { admin } = kafka ?? {};
    if (admin !== undefined) this.#admin = () => Reflect.apply(admin, kafka, [{ retry: { retries: 0 } }]);
  }

  /** The cluster said what it is called. */
  identify(clusterId: unknown): void {
    if (!this.#watching.live || this.#known || typeof clusterId !== "string" || clusterId === "") return;
    this.#known = true;
    this.topics.identify(clusterId);
  }

  /** A client has connected, so the cluster is in reach. */
  async ask(): Promise<void> {
    if (this.#known || this.#asking || this.#admin === undefined || !this.#watching.live) return;
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

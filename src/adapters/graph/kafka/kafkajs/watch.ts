import type { GraphHost } from "../../../../integration-graph/adapter.ts";
import { field } from "../../../kit/interception/field.ts";
import type { Method } from "../../../kit/interception/replaced-method.ts";
import { Cluster } from "./cluster.ts";
import { watchConsumer } from "./consuming.ts";
import type { KafkajsOptions } from "./options.ts";
import { watchProducer } from "./producing.ts";
import { replaceListed, type Watching } from "./replaced-method.ts";
import {
  isConsumer,
  isKafka,
  isProducer,
  type KafkajsConsumer,
  type KafkajsKafka,
  type KafkajsProducer,
  type KafkajsTarget,
} from "./target.ts";

/** What any adapter watches: a message must not count twice. */
const watched = new WeakSet<object>();

/** The clients of kafkajs that one adapter watches for one graph. */
export class Watch {
  readonly #host: GraphHost;
  readonly #options: KafkajsOptions;
  readonly #watching: Watching = { live: true };
  readonly #clusters: Cluster[] = [];
  readonly #undo = new WeakMap<object, readonly (() => void)[]>();
  /** Weak: an application may make a client for each of its tasks. */
  readonly #objects = new Set<WeakRef<object>>();
  readonly #gone = new FinalizationRegistry<WeakRef<object>>((ref) => this.#objects.delete(ref));
  #alone: Cluster | undefined;

  constructor(host: GraphHost, options: KafkajsOptions) {
    this.#host = host;
    this.#options = options;
    const prune = () => {
      for (const { groups } of this.#clusters) groups.prune();
      return { nodes: [], links: [] };
    };
    host.read({ name: "kafkajs", read: prune });
  }

  /** Throws a TypeError where it is watched already. */
  add(target: KafkajsTarget): void {
    if (watched.has(target)) throw new TypeError("this object is watched by an adapter of kafkajs already");
    if (isKafka(target)) this.#addKafka(target);
    else {
      this.#alone ??= this.#clusters[0] ?? this.#cluster();
      this.#addClient(target, this.#alone);
    }
  }

  end(): void {
    this.#watching.live = false;
    for (const ref of this.#objects) {
      const object = ref.deref();
      if (object === undefined) continue;
      for (const undo of this.#undo.get(object) ?? []) undo();
      watched.delete(object);
    }
    this.#objects.clear();
  }

  #addKafka(kafka: KafkajsKafka): void {
    const cluster = this.#cluster(kafka);
    const making = (method: Method): Method =>
      function (this: unknown, ...args) {
        const client = Reflect.apply(method, this, args);
        made(client, args[0]);
        return client;
      };
    const made = (client: unknown, config: unknown) => {
      if (!this.#watching.live) return;
      if (isProducer(client) || isConsumer(client)) this.#addClient(client, cluster, field(config, "groupId"));
      else if (typeof field(client, "describeCluster") === "function") this.#addAdmin(client as object, cluster);
    };
    const names = ["producer", "consumer", "admin"];
    this.#keep(
      kafka,
      names.map((name) => replaceListed(kafka, name, making)),
    );
  }

  #addClient(client: KafkajsProducer | KafkajsConsumer, cluster: Cluster, groupId?: unknown): void {
    if (watched.has(client)) return;
    const known = typeof groupId === "string" ? groupId : undefined;
    const producing = isProducer(client);
    const role = producing ? "producer" : "consumer";
    const ask = () => void cluster.ask();
    const heard = [client.on(`${role}.connect`, ask)];
    // One that was given may be connected already.
    if (groupId === undefined) heard.push(client.on(`${role}.network.request`, ask));
    const undo = producing
      ? watchProducer(client, this.#host, cluster.topics, this.#watching)
      : watchConsumer(client, known, this.#host, cluster.groups, this.#watching);
    this.#keep(client, [...heard.filter((stop) => typeof stop === "function"), ...undo]);
  }

  /** An application that describes its cluster itself saves the adapter a connection. */
  #addAdmin(admin: object, cluster: Cluster): void {
    const describing = (method: Method): Method =>
      function (this: unknown, ...args) {
        const result = Reflect.apply(method, this, args);
        if (!(result instanceof Promise)) return result;
        return result.then((description) => {
          cluster.identify(field(description, "clusterId"));
          return description;
        });
      };
    this.#keep(admin, [replaceListed(admin, "describeCluster", describing)]);
  }

  #cluster(kafka?: KafkajsKafka): Cluster {
    const cluster = new Cluster(this.#host, this.#options, this.#watching, kafka);
    this.#clusters.push(cluster);
    return cluster;
  }

  #keep(object: object, undo: readonly (() => void)[]): void {
    watched.add(object);
    this.#undo.set(object, undo);
    const ref = new WeakRef(object);
    this.#objects.add(ref);
    this.#gone.register(object, ref);
  }
}

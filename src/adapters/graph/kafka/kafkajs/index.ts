import { callable, checkOptions, text } from "../../../../common/options.ts";
import type { GraphHost } from "../../../../integration-graph/adapter.ts";
import { field, hasMethods } from "../../../kit/interception/field.ts";
import { whenSettled } from "../../../kit/interception/plain-promise.ts";
import {
  type Live,
  type Method,
  placeMethod,
  replaceMethod,
  undoing,
} from "../../../kit/interception/replaced-method.ts";
import { requireVersion } from "../../../kit/library-version.ts";
import {
  type Unwatch,
  WatchedObjects,
  type Watcher,
  type WatchingAdapter,
  type WatchSet,
  watchingAdapter,
} from "../../../kit/messaging/watching-adapter.ts";
import { Cluster, type HandlerNaming } from "../cluster.ts";
import { watchConsumer, watchProducer } from "./clients.ts";
import {
  isConsumer,
  isKafka,
  isProducer,
  type KafkajsConsumer,
  type KafkajsKafka,
  type KafkajsProducer,
  type KafkajsTarget,
} from "./target.ts";

export type { Consumption } from "../cluster.ts";
export type { KafkajsConsumer, KafkajsKafka, KafkajsProducer, KafkajsTarget } from "./target.ts";

/** Options of {@link kafkajsSource}. */
export interface KafkajsOptions {
  /**
   * The id of the cluster, if the application knows it. By default, it is read from what the library learns of the cluster; for
   * clients that were made before, over a short connection of its own, when the first of them has sent a request.
   */
  readonly clusterId?: string | undefined;
  /**
   * Names the handler of a group and a topic in the graph. By default, and if this returns undefined, `<group>@<topic>`.
   * Handlers of one name are one node.
   */
  readonly name?: HandlerNaming;
}

/** Weak: an application may make a client for each of its tasks, and clients have no end. */
const watched = new WatchedObjects("object of kafkajs", { weak: true });

/** Feeds the graph with what passes through clients of kafkajs. */
export type KafkajsAdapter = WatchingAdapter<KafkajsTarget>;

/**
 * Shows the topics, consumer groups and producers of an application that uses kafkajs.
 *
 * - Producers, consumers and admins that a Kafka object makes from now on are watched too; those it made before have to
 *   be given themselves. Methods are replaced on the objects, not on prototypes.
 * - A group and a topic that it reads are one node, `<group>@<topic>`, as soon as the subscription stands and before any message;
 *   what a regular expression matches is known when the group is joined. The group of a consumer that is given alone is known
 *   then, too. What the application stops or disconnects goes at the next rebuild; a consumer that crashes, or is paused, stays.
 * - Each call of `eachMessage` counts, so a message that is retried counts again. A call of `eachBatch` counts the messages
 *   of its batch, all as failed if it throws or rejects.
 * - Messages are sent when the library says so, and failed when it gives up; each message of a batch counts. Those of a
 *   transaction count when the broker has them, whether it commits or not.
 * - The cluster's id is its identity. Until it is known, the topics of each Kafka object are apart. Clients that are given
 *   beside Kafka objects are taken to be on the cluster of the first; alone they have no id unless `clusterId` is given.
 *
 * @example
 * ```ts
 * const kafka = new Kafka({ brokers: ["localhost:9092"] });
 * flow.attach(kafkajsSource(kafka)); // before the application makes its clients
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if a target is not an object of kafkajs, or an option is invalid.
 */
export function kafkajsSource(
  targets: KafkajsTarget | readonly KafkajsTarget[] = [],
  options: KafkajsOptions = {},
): KafkajsAdapter {
  checkOptions("kafkajsSource", options, { clusterId: text, name: callable });
  const given = Array.isArray(targets) ? (targets as readonly KafkajsTarget[]) : [targets as KafkajsTarget];
  return watchingAdapter<KafkajsTarget>({
    name: "kafkajs",
    source: "kafkajsSource",
    expected: "a Kafka object, producer or consumer of kafkajs",
    checkVersion: () => requireVersion({ subpath: "kafkajs", library: "kafkajs", versions: "2" }),
    accepts: (target) => isKafka(target) || isProducer(target) || isConsumer(target),
    // Clients that are given beside a Kafka object are on its cluster, in whatever order.
    targets: given.toSorted((a, b) => Number(isKafka(b)) - Number(isKafka(a))),
    watched,
    begin: (host, objects) => watchTargets(host, objects, options),
  });
}

interface KnownCluster {
  readonly ref: WeakRef<Cluster>;
  readonly groups: Cluster["groups"];
}

function watchTargets(
  host: GraphHost,
  objects: WatchSet<KafkajsTarget>,
  options: KafkajsOptions,
): Watcher<KafkajsTarget> {
  const live: Live = { live: true };
  /** Weak, as an application may make a Kafka object for each of its tasks. What is to leave the graph is kept until it does. */
  const clusters = new Set<KnownCluster>();
  const collected = new FinalizationRegistry<() => void>((removeIfEmpty) => removeIfEmpty());
  let alone: Cluster | undefined;
  /** What was found without the application's doing is only looked at. */
  const ask = (cluster: Cluster) => {
    if (!host.yields) void cluster.ask();
  };

  function newCluster(admin?: () => unknown): Cluster {
    const cluster = new Cluster(host, options, live, admin);
    const entry = { ref: new WeakRef(cluster), groups: cluster.groups };
    clusters.add(entry);
    collected.register(cluster, () => removeIfEmpty(entry));
    return cluster;
  }

  function removeIfEmpty(entry: KnownCluster): void {
    if (entry.ref.deref() === undefined && [...entry.groups].length === 0) clusters.delete(entry);
  }

  function watchKafka(kafka: KafkajsKafka): Unwatch {
    // The library's own method, not the one that replaces it.
    const { admin } = kafka;
    const cluster = newCluster(() => Reflect.apply(admin, kafka, [{ retry: { retries: 0 } }]));
    const making = (method: Method): Method =>
      function (this: unknown, ...args) {
        const learning: { cluster?: unknown } = {};
        const client = clusterMade(kafka, learning, () => Reflect.apply(method, this, args));
        if (live.live) made(client, args[0], learning);
        return client;
      };
    const made = (client: unknown, config: unknown, learning: { readonly cluster?: unknown }) => {
      if (hasMethods(client, "on") && objects.isTaken(client)) return;
      if (isProducer(client) || isConsumer(client)) {
        const known = () =>
          cluster.identify(field(field(field(learning.cluster, "brokerPool"), "metadata"), "clusterId"));
        const learn = learning.cluster === undefined ? () => ask(cluster) : known;
        objects.keep(client, watchClient(client, cluster, learn, field(config, "groupId")));
      } else if (hasMethods(client, "describeCluster")) {
        objects.keep(client as KafkajsTarget, watchAdmin(client, cluster));
      }
    };
    return undoing(["producer", "consumer", "admin"].map((name) => replaceMethod(kafka, name, making)));
  }

  function watchClient(
    client: KafkajsProducer | KafkajsConsumer,
    cluster: Cluster,
    learn: () => void,
    groupId?: unknown,
  ): Unwatch {
    const known = typeof groupId === "string" ? groupId : undefined;
    const producing = isProducer(client);
    const role = producing ? "producer" : "consumer";
    const stop: unknown = client.on(`${role}.network.request`, learn);
    return undoing([
      ...(typeof stop === "function" ? [stop as Unwatch] : []),
      ...(producing
        ? watchProducer(client, host, cluster.topics, live)
        : watchConsumer(client, known, host, cluster, live)),
    ]);
  }

  function watchAdmin(admin: object, cluster: Cluster): Unwatch {
    const describing = (method: Method): Method =>
      function (this: unknown, ...args) {
        return whenSettled(Reflect.apply(method, this, args), (description) =>
          cluster.identify(field(description, "clusterId")),
        );
      };
    return replaceMethod(admin, "describeCluster", describing);
  }

  return {
    watch(target) {
      if (isKafka(target)) return watchKafka(target);
      alone ??= [...clusters].map(({ ref }) => ref.deref()).find((each) => each !== undefined) ?? newCluster();
      const cluster = alone;
      return watchClient(target, cluster, () => ask(cluster));
    },
    prune() {
      for (const entry of clusters) {
        entry.groups.prune();
        removeIfEmpty(entry);
      }
    },
    end() {
      live.live = false;
    },
  };
}

/** Calls `make`, which makes a client of a Kafka object, and notes the object that holds what the client knows of its cluster. */
function clusterMade(kafka: KafkajsKafka, noted: { cluster?: unknown }, make: () => unknown): unknown {
  const key = Object.getOwnPropertySymbols(kafka).find((each) => each.description === "private:Kafka:createCluster");
  if (key === undefined) return make();
  const note = (method: Method): Method =>
    function (this: unknown, ...args) {
      noted.cluster = Reflect.apply(method, this, args);
      return noted.cluster;
    };
  const restore = placeMethod(kafka, key, note);
  try {
    return make();
  } finally {
    restore();
  }
}

import { callable, checkOptions, text } from "../../../../common/options.ts";
import type { Detach, GraphAdapter, GraphHost } from "../../../../integration-graph/adapter.ts";
import { watchAll } from "../../../../integration-graph/watching-adapter.ts";
import { requireVersion } from "../../../kit/library-version.ts";
import type { KafkajsOptions } from "./options.ts";
import { isConsumer, isKafka, isProducer, type KafkajsTarget } from "./target.ts";
import { Watch } from "./watch.ts";

/**
 * The topics, consumer groups and producers of an application that uses kafkajs: `flow.attach(kafkajs(kafka))`.
 *
 * - Producers, consumers and admins that a Kafka object makes from now on are watched too; those it made before are not known
 *   to it, and are given themselves. Methods are replaced on the objects, not on prototypes.
 * - A group and a topic that it reads are one node, `<group>@<topic>`, as soon as the subscription stands and before any message;
 *   what a regular expression stands for is known when the group is joined. A consumer that is given alone tells its group then
 *   too. What the application stops or disconnects goes at the next rebuild; a consumer that crashes, or is paused, stays.
 * - Each call of `eachMessage` counts, so a message that is tried again is another one. A call of `eachBatch` counts the messages
 *   of its batch, all as failed where it throws or rejects.
 * - Messages are sent when the library says so, and failed when it gives up; each message of a batch counts. Those of a
 *   transaction count when the broker has them, whether it commits or not.
 * - The cluster's id is its identity. Until it is known, the topics of each Kafka object are apart. Clients that are given
 *   beside Kafka objects are taken to be on the cluster of the first; alone they have no id unless `clusterId` is given.
 *
 * Throws a TypeError where a target is not an object of kafkajs, or an option is unfit.
 */
export function kafkajs(targets: KafkajsTarget | readonly KafkajsTarget[], options: KafkajsOptions = {}): GraphAdapter {
  requireVersion({ subpath: "kafkajs", library: "kafkajs", versions: "2" });
  checkOptions("kafkajs()", options, { clusterId: text, name: callable });
  const given: readonly KafkajsTarget[] = Array.isArray(targets) ? targets : [targets];
  if (!given.every((target) => isKafka(target) || isProducer(target) || isConsumer(target))) {
    throw new TypeError("kafkajs() watches Kafka objects, producers and consumers of kafkajs, and got something else");
  }
  return {
    name: "kafkajs",
    attach(host: GraphHost): Detach {
      // Clients that are given beside a Kafka object are on its cluster, in whatever order.
      const inOrder = given.toSorted((a, b) => Number(isKafka(b)) - Number(isKafka(a)));
      const watch = watchAll(new Watch(host, options), inOrder);
      return () => watch.end();
    },
  };
}

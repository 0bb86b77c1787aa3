import type { KafkajsTarget, kafkajsSource } from "../../adapters/graph/kafka/kafkajs/index.ts";
import { GraphObjects } from "../graph-objects.ts";
import type { Library } from "../library.ts";
import { part } from "../parts.ts";
import { onAssigned } from "../sighting.ts";

type Kafka = new (options: object) => object;

const objects = new GraphObjects<KafkajsTarget>(() =>
  part<{ kafkajsSource: typeof kafkajsSource }>("adapters/graph/kafka/kafkajs/index").kafkajsSource(),
);

/**
 * A Kafka object is seen when its constructor assigns the function that makes its clients' clusters: before it makes the first client.
 * Clients that exist already have no method of a prototype: only those that are made from now on are seen.
 */
export const kafkajs: Library = {
  watch(exports, findings) {
    if (typeof exports !== "function") return () => {};
    // Connects to nothing. Only an object tells the symbol.
    const blank = new (exports as Kafka)({ brokers: [], logCreator: () => () => {} });
    const key = Object.getOwnPropertySymbols(blank).find((each) => each.description === "private:Kafka:createCluster");
    if (key === undefined) return () => {};
    return onAssigned(
      exports.prototype,
      key,
      findings,
      (kafka) => void objects.watch(kafka as KafkajsTarget, findings),
    );
  },
  inHeap: {
    classes: { Kafka: ["producer", "consumer", "admin", "logger"] },
    exports: (prototype) => prototype.constructor,
  },
  recognize: (kafka, findings) => objects.watch(kafka as KafkajsTarget, findings),
};

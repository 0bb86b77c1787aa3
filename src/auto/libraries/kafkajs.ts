import type { KafkajsTarget, kafkajsSource } from "../../adapters/graph/kafka/kafkajs/index.ts";
import { GraphObjects } from "../graph-objects.ts";
import type { Library } from "../library.ts";
import { part } from "../parts.ts";
import { onAssigned, onSight } from "../sighting.ts";

interface Kafka {
  new (options: object): object;
  readonly prototype: object;
}

const MAKING = ["producer", "consumer", "admin"];

/** What makes the clusters of its clients, under a symbol. */
const CREATE_CLUSTER = "private:Kafka:createCluster";

const objects = new GraphObjects<KafkajsTarget>(() =>
  part<{ kafkajsSource: typeof kafkajsSource }>("adapters/graph/kafka/kafkajs/index").kafkajsSource(),
);

/**
 * A Kafka object is seen when its constructor assigns the function that makes its clients' clusters: before it makes the first client.
 * One that existed before is seen when it makes a client. The methods of clients are their own: those that exist already are not seen.
 */
export const kafkajs: Library = {
  watch(exports, findings) {
    if (typeof exports !== "function") return () => {};
    // Connects to nothing. Only an object tells the symbol.
    const blank = new (exports as Kafka)({ brokers: [], logCreator: () => () => {} });
    const key = Object.getOwnPropertySymbols(blank).find((each) => each.description === CREATE_CLUSTER);
    if (key === undefined) return () => {};
    const see = (kafka: object) => void objects.watch(kafka as KafkajsTarget, findings);
    return onAssigned(exports.prototype, key, findings, see);
  },
  meet(exports, findings) {
    const see = (kafka: object) => void objects.watch(kafka as KafkajsTarget, findings);
    return onSight((exports as Kafka).prototype, MAKING, findings, see, { again: true });
  },
  inHeap: {
    classes: { Kafka: ["producer", "consumer", "admin", "logger"] },
    exports: (prototype) => prototype.constructor,
  },
  recognize: (kafka, findings) => objects.watch(kafka as KafkajsTarget, findings),
};

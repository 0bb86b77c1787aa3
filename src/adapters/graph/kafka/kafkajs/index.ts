export { kafkajs } from "./adapter.ts";
export type { Consumption, KafkajsOptions } from "./options.ts";
export type { KafkajsConsumer, KafkajsKafka, KafkajsProducer, KafkajsTarget } from "./target.ts";

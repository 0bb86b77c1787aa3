export { type PlatformaticKafkaOptions, platformaticKafka } from "./adapter.ts";

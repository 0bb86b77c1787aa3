export { type NatsAdapter, nats } from "./adapter.ts";
export type { NatsConsumption, NatsOptions } from "./options.ts";
export type { NatsConnection, NatsJetStream, NatsTarget } from "./target.ts";

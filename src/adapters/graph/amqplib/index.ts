export { type AmqplibAdapter, amqplib } from "./adapter.ts";
export type { AmqplibOptions, Consumption } from "./options.ts";
export type { AmqpChannel, AmqpConnection, AmqpTarget } from "./target.ts";

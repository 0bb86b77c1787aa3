export { type RedisMessagingAdapter, redisMessaging } from "./adapter.ts";
export type { RedisMessagingOptions, StreamSource, SubscriberDescription } from "./options.ts";
export type { RedisMessagingClient } from "./target.ts";

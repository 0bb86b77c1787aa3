export type { RedisCommands } from "./client.ts";
export { type RedisCommandsOptions, redisCommands } from "./commands.ts";
export type {
  CommandClient,
  IoRedisClient,
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisSentinel,
  RedisClient,
} from "./sender.ts";

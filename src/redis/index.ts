export type { RedisCommands } from "./client.ts";
export { type RedisCommandsOptions, redisCommands } from "./commands.ts";
export type { CommandClient, IoRedisClient, NodeRedisClient, NodeRedisCluster, RedisClient } from "./sender.ts";

export { type SpringSessionJdbc, type SpringSessionJdbcOptions, springSessionJdbc } from "./jdbc.ts";
export { type SpringSessionRedis, type SpringSessionRedisOptions, springSessionRedis } from "./redis.ts";

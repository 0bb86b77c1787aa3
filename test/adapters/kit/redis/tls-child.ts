/** Sends PING to the URL in its arguments, by whatever authorities its environment names, and prints what came of it. */
import { redisCommands } from "../../../../src/adapters/kit/redis/index.ts";

const redis = redisCommands(process.argv[2]!);
console.log(await redis.command(["PING"]).catch((error: Error) => error.message));
await redis.close();

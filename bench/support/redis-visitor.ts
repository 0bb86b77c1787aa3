/** `node bench/support/redis-visitor.ts <url> <key>`: a process that gets a key every 2 ms, and says on demand how long that took. */
import { createClient } from "redis";
import { type Latency, quantile } from "./latency.ts";

const [url, key] = process.argv.slice(2);
const client = createClient({ url: url! });
await client.connect();
const times: number[] = [];

async function visit(): Promise<void> {
  const began = performance.now();
  await client.get(key!);
  times.push((performance.now() - began) * 1000);
  setTimeout(visit, 2);
}

process.on("message", () => {
  times.sort((a, b) => a - b);
  process.send!({ p50: quantile(times, 0.5), p99: quantile(times, 0.99) } satisfies Latency);
});
process.on("disconnect", () => process.exit());
process.send!("ready");
await visit();

/**
 * An instance of a fleet with real pino loggers. `node instance-child.ts <id> <Redis URL>` sends its parent the native levels whenever
 * one has changed, and the address of its actuator first.
 */
import pino from "pino";
import { redisFleet } from "../../src/adapters/fleet/redis/index.ts";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { createActuator } from "../../src/index.ts";

const [, , instance, url] = process.argv;
const root = pino({ level: "info" }, { write: () => {} });
const adapter = pinoLoggers(root);
const names = ["orders", "stock", "users"];
const native = names.map((name) => root.child({ name }));
const actuator = createActuator({
  name: "shop",
  audit: false,
  fleet: { engine: redisFleet(url!), labels: { zone: Number(instance!.slice(1)) % 2 === 0 ? "even" : "odd" } },
  loggers: { instance: instance!, logLevelChanges: false, adapters: [adapter] },
});
const { url: address } = await actuator.listen({ port: 0 });
process.send!({ address });

let sent = "";
const tell = () => {
  const levels = native.map(({ level }) => level).join(" ");
  if (levels !== sent) process.send!({ levels });
  sent = levels;
};
tell();
actuator.loggers!.onRevision(() => queueMicrotask(tell));
process.on("disconnect", () => process.exit());

import { createInterface } from "node:readline";
import { pino } from "pino";
import { pinoLoggers } from "../../../src/adapters/loggers/pino/index.ts";
import { createActuator } from "../../../src/index.ts";

// An instance in a process of its own: `node shop-process.ts <address of Spring Boot Admin> <name>`. It answers each line on
// its input with the level that its logger `shop.web` really has, and ends on SIGTERM.
const [url, name] = process.argv.slice(2) as [string, string];
const logger = pino({ level: "info" }, { write: () => {} });
const actuator = createActuator({
  name,
  version: "1.2.3",
  loggers: { adapters: [pinoLoggers(logger)], groups: { money: ["shop.orders"] } },
  admin: { url, timeoutMs: 15_000, deregisterTimeoutMs: 15_000 },
});
const web = logger.child({ logger: "shop.web" });
const address = await actuator.listen({ port: 0 });
actuator.drainOnSignals();
const input = createInterface(process.stdin).on("line", () => console.log(`level ${web.level}`));
process.once("SIGTERM", () => input.close());
console.log(`listening on ${address.url}`);

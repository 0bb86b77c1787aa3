/**
 * `node bench/servers/logs.ts`: an actuator over a pino logger whose records can be watched. Each message is a number of records to
 * write, or asks what everything since the last one cost.
 */
import { pino } from "pino";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { createActuator } from "../../src/index.ts";
import { watchCost, watchStalls } from "../support/watch-cost.ts";

/** Records to write. */
export interface Flood {
  readonly perSecond: number;
  readonly seconds: number;
}

const TICK_MS = 10;

const root = pino({ level: "info" }, { write: () => {} });
const adapter = pinoLoggers(root);
const logger = root.child({ name: "orders.payment" });
const actuator = createActuator({
  loggers: { adapters: [adapter], logLevelChanges: false },
  access: { anonymous: ["*", "logs:read"] },
  audit: false,
});
const { port } = await actuator.listen({ port: 0 });

async function flood({ perSecond, seconds }: Flood): Promise<void> {
  const from = performance.now();
  for (let written = 0; written < perSecond * seconds; ) {
    const due = Math.min(perSecond * seconds, ((performance.now() - from) / 1_000) * perSecond);
    for (; written < due; written++) {
      const order = { id: 4_711_000_000 + written, customer: "c-81723", items: 3, total: 129.9 };
      logger.info({ order, attempt: 1, token: "secret" }, "the card of an order was charged");
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
}

watchStalls();
process.on("message", async (asked: Flood | "cost") => {
  if (asked !== "cost") await flood(asked);
  process.send!(asked === "cost" ? watchCost() : { at: Date.now() });
});
process.on("disconnect", () => process.exit());
process.send!({ port });

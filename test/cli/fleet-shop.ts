import { type Logger, pino } from "pino";
import { onTestFinished } from "vitest";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { type Actuator, type ActuatorOptions, createActuator } from "../../src/index.ts";
import { TestServer } from "../fleet/support.ts";

/** A fleet whose instances are all in this process. */
export interface FleetShop {
  /** The address of the first instance. */
  readonly url: string;
  readonly server: TestServer;
  readonly instances: Readonly<Record<string, Actuator>>;
  /** The logger `orders` of each instance, as pino has it. */
  readonly orders: Readonly<Record<string, Logger>>;
  /** Adds an instance that has reported once, and says nothing more. */
  silent(id: string, more?: { readonly address: string; readonly host: string }): void;
}

// Loggers are held weakly: those of a fleet are there as long as its test.
const kept = new Set<object>();

type Labels = Readonly<Record<string, string>>;

/** Serves the instances until the test ends, each with a logger `orders`. */
export async function openFleet(
  labels: Readonly<Record<string, Labels>> = { one: { zone: "eu" }, two: { zone: "us" } },
  options: Pick<ActuatorOptions, "access"> = { access: { anonymous: ["*", "logs:read"] } },
): Promise<FleetShop> {
  const server = new TestServer();
  const orders: Record<string, Logger> = {};
  const instances: Record<string, Actuator> = {};
  kept.add(orders);
  onTestFinished(() => void kept.delete(orders));
  let url = "";
  for (const [instance, each] of Object.entries(labels)) {
    const root = pino({ level: "info" }, { write: () => undefined });
    const adapter = pinoLoggers(root);
    orders[instance] = root.child({ name: "orders" });
    const actuator = createActuator({
      ...options,
      ...{ name: "shop", version: "1.2", audit: false, onError: () => undefined },
      fleet: { engine: server.source(), labels: each },
      loggers: { instance, logLevelChanges: false, adapters: [adapter] },
    });
    onTestFinished(() => actuator.close({ deadlineMs: 0 }));
    instances[instance] = actuator;
    const { url: own } = await actuator.listen({ port: 0 });
    url ||= own;
  }
  return {
    ...{ url, server, instances, orders },
    silent(id, more) {
      const report = { application: "shop", version: "1.2", labels: {}, startTime: Date.now(), generation: 0, ...more };
      const text = JSON.stringify({ ...report, failed: {}, overruled: {}, unknown: {} });
      server.register.exchange("", { id, text });
    },
  };
}

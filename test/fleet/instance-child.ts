/**
 * An instance of a fleet with real pino loggers. `node instance-child.ts <id> <URL of the engine> [names of loggers]` sends its parent the
 * native levels whenever one has changed, and the address of its actuator first.
 */
import pino from "pino";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { fleetEngineAt } from "../../src/configuration/fleet-engine.ts";
import { createActuator } from "../../src/index.ts";

const [, , instance, url, listed = "orders,stock,users"] = process.argv;
const kind = new URL(url!).protocol.slice(0, -1);
const root = pino({ level: "info" }, { write: () => {} });
const adapter = pinoLoggers(root);
const names = listed.split(",");
const native = names.map((name) => root.child({ name }));
const actuator = createActuator({
  name: "shop",
  audit: false,
  access: "loopback",
  fleet: {
    engine: fleetEngineAt({ [kind]: url }),
    labels: { zone: Number(instance!.slice(1)) % 2 === 0 ? "even" : "odd" },
  },
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

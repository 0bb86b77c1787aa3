/**
 * An application with pino's loggers under an actuator. `node instance-child.ts <port> <options as JSON>` tells its parent the
 * address; each message is a level that the application sets itself, or nothing, and is answered with all native levels.
 */
import pino from "pino";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { type ActuatorOptions, createActuator, type ListenOptions } from "../../src/index.ts";

const [port, json] = [Number(process.argv[2]), process.argv[3] ?? "{}"];
const { levels = {}, loggers = {}, listen = {}, ...options } = JSON.parse(json) as InstanceOptions;
/** How the application is to start. */
export interface InstanceOptions extends Omit<ActuatorOptions, "loggers"> {
  readonly levels?: Readonly<Record<string, string>>;
  readonly loggers?: ActuatorOptions["loggers"];
  readonly listen?: ListenOptions;
}

const root = pino({ enabled: true, level: levels.ROOT ?? "info" }, { write: () => {} });
const adapter = pinoLoggers(root);
const names = ["orders", "orders.payment", "stock", ...Object.keys(levels).filter((name) => name !== "ROOT")];
const native = Object.fromEntries(
  [...new Set(names)].map((name) => {
    const level = levels[name];
    return [name, root.child({ name }, level === undefined ? {} : { level })];
  }),
);
const actuator = createActuator({
  audit: false,
  ...options,
  loggers: { ...loggers, logLevelChanges: false, adapters: [adapter] },
});
const { url } = await actuator.listen({ ...listen, port });

process.on("message", ({ name, level }: { name?: string; level?: string }) => {
  if (name !== undefined && name !== "ROOT") native[name] ??= root.child({ name });
  if (level !== undefined) (name === "ROOT" ? root : native[name!]!).level = level;
  process.send!({
    ROOT: root.level,
    ...Object.fromEntries(Object.keys(native).map((each) => [each, native[each]!.level])),
  });
});
process.on("disconnect", () => process.exit());
process.send!(url);

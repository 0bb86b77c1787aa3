/** `node bench/servers/actuator.ts <count>`: an actuator over so many pino loggers, as an application has it. */
import { pino } from "pino";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { createActuator } from "../../src/index.ts";
import { serving } from "../support/serve.ts";

const root = pino({ level: "info" });
const adapter = pinoLoggers(root);
const loggers = Array.from({ length: Number(process.argv[2]) }, (_, index) =>
  root.child({ logger: `com.example.module${index % 100}.Service${index}` }),
);

const actuator = createActuator({ loggers: { adapters: [adapter] }, access: "loopback" });
const { port } = await actuator.listen({ port: 0 });
serving(port);
// The adapter holds loggers weakly, as an application's own ones must stay collectable.
process.on("exit", () => loggers.length);

/** What an application writes: compiled against the published declarations and run against the published code. */
import { createActuator, integrationGraph } from "connect-actuator";
import { expressSessions } from "connect-actuator/express-session";
import { pinoLoggers } from "connect-actuator/pino";
import session from "express-session";
import { pino } from "pino";

const logger = pino({ level: "info" }, { write() {} });
const adapter = pinoLoggers(logger);
const http = logger.child({ logger: "http" });
const actuator = createActuator({
  loggers: { adapters: [adapter], groups: { web: ["http", "router"] } },
  sessions: expressSessions(new session.MemoryStore()),
  integrationGraph: integrationGraph({ app: "consumer" }),
});

const { port } = await actuator.listen({ port: 0 });
const answer = await fetch(`http://127.0.0.1:${port}/actuator/loggers/web`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ configuredLevel: "debug" }),
});
const { _links } = (await (await fetch(`http://127.0.0.1:${port}/actuator`)).json()) as { _links: object };
await actuator.close();

console.log(JSON.stringify({ status: answer.status, level: http.level, links: Object.keys(_links) }));

// @ts-expect-error: the declarations are really there, and strict.
export const mistaken = () => createActuator({ loggers: { adapters: ["pino"] } });

import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { failure } from "./errors.ts";
import { IntegrationGraphService } from "./gen/actuator/v3/integration_graph_pb.js";
import { Level } from "./gen/actuator/v3/level_pb.js";
import { type Logger, LoggersService, type WatchLoggersResponse } from "./gen/actuator/v3/loggers_pb.js";
import { SessionsService } from "./gen/actuator/v3/sessions_pb.js";
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from "./gen/grpc/health/v1/health_pb.js";

/** Shows each thing that can be done once, and stops at the first that is not as it should be. */
export async function tour(transport: Transport, logger: string, user: string): Promise<void> {
  const { status } = await createClient(Health, transport).check({});
  console.log(`health: ${ServingStatus[status]}`);
  await tourLoggers(createClient(LoggersService, transport), logger);
  await tourSessions(createClient(SessionsService, transport), user);
  const { nodes, links } = await createClient(IntegrationGraphService, transport).getIntegrationGraph({});
  console.log(`graph: ${nodes.length} nodes, ${links.length} links`);
}

async function tourLoggers(client: Client<typeof LoggersService>, name: string): Promise<void> {
  const { loggers } = await client.listLoggers({});
  const [root] = loggers;
  console.log(`loggers: ${loggers.length}, ${root?.name} at ${level(root)}`);

  // The watch is open before the level is set, so that it cannot miss the change.
  const abort = new AbortController();
  const states = statesOf(name, client.watchLoggers({ namePrefix: name }, { signal: abort.signal }));
  console.log(`watch: ${name} at ${level((await states.next()).value)}`);
  const ttl = { seconds: 60n };
  const set = await client.setLoggerLevel({ name, level: Level.DEBUG, ttl, reason: "a tour in Node.js" });
  console.log(`set: ${name} at ${level(set.result.value as Logger)}`);
  console.log(`watch: ${name} at ${level((await states.next()).value)}`);
  const restored = await client.restoreLoggerLevel({ name });
  console.log(`restore: ${name} at ${level(restored.result.value as Logger)}`);
  console.log(`watch: ${name} at ${level((await states.next()).value)}`);
  // Leaving the loop would leave the stream open. The last read lets go of the timer of its deadline.
  abort.abort();
  await states.next().catch(() => undefined);

  console.log(`no level: ${await failure(() => client.setLoggerLevel({ name }))}`);
  console.log(`a watch of 500 ms: ${await failure(() => drained(client.watchLoggers({}, { timeoutMs: 500 })))}`);
}

async function tourSessions(client: Client<typeof SessionsService>, username: string): Promise<void> {
  const { sessions } = await client.listSessions({ username });
  console.log(`sessions: ${sessions.length} of ${username}`);
  if (sessions[0] !== undefined) {
    const { session } = await client.getSession({ id: sessions[0].id });
    console.log(`session: of ${session?.username}, with ${session?.attributeNames.toSorted().join(", ")}`);
  }
  const unknown = "00000000-0000-4000-8000-000000000000";
  console.log(`unknown session: ${await failure(() => client.getSession({ id: unknown }))}`);
}

/** The states of one logger as they come; heartbeats and changes of others are passed over. */
async function* statesOf(name: string, events: AsyncIterable<WatchLoggersResponse>): AsyncGenerator<Logger, undefined> {
  for await (const { event } of events) {
    if (event.case === "heartbeat" || event.value === undefined) continue;
    yield* event.value.loggers.filter((logger) => logger.name === name);
  }
}

async function drained(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

function level(logger: Logger | undefined): string {
  if (logger === undefined) throw new Error("there is no such logger");
  return Level[logger.effectiveLevel];
}

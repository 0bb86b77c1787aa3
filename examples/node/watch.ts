import { setTimeout as delay } from "node:timers/promises";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { summary } from "./errors.ts";
import { Level } from "./gen/actuator/v3/level_pb.js";
import { LoggersService, type WatchLoggersResponse } from "./gen/actuator/v3/loggers_pb.js";

const SHORTEST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

/**
 * What the server will say again. All else passes: it drains, or is out of reach, which connect reports as unavailable, aborted,
 * canceled or internal, depending on what it was just doing.
 */
const FINAL = new Set([
  Code.Unauthenticated,
  Code.PermissionDenied,
  Code.InvalidArgument,
  Code.Unimplemented,
  Code.NotFound,
]);

/**
 * Prints every change of a level, for ever: over a server that drains, and one that is started again. The first call fails at
 * once where address, certificate or token are wrong.
 */
export async function watch(transport: Transport): Promise<void> {
  const client = createClient(LoggersService, transport);
  let again = false;
  let pause = SHORTEST_PAUSE_MS;
  while (true) {
    try {
      // 0: no deadline.
      for await (const event of client.watchLoggers({}, { timeoutMs: 0 })) {
        show(event);
        again = true;
        pause = SHORTEST_PAUSE_MS;
      }
    } catch (reason) {
      const error = ConnectError.from(reason);
      if (!again || FINAL.has(error.code)) throw error;
      if (pause === SHORTEST_PAUSE_MS) console.log(`${summary(error)}: ${error.rawMessage} Connecting again.`);
    }
    // Half of it is chance, so that a thousand clients do not come back at the same time.
    await delay((pause * (1 + Math.random())) / 2);
    pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
  }
}

function show({ event }: WatchLoggersResponse): void {
  if (event.case === "snapshot") console.log(`watching ${event.value.loggers.length} loggers`);
  if (event.case !== "change") return;
  for (const { name, effectiveLevel } of event.value.loggers) console.log(`${name} at ${Level[effectiveLevel]}`);
}

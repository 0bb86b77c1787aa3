import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { connect } from "./connection.ts";
import { summary } from "./errors.ts";
import { Level } from "./gen/actuator/v3/level_pb.js";
import { LoggersService } from "./gen/actuator/v3/loggers_pb.js";
import { tour } from "./tour.ts";
import { watch } from "./watch.ts";

const USAGE = `Usage: node client.ts <command>

  tour [logger [user]]   show each thing that can be done once
  watch                  print every change of a level, for ever
  set <logger> <level>   set a level`;

async function setLevel(transport: Transport, name: string, level: Level): Promise<void> {
  const client = createClient(LoggersService, transport);
  const { result, previousLevel } = await client.setLoggerLevel({ name, level, reason: "an example" });
  const now = result.case === "logger" ? result.value.effectiveLevel : result.value?.configuredLevel;
  console.log(`${name} at ${Level[now ?? 0]}, was ${Level[previousLevel]}`);
}

async function run([command, first, second, ...more]: string[]): Promise<number> {
  const wanted = Level[second?.toUpperCase() as keyof typeof Level];
  if (more.length > 0) command = "help";
  if (command === "tour") await tour(connect(), first ?? "shop.orders", second ?? "alice");
  else if (command === "watch" && first === undefined) await watch(connect());
  else if (command === "set" && first !== undefined && wanted) await setLevel(connect(), first, wanted);
  else {
    console.error(USAGE);
    return 2;
  }
  return 0;
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (reason) {
  if (!(reason instanceof ConnectError)) throw reason;
  console.error(`${summary(reason)}: ${reason.rawMessage}`);
  process.exitCode = 1;
}

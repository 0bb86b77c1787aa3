import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { printable } from "../common/printable.ts";
import {
  type FleetChange,
  FleetService,
  GetFleetChangeResponseSchema,
  ResetFleetResponseSchema,
} from "../gen/actuator/v3/fleet_pb.ts";
import { Level as LevelProto } from "../gen/actuator/v3/level_pb.ts";
import { LoggersService, Scope } from "../gen/actuator/v3/loggers_pb.ts";
import type { Level } from "../loggers/level.ts";
import { type Connection, printJson } from "./connection.ts";
import { CliError, EXIT } from "./error.ts";
import { exitCodeOf, printStatuses } from "./fleet-show.ts";
import { countText, note, print } from "./output.ts";

/** After it an instance that has said nothing is gone. */
const PATIENCE_MS = 15_000;

interface ChangeOptions {
  readonly on?: string;
  readonly reason?: string;
  readonly ifGeneration?: bigint;
  readonly json?: boolean;
}

/** The options of `fleet set`. */
interface SetOptions extends ChangeOptions {
  /** Milliseconds. */
  readonly for?: number;
  readonly forever?: boolean;
}

/** Runs `fleet set`. Returns the exit code. */
export async function setFleetLevel(
  connection: Connection,
  name: string,
  level: Level,
  options: SetOptions,
): Promise<number> {
  const ttl = options.forever ? 0 : options.for;
  const { generation } = await connection(LoggersService).setLoggerLevel({
    ...requestFor(name, options),
    level: LevelProto[level],
    ...(ttl !== undefined && { ttl: durationFromMs(ttl) }),
  });
  return follow(connection, generation, `${printable(name)} ${level.toLowerCase()}`, options);
}

/** Runs `fleet clear`. Returns the exit code. */
export async function clearFleetLevel(connection: Connection, name: string, options: ChangeOptions): Promise<number> {
  const { generation } = await connection(LoggersService).clearLoggerLevel(requestFor(name, options));
  return follow(connection, generation, `${printable(name)} cleared`, options);
}

/** Runs `fleet restore`. Returns the exit code. */
export async function restoreFleetLevel(connection: Connection, name: string, options: ChangeOptions): Promise<number> {
  const { generation } = await connection(LoggersService).restoreLoggerLevel(requestFor(name, options));
  return follow(connection, generation, `${printable(name)} restored`, options);
}

/** Runs `fleet reset`. */
export async function resetFleet(connection: Connection, { reason = "", json }: ChangeOptions): Promise<void> {
  const response = await connection(FleetService).resetFleet({ reason });
  if (json) return printJson(ResetFleetResponseSchema, response);
  print(`${countText(response.ended, "level")} of the fleet ended`);
}

function requestFor(name: string, { on = "", reason = "", ifGeneration = 0n }: ChangeOptions) {
  return { name, reason, scope: Scope.FLEET, fleet: { selector: on, ifGeneration } };
}

/** Waits until every instance has said how far it is with a change, and shows it. */
async function follow(
  connection: Connection,
  generation: bigint,
  what: string,
  { json }: ChangeOptions,
): Promise<number> {
  if (!json) note(`${what}: the fleet has it, generation ${generation}`);
  const change = await latestOf(connection, generation);
  if (change === "replaced") {
    note("A later change has replaced it already.");
    return EXIT.ok;
  }
  if (change === undefined) {
    throw new CliError(EXIT.unreachable, "the fleet has the change, but now its engine does not answer");
  }
  if (json) printJson(GetFleetChangeResponseSchema, { $typeName: "actuator.v3.GetFleetChangeResponse", change });
  else printStatuses(change);
  return exitCodeOf(change);
}

/** Undefined: the instances have said nothing. */
async function latestOf(connection: Connection, generation: bigint): Promise<FleetChange | "replaced" | undefined> {
  const stopping = new AbortController();
  const timer = setTimeout(() => stopping.abort(), PATIENCE_MS);
  let latest: FleetChange | undefined;
  try {
    const { signal } = stopping;
    for await (const { event } of connection(FleetService).watchFleetChange({ generation }, { signal, timeoutMs: 0 })) {
      if (event.case === "change") latest = event.value;
    }
  } catch (error) {
    const { code } = ConnectError.from(error);
    if (code === Code.NotFound) return "replaced";
    if (!stopping.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  return latest;
}

import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { printable } from "../common/printable.ts";
import { FleetService, ResetFleetResponseSchema } from "../gen/actuator/v3/fleet_pb.ts";
import { Level as LevelProto } from "../gen/actuator/v3/level_pb.ts";
import { LoggersService, Scope } from "../gen/actuator/v3/loggers_pb.ts";
import type { Level } from "../loggers/level.ts";
import { type Connection, printJson } from "./connection.ts";
import { follow } from "./fleet-follow.ts";
import { countText, print } from "./output.ts";

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

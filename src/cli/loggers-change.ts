import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Level as LevelProto } from "../gen/actuator/v3/level_pb.ts";
import {
  ClearLoggerLevelResponseSchema,
  LoggersService,
  RestoreAllLoggerLevelsResponseSchema,
  RestoreLoggerLevelResponseSchema,
  SetLoggerLevelResponseSchema,
} from "../gen/actuator/v3/loggers_pb.ts";
import type { Level } from "../loggers/level.ts";
import { type Connection, printJson } from "./connection.ts";
import { orSimilar, printNotices } from "./loggers-show.ts";
import { outcomeLine } from "./loggers-text.ts";
import { countText, print } from "./output.ts";

interface ChangeOptions {
  readonly reason?: string;
  readonly ifRevision?: bigint;
  readonly json?: boolean;
}

/** The options of `loggers set`. */
export interface SetOptions extends ChangeOptions {
  /** Milliseconds. */
  readonly for?: number;
  readonly forever?: boolean;
}

/** Runs `loggers set`, for a logger or for all members of a group. */
export async function setLevel(connection: Connection, name: string, level: Level, options: SetOptions): Promise<void> {
  const response = await connection(LoggersService).setLoggerLevel(setRequest(name, level, options));
  if (options.json) printJson(SetLoggerLevelResponseSchema, response);
  else print(outcomeLine(response.result, response.previousLevel));
  printNotices(response.notices);
}

/** Creates the request that sets a level as the options say. */
export function setRequest(name: string, level: Level, { reason = "", ifRevision = 0n, ...life }: SetOptions) {
  const ttl = life.forever ? 0 : life.for;
  return {
    name,
    level: LevelProto[level],
    reason,
    ifRevision,
    ...(ttl !== undefined && { ttl: durationFromMs(ttl) }),
  };
}

/** Runs `loggers clear`: the logger inherits its level again. */
export async function clearLevel(connection: Connection, name: string, options: ChangeOptions): Promise<void> {
  const { reason = "", ifRevision = 0n, json } = options;
  const response = await connection(LoggersService).clearLoggerLevel({ name, reason, ifRevision });
  if (json) printJson(ClearLoggerLevelResponseSchema, response);
  else print(outcomeLine(response.result, response.previousLevel));
  printNotices(response.notices);
}

/** Runs `loggers restore <name>`: the logger has the level that the application configured. */
export async function restoreLevel(connection: Connection, name: string, options: ChangeOptions): Promise<void> {
  const call = connection(LoggersService).restoreLoggerLevel({ name, reason: options.reason ?? "" });
  const response = await orSimilar(connection, name, call);
  if (options.json) printJson(RestoreLoggerLevelResponseSchema, response);
  else print(outcomeLine(response.result, response.previousLevel));
  printNotices(response.notices);
}

/** Runs `loggers restore --all`. */
export async function restoreAllLevels(connection: Connection, options: ChangeOptions): Promise<void> {
  const response = await connection(LoggersService).restoreAllLoggerLevels({ reason: options.reason ?? "" });
  if (options.json) return printJson(RestoreAllLoggerLevelsResponseSchema, response);
  print(`${countText(response.restored, "logger")} restored`);
}

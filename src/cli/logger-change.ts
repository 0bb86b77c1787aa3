import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { Level } from "../gen/actuator/v3/level_pb.ts";
import {
  ClearLoggerLevelResponseSchema,
  type LoggerGroup,
  LoggersService,
  RestoreAllLoggerLevelsResponseSchema,
  RestoreLoggerLevelResponseSchema,
  type SetLoggerLevelResponse,
  SetLoggerLevelResponseSchema,
} from "../gen/actuator/v3/loggers_pb.ts";
import type { Connection } from "./connection.ts";
import { levelText } from "./level-text.ts";
import { didYouMean, knownNames, orSimilar } from "./logger-get.ts";
import { groupOriginText, originText } from "./logger-text.ts";
import { note, print, printJson } from "./output.ts";
import { printable } from "./printable.ts";

interface ChangeOptions {
  readonly reason?: string;
  readonly ifRevision?: bigint;
  readonly json?: boolean;
}

/** What a level is set with. */
export interface SetOptions extends ChangeOptions {
  /** Milliseconds. */
  readonly for?: number;
  readonly forever?: boolean;
}

/** `loggers set`: a level for a logger or for all of a group. */
export async function setLevel(connection: Connection, name: string, level: Level, options: SetOptions): Promise<void> {
  const response = await connection(LoggersService).setLoggerLevel(setRequest(name, level, options));
  if (options.json) printJson(SetLoggerLevelResponseSchema, response);
  else print(outcomeLine(response));
  await noteUnknown(connection, response, "; one that comes gets this level");
}

/** The request for a level as the options ask for it. */
export function setRequest(name: string, level: Level, { reason = "", ifRevision = 0n, ...life }: SetOptions) {
  const ttl = life.forever ? 0 : life.for;
  return { name, level, reason, ifRevision, ...(ttl !== undefined && { ttl: durationFromMs(ttl) }) };
}

/** `loggers clear`: the logger inherits again. */
export async function clearLevel(connection: Connection, name: string, options: ChangeOptions): Promise<void> {
  const { reason = "", ifRevision = 0n, json } = options;
  const response = await connection(LoggersService).clearLoggerLevel({ name, reason, ifRevision });
  if (json) printJson(ClearLoggerLevelResponseSchema, response);
  else print(outcomeLine(response));
  await noteUnknown(connection, response, "");
}

/** `loggers restore <name>`: back to what the application itself configured. */
export async function restoreLevel(connection: Connection, name: string, options: ChangeOptions): Promise<void> {
  const call = connection(LoggersService).restoreLoggerLevel({ name, reason: options.reason ?? "" });
  const response = await orSimilar(connection, name, call);
  if (options.json) printJson(RestoreLoggerLevelResponseSchema, response);
  else print(outcomeLine(response));
}

/** `loggers restore --all`: everything back to what the application itself configured. */
export async function restoreAllLevels(connection: Connection, options: ChangeOptions): Promise<void> {
  const response = await connection(LoggersService).restoreAllLoggerLevels({ reason: options.reason ?? "" });
  if (options.json) return printJson(RestoreAllLoggerLevelsResponseSchema, response);
  print(response.restored === 1 ? "1 logger restored" : `${response.restored} loggers restored`);
}

/** What was changed, and what was there before. */
export type Outcome = Pick<SetLoggerLevelResponse, "result" | "previousLevel">;

/** `orders: DEBUG, until 14:32:10 (10m left), before INFO`. */
export function outcomeLine({ result, previousLevel }: Outcome): string {
  return `${stateLine(result)}, before ${levelText(previousLevel, result.case === "group" ? "none" : "inherited")}`;
}

/** `orders: DEBUG, until 14:32:10 (10m left)`. */
export function stateLine(result: Outcome["result"]): string {
  if (result.case === undefined) return "changed";
  const parts =
    result.case === "logger"
      ? [levelText(result.value.effectiveLevel, "?"), originText(result.value)]
      : [levelText(result.value.configuredLevel, "no level"), membersText(result.value), groupOriginText(result.value)];
  return `${printable(result.value.name)}: ${parts.filter((text) => text !== "").join(", ")}`;
}

function membersText({ members }: LoggerGroup): string {
  return members.length === 1 ? "1 logger" : `${members.length} loggers`;
}

/** A level may be set before its logger exists; more often than not, it is a slip of the fingers. */
export async function noteUnknown(
  connection: Connection,
  { result }: Pick<Outcome, "result">,
  consequence: string,
): Promise<void> {
  if (result.case !== "logger" || result.value.kind !== "") return;
  const { name } = result.value;
  const names = await knownNames(connection);
  if (names.some((known) => known.startsWith(`${name}.`))) return;
  const hint = didYouMean(name, names);
  const question = hint === undefined ? "" : ` D${hint.slice(1)}`;
  note(`No logger is called ${printable(name)} yet${consequence}.${question}`);
}

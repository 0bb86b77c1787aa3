import { Code, ConnectError } from "@connectrpc/connect";
import {
  GetLoggerResponseSchema,
  type Logger,
  type LoggerGroup,
  LoggersService,
} from "../gen/actuator/v3/loggers_pb.ts";
import { CliError } from "./cli-error.ts";
import type { Connection } from "./connection.ts";
import { EXIT } from "./exit-code.ts";
import { reasonOf } from "./failure.ts";
import { levelText } from "./level-text.ts";
import { fetchLoggers } from "./logger-list.ts";
import { overrideLines } from "./logger-text.ts";
import { print, printJson, styled } from "./output.ts";
import { printable } from "./printable.ts";
import { similar } from "./similar.ts";

const LABEL_WIDTH = 12;

/** `loggers get`: all that is known of one logger or group. */
export async function getLogger(connection: Connection, name: string, { json = false }): Promise<void> {
  const response = await orSimilar(connection, name, connection(LoggersService).getLogger({ name }));
  if (json) return printJson(GetLoggerResponseSchema, response);
  const { result } = response;
  if (result.case === undefined) return;
  const lines = result.case === "logger" ? loggerLines(result.value) : groupLines(result.value);
  print(styled("bold", printable(result.value.name)));
  for (const [label, text] of lines) print(`  ${label.padEnd(LABEL_WIDTH)}${text}`);
}

/**
 * What `call` gives.
 *
 * @throws CliError where the server knows no logger and no group of this name, with names that are like it.
 */
export async function orSimilar<T>(connection: Connection, name: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ConnectError) || error.code !== Code.NotFound) throw error;
    if (reasonOf(error) !== "LOGGER_NOT_FOUND") throw error;
    const hint = didYouMean(name, await knownNames(connection)) ?? "connect-actuator loggers list shows all";
    throw new CliError(EXIT.refused, `no logger and no group is called ${printable(name)}: ${hint}`);
  }
}

/** The names of all loggers and groups; none where the server does not say. */
export async function knownNames(connection: Connection): Promise<readonly string[]> {
  const { loggers, groups } = await fetchLoggers(connection).catch(() => ({ loggers: [], groups: [] }));
  return [...groups, ...loggers].map(({ name }) => name);
}

/** `did you mean orders?`; undefined where no other name is like this one. */
export function didYouMean(name: string, names: readonly string[]): string | undefined {
  const alike = similar(
    name,
    names.filter((known) => known !== name),
  );
  return alike.length === 0 ? undefined : `did you mean ${alike.map(printable).join(" or ")}?`;
}

function loggerLines(logger: Logger): [string, string][] {
  return [
    ["level", levelText(logger.effectiveLevel, "?")],
    ["configured", levelText(logger.configuredLevel)],
    ["baseline", levelText(logger.baselineLevel)],
    ["library", logger.kind === "" ? styled("dim", "none yet: known by name only") : printable(logger.kind)],
    ...overrideLines(logger.override),
    ...logger.warnings.map((warning): [string, string] => ["warning", styled("yellow", printable(warning))]),
  ];
}

function groupLines(group: LoggerGroup): [string, string][] {
  return [
    ["level", levelText(group.configuredLevel, "none set through the group")],
    ["mixed", group.mixed ? "yes: the levels of its members differ" : "no"],
    ...overrideLines(group.override),
    ...group.members.map((member): [string, string] => ["member", printable(member)]),
  ];
}

import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { printable } from "../common/printable.ts";
import { similar } from "../common/suggestion.ts";
import {
  GetLoggerResponseSchema,
  LevelChange_Kind as Kind,
  type LevelChange,
  ListLevelChangesResponseSchema,
  type ListLoggersResponse,
  ListLoggersResponseSchema,
  type Logger,
  type LoggerGroup,
  LoggersService,
  type Notice,
} from "../gen/actuator/v3/loggers_pb.ts";
import { type Connection, pages, printJson } from "./connection.ts";
import { CliError, EXIT } from "./error.ts";
import { reasonOf } from "./failure.ts";
import { levelName, levelText, meantText, overrideLines, overviewText } from "./loggers-text.ts";
import { nameFilter } from "./name-filter.ts";
import { note, print, printDetails, styled, tableLines, timeText } from "./output.ts";

interface ListOptions {
  readonly configured?: boolean;
  readonly json?: boolean;
}

/** Runs `loggers list`. */
export async function listLoggers(
  connection: Connection,
  filters: readonly string[],
  { configured = false, json = false }: ListOptions,
): Promise<void> {
  const found = await fetchLoggers(connection, filters, configured);
  if (json) return printJson(ListLoggersResponseSchema, found);
  const text = overviewText(found.loggers, found.groups);
  if (text !== "") return print(text);
  const what = configured ? "logger with a level of its own" : "logger";
  note(filters.length === 0 ? `No ${what}.` : `No ${what} matches ${filters.join(" or ")}.`);
}

/** Fetches all pages of the loggers and groups that pass the filters, as one answer. */
async function fetchLoggers(
  connection: Connection,
  filters: readonly string[] = [],
  configuredOnly = false,
): Promise<ListLoggersResponse> {
  const client = connection(LoggersService);
  const { prefix, passes } = nameFilter(filters);
  const all = create(ListLoggersResponseSchema);
  for await (const page of pages((pageToken) =>
    client.listLoggers({ namePrefix: prefix, configuredOnly, pageToken }),
  )) {
    all.levels = page.levels;
    all.revision = page.revision;
    for (const logger of page.loggers) if (passes(logger.name)) all.loggers.push(logger);
    for (const group of page.groups) if (passes(group.name)) all.groups.push(group);
  }
  return all;
}

/** Runs `loggers get`. */
export async function getLogger(connection: Connection, name: string, { json = false }): Promise<void> {
  const response = await orSimilar(connection, name, connection(LoggersService).getLogger({ name }));
  if (json) return printJson(GetLoggerResponseSchema, response);
  const { result } = response;
  if (result.case === undefined) return;
  const lines = result.case === "logger" ? loggerLines(result.value) : groupLines(result.value);
  printDetails(printable(result.value.name), 12, lines);
}

function loggerLines(logger: Logger): [string, string][] {
  return [
    ["level", levelText(logger.effectiveLevel, "?")],
    ["configured", levelText(logger.configuredLevel)],
    ["baseline", levelText(logger.baselineLevel)],
    ["library", libraryText(logger)],
    ...overrideLines(logger.override),
    ...logger.warnings.map((warning): [string, string] => ["warning", styled("yellow", printable(warning))]),
  ];
}

function libraryText({ kind, settingOnly }: Logger): string {
  if (kind !== "") return printable(kind);
  return styled("dim", settingOnly ? "none yet: no such logger exists" : "none: only loggers below this name exist");
}

function groupLines(group: LoggerGroup): [string, string][] {
  return [
    ["level", levelText(group.configuredLevel, "none set through the group")],
    ["mixed", group.mixed ? "yes: the levels of its members differ" : "no"],
    ...overrideLines(group.override),
    ...group.members.map((member): [string, string] => ["member", printable(member)]),
  ];
}

const PAGE_SIZE = 1_000;

const KINDS: Readonly<Record<number, string>> = {
  [Kind.SET]: "set",
  [Kind.CLEARED]: "cleared",
  [Kind.RESTORED]: "restored",
  [Kind.EXPIRED]: "expired",
  [Kind.APPLICATION]: "application",
  [Kind.VOLUME]: "volume",
};

/** Runs `loggers history`. */
export async function listChanges(
  connection: Connection,
  name: string | undefined,
  { limit, json = false }: { readonly limit: number; readonly json?: boolean },
): Promise<void> {
  const client = connection(LoggersService);
  const pageSize = Math.min(limit, PAGE_SIZE);
  const found = create(ListLevelChangesResponseSchema);
  for await (const page of pages((pageToken) => client.listLevelChanges({ name: name ?? "", pageSize, pageToken }))) {
    found.changes.push(...page.changes.slice(0, limit - found.changes.length));
    if (found.changes.length >= limit) break;
  }
  if (json) return printJson(ListLevelChangesResponseSchema, found);
  const { changes } = found;
  if (changes.length === 0) {
    return note(name === undefined ? "No level has changed." : `No change of ${printable(name)}.`);
  }
  const titles = ["TIME", "LOGGER", "CHANGE", "LEVEL", "BY", "REASON"];
  print(tableLines(titles, changes.map(changeCells)).join("\n"));
}

function changeCells({ time, name, kind, previousLevel, level, override }: LevelChange): string[] {
  return [
    time === undefined ? "?" : timeText(timestampMs(time)),
    printable(name),
    KINDS[kind] ?? "?",
    `${levelName(previousLevel) ?? "inherited"} → ${levelName(level) ?? "inherited"}`,
    printable(override?.actor || override?.instance || ""),
    printable(override?.reason ?? ""),
  ];
}

/**
 * Waits for `call`.
 *
 * @throws CliError if there is no logger and no group of this name, with similar names.
 */
export async function orSimilar<T>(connection: Connection, name: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ConnectError) || error.code !== Code.NotFound) throw error;
    if (reasonOf(error) !== "LOGGER_NOT_FOUND") throw error;
    const hint = hintFor(name, await knownNames(connection)) ?? "connect-actuator loggers list shows all";
    throw new CliError(EXIT.refused, `no logger and no group is named ${printable(name)}: ${hint}`);
  }
}

/** Notes what a change of a level did not do. */
export function printNotices(notices: readonly Notice[], say: (line: string) => void = note): void {
  for (const { message, nearest } of notices) {
    say(`${printable(message)}.${meantText(nearest === "" ? [] : [nearest])}`);
  }
}

/** Fetches the names of all loggers and groups; none if that fails. */
async function knownNames(connection: Connection): Promise<readonly string[]> {
  const { loggers, groups } = await fetchLoggers(connection).catch(() => ({ loggers: [], groups: [] }));
  return [...groups, ...loggers].map(({ name }) => name);
}

/** `did you mean shop.orders?` for `orders` or `shop.oders`; undefined if no name is similar. */
function hintFor(name: string, names: readonly string[]): string | undefined {
  const others = names.filter((known) => known !== name);
  const end = `.${name.toLowerCase()}`;
  const endings = others.filter((known) => known.toLowerCase().endsWith(end)).slice(0, 3);
  const alike = endings.length > 0 ? endings : similar(name, others);
  return alike.length === 0 ? undefined : `did you mean ${alike.map(printable).join(" or ")}?`;
}

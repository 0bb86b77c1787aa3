import { equals } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import {
  type Change,
  type Logger,
  LoggerSchema,
  LoggersService,
  WatchLoggersResponseSchema,
} from "../gen/actuator/v3/loggers_pb.ts";
import type { Connection } from "./connection.ts";
import type { GlobalOptions } from "./global-options.ts";
import { levelText } from "./level-text.ts";
import { liveStream } from "./live-stream.ts";
import { stateLine } from "./logger-change.ts";
import { overviewText } from "./logger-tree.ts";
import { nameFilter } from "./name-filter.ts";
import { print, printJson, styled } from "./output.ts";
import { printable } from "./printable.ts";
import { timeToText } from "./time.ts";
import { wholeEvents } from "./watch-events.ts";

/** How many loggers that only inherit another level have a line each; of more, their number is told. */
const MOST_FOLLOWERS = 10;

/** `loggers watch`: everything that passes the filters, then what changes of it, until the command is ended. */
export async function watchLoggers(
  connection: Connection,
  filters: readonly string[],
  { timeout, json = false }: Pick<GlobalOptions, "timeout" | "json">,
): Promise<void> {
  const filter = nameFilter(filters);
  const client = connection(LoggersService);
  const stream = liveStream((call) => client.watchLoggers({ namePrefix: filter.prefix }, call), { timeout });
  const known = new Map<string, Logger>();
  for await (const whole of wholeEvents(stream, filter)) {
    const { event } = whole;
    if (json) printJson(WatchLoggersResponseSchema, whole, "one");
    else if (event.case === "snapshot") print(overviewText(event.value.loggers, event.value.groups));
    else if (event.case === "change") for (const line of changeLines(event.value, known)) print(line);
    if (event.case === "snapshot" || event.case === "change") remember(event.value.loggers, known);
  }
}

function remember(loggers: readonly Logger[], known: Map<string, Logger>): void {
  for (const logger of loggers) known.set(logger.name, logger);
}

/** A line for each logger and group; loggers of which only the inherited level is another are counted where they are many. */
function changeLines({ loggers, groups, removed }: Change, known: ReadonlyMap<string, Logger>): string[] {
  const clock = styled("dim", timeToText(timestampNow()).slice(-8));
  const follows = (logger: Logger) => {
    const before = known.get(logger.name);
    return before !== undefined && equals(LoggerSchema, { ...before, effectiveLevel: logger.effectiveLevel }, logger);
  };
  const followers = loggers.filter(follows);
  const counted = followers.length > MOST_FOLLOWERS;
  const lines = [
    ...groups.map((value) => stateLine({ case: "group", value })),
    ...loggers.filter((logger) => !counted || !follows(logger)).map((value) => stateLine({ case: "logger", value })),
    ...(counted ? [`${followers.length} loggers inherit ${inherited(followers)}`] : []),
    ...removed.map((name) => `${printable(name)}: gone`),
  ];
  return lines.map((line) => `${clock}  ${line}`);
}

/** The level that all of them inherit now, or that there are several. */
function inherited(followers: readonly Logger[]): string {
  const levels = new Set(followers.map(({ effectiveLevel }) => effectiveLevel));
  return levels.size === 1 ? levelText([...levels][0]!) : "other levels";
}

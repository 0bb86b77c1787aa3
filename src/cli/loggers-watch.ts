import { create, equals } from "@bufbuild/protobuf";
import { type WatchedChange, WatchedLoggers } from "../client/watched-loggers.ts";
import { printable } from "../common/printable.ts";
import {
  type Logger,
  type LoggerGroup,
  LoggerSchema,
  LoggersService,
  WatchLoggersResponseSchema,
} from "../gen/actuator/v3/loggers_pb.ts";
import { ROOT } from "../loggers/name.ts";
import { type Connection, printJson } from "./connection.ts";
import { reasonOf } from "./failure.ts";
import { liveStream } from "./live-stream.ts";
import { levelText, overviewText, stateLine } from "./loggers-text.ts";
import { type NameFilter, nameFilter } from "./name-filter.ts";
import type { GlobalOptions } from "./options.ts";
import { clockText, print } from "./output.ts";

/** How many loggers that only inherit another level have a line each; more of them are counted. */
const MAX_FOLLOWERS = 10;

/** Runs `loggers watch`: shows the loggers that pass the filters, then every change of them, until the command is ended. */
export async function watchLoggers(
  connection: Connection,
  filters: readonly string[],
  { timeout, json = false }: Pick<GlobalOptions, "timeout" | "json">,
): Promise<void> {
  const filter = nameFilter(filters);
  const client = connection(LoggersService);
  const request = { namePrefix: filter.prefix, compact: true };
  const known = new WatchedLoggers();
  for (let isFirst = true; ; ) {
    try {
      for await (const response of liveStream((call) => client.watchLoggers(request, call), { timeout })) {
        const change = known.apply(response);
        if (change === undefined) continue;
        const visible = filtered(isFirst || json ? change : sinceBefore(change), filter);
        if (json) printChange(visible);
        else if (isFirst) print(overviewText(visible.loggers, visible.groups));
        else for (const line of changeLines(visible)) print(line);
        isFirst = false;
      }
      return;
    } catch (error) {
      if (reasonOf(error) !== "STREAM_TOO_OLD") throw error;
    }
  }
}

/** What passes the filter. */
interface FilteredChange {
  readonly isSnapshot: boolean;
  readonly loggers: Logger[];
  readonly groups: LoggerGroup[];
  readonly removed: string[];
  readonly before: ReadonlyMap<string, Logger>;
  readonly revision: bigint;
}

/** Of a snapshot, what has changed since the stream before. */
function sinceBefore(change: WatchedChange): WatchedChange {
  const { isSnapshot, loggers, before } = change;
  if (!isSnapshot) return change;
  const isNew = ([name, logger]: readonly [string, Logger]) => {
    const was = before.get(name);
    return was === undefined || !equals(LoggerSchema, was, logger);
  };
  return {
    ...change,
    loggers: new Map([...loggers].filter(isNew)),
    groups: new Map(),
    removed: new Set([...before.keys()].filter((name) => !loggers.has(name))),
  };
}

/** ROOT comes first, then the others by name. */
function filtered({ loggers, groups, removed, ...change }: WatchedChange, { passes }: NameFilter): FilteredChange {
  const order = ({ name }: Logger) => (name === ROOT ? "" : name);
  return {
    ...change,
    loggers: [...loggers.values()]
      .filter(({ name }) => passes(name))
      .sort((one, other) => (order(one) < order(other) ? -1 : 1)),
    groups: [...groups.values()].filter(({ name }) => passes(name)),
    removed: [...removed].filter(passes),
  };
}

/** Prints a snapshot, which may be empty, and a change of which anything is left. */
function printChange({ isSnapshot, loggers, groups, removed, revision }: FilteredChange): void {
  if (!isSnapshot && loggers.length + groups.length + removed.length === 0) return;
  const event = isSnapshot
    ? ({ case: "snapshot", value: { loggers, groups } } as const)
    : ({ case: "change", value: { loggers, groups, removed } } as const);
  printJson(WatchLoggersResponseSchema, create(WatchLoggersResponseSchema, { event, revision }), "one");
}

/** A line for each logger and group. Loggers of which only the inherited level changed are counted if they are many. */
function changeLines({ loggers, groups, removed, before }: FilteredChange): string[] {
  const follows = (logger: Logger) => {
    const was = before.get(logger.name);
    return was !== undefined && equals(LoggerSchema, { ...was, effectiveLevel: logger.effectiveLevel }, logger);
  };
  const followers = loggers.filter(follows);
  const counted = followers.length > MAX_FOLLOWERS;
  const lines = [
    ...groups.map((value) => stateLine({ case: "group", value })),
    ...loggers.filter((logger) => !counted || !follows(logger)).map((value) => stateLine({ case: "logger", value })),
    ...(counted ? [`${followers.length} loggers inherit ${inheritedText(followers)}`] : []),
    ...removed.map((name) => `${printable(name)}: gone`),
  ];
  const clock = clockText();
  return lines.map((line) => `${clock}  ${line}`);
}

function inheritedText(followers: readonly Logger[]): string {
  const levels = new Set(followers.map(({ effectiveLevel }) => effectiveLevel));
  return levels.size === 1 ? levelText([...levels][0]!) : "other levels";
}

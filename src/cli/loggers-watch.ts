import { create, equals } from "@bufbuild/protobuf";
import { printable } from "../common/printable.ts";
import {
  type Change,
  ChangeSchema,
  type Logger,
  LoggerSchema,
  LoggersService,
  type Snapshot,
  type WatchLoggersResponse,
  WatchLoggersResponseSchema,
} from "../gen/actuator/v3/loggers_pb.ts";
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
  const open = () => liveStream((call) => client.watchLoggers({ namePrefix: filter.prefix }, call), { timeout });
  const known = new Map<string, Logger>();
  for (let isFirst = true; ; isFirst = false) {
    try {
      for await (const whole of wholeEvents(open(), filter)) {
        const { event } = whole;
        if (json) printJson(WatchLoggersResponseSchema, whole, "one");
        else if (event.case === "change") for (const line of changeLines(event.value, known)) print(line);
        else if (isFirst) print(overviewText(event.value.loggers, event.value.groups));
        else for (const line of changeLines(changeSince(known, event.value), known)) print(line);
        if (event.case === "snapshot") known.clear();
        else for (const name of event.value.removed) known.delete(name);
        for (const logger of event.value.loggers) known.set(logger.name, logger);
      }
      return;
    } catch (error) {
      if (reasonOf(error) !== "STREAM_TOO_OLD") throw error;
    }
  }
}

/** What changed between two streams. */
function changeSince(known: ReadonlyMap<string, Logger>, { loggers }: Snapshot): Change {
  const names = new Set(loggers.map(({ name }) => name));
  return create(ChangeSchema, {
    loggers: loggers.filter((logger) => {
      const before = known.get(logger.name);
      return before === undefined || !equals(LoggerSchema, before, logger);
    }),
    removed: [...known.keys()].filter((name) => !names.has(name)),
  });
}

/** A line for each logger and group. Loggers of which only the inherited level changed are counted if they are many. */
function changeLines({ loggers, groups, removed }: Change, known: ReadonlyMap<string, Logger>): string[] {
  const follows = (logger: Logger) => {
    const before = known.get(logger.name);
    return before !== undefined && equals(LoggerSchema, { ...before, effectiveLevel: logger.effectiveLevel }, logger);
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

type WholeEvent = WatchLoggersResponse & {
  readonly event: Extract<WatchLoggersResponse["event"], { readonly case: "snapshot" | "change" }>;
};

/**
 * Joins the pieces into which the server divides large events: one snapshot, then changes. Leaves out what does not pass the
 * filter, heartbeats, and changes of which nothing is left.
 */
async function* wholeEvents(
  pieces: AsyncIterable<WatchLoggersResponse>,
  { passes }: NameFilter,
): AsyncGenerator<WholeEvent> {
  let whole: WholeEvent | undefined;
  for await (const { event, revision, more } of pieces) {
    if (event.case !== "snapshot" && event.case !== "change") continue;
    // A snapshot may continue in changes.
    whole ??= emptyEvent(event.case);
    const { loggers, groups } = whole.event.value;
    for (const logger of event.value.loggers) if (passes(logger.name)) loggers.push(logger);
    for (const group of event.value.groups) if (passes(group.name)) groups.push(group);
    if (event.case === "change" && whole.event.case === "change") {
      whole.event.value.removed.push(...event.value.removed.filter(passes));
    }
    whole.revision = revision;
    if (more) continue;
    if (!isEmpty(whole)) yield whole;
    whole = undefined;
  }
}

function emptyEvent(kind: "snapshot" | "change"): WholeEvent {
  return create(WatchLoggersResponseSchema, { event: { case: kind, value: {} } }) as WholeEvent;
}

/** An empty snapshot says that there are no loggers; an empty change says nothing. */
function isEmpty({ event }: WholeEvent): boolean {
  if (event.case === "snapshot") return false;
  const { loggers, groups, removed } = event.value;
  return loggers.length + groups.length + removed.length === 0;
}

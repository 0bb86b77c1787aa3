import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { ActuatorError } from "../common/error.ts";
import {
  LevelChange_Kind as Kind,
  type LevelCalls,
  type LevelChange,
  type Logger,
  type LoggerGroup,
  LoggersService,
  type MeasureLoggersResponse,
  type Notice,
  type Override,
} from "../gen/actuator/v3/loggers_pb.ts";
import {
  COUNT,
  described,
  FLAG,
  LEVEL,
  type LevelName,
  levelName,
  levelOf,
  listOf,
  NAME,
  nameIn,
  namesOf,
  objectOf,
  REASON,
  reasonText,
  TEXT,
  timeText,
  upTo,
} from "./schema.ts";
import type { Tool } from "./tool.ts";

const LOGGER = objectOf({
  name: TEXT,
  type: { type: "string", enum: ["logger", "group"] },
  configuredLevel: described(LEVEL, "The level set on it; missing if it inherits."),
  effectiveLevel: described(LEVEL, "The level in effect."),
  applicationLevel: described(LEVEL, "The level that the application configured."),
  library: TEXT,
  members: listOf(TEXT),
  mixed: described(FLAG, "Whether the members have different levels."),
  setBy: described(TEXT, "Who set the level, if the application did not."),
  reason: TEXT,
  until: described(TEXT, "When the level ends by itself."),
  warnings: listOf(TEXT),
});

const NOTICES = listOf(TEXT, "What the change did not do, and names that were probably meant.");

/** The tools that read and change levels. */
export const LOGGER_TOOLS = {
  list: {
    name: "list_loggers",
    title: "List loggers",
    description: "Lists the loggers and groups of the application with their levels.",
    services: [LoggersService],
    permissions: ["loggers:read"],
    writes: false,
    input: {
      filter: {
        type: "string",
        maxLength: 512,
        description: "A text in the name, in any case. Without it all are listed.",
      },
      configured_only: described(FLAG, "Only those with a level of their own."),
      limit: upTo(500, 100, "The most to list."),
    },
    output: { loggers: listOf(LOGGER), more: described(FLAG, "Whether there are more that fit.") },
    async run({ filter = "", configured_only: configuredOnly = false, limit = 100 }, { clients, signal }) {
      const client = clients(LoggersService);
      const text = filter.toLowerCase();
      const found: object[] = [];
      // With a text, every page has to be looked at.
      const pageSize = text === "" ? limit + 1 : 0;
      let pageToken = "";
      do {
        const page = await client.listLoggers({ configuredOnly, pageSize, pageToken }, { signal });
        const groups = pageToken === "" ? page.groups.map(groupJson) : [];
        found.push(
          ...[...groups, ...page.loggers.map(loggerJson)].filter(({ name }) => name.toLowerCase().includes(text)),
        );
        pageToken = page.nextPageToken;
      } while (pageToken !== "" && found.length <= limit);
      return { loggers: found.slice(0, limit), more: found.length > limit };
    },
  } satisfies Tool<{ filter?: string; configured_only?: boolean; limit?: number }>,

  get: {
    name: "get_logger",
    title: "Show a logger",
    description: "Shows a logger or group: its levels, and who set them, why and until when.",
    services: [LoggersService],
    permissions: ["loggers:read"],
    writes: false,
    input: { name: NAME },
    required: ["name"],
    output: { logger: LOGGER },
    async run({ name }, { clients, signal }) {
      return { logger: resultJson((await clients(LoggersService).getLogger({ name }, { signal })).result) };
    },
  } satisfies Tool<{ name: string }>,

  measure: {
    name: "measure_loggers",
    title: "Measure loggers",
    description:
      "Counts the calls of loggers for some seconds, also of levels that are off: what a more verbose level would add. Nothing is written and no level changes, but counting costs the application a little.",
    services: [LoggersService],
    permissions: ["loggers:write"],
    writes: true,
    idempotent: true,
    input: {
      prefix: { type: "string", maxLength: 512, description: "The beginning of names. Default: all loggers." },
      seconds: upTo(30, 5, "How long."),
      limit: upTo(200, 50, "The most loggers, those with the most calls first."),
    },
    output: {
      seconds: { type: "number" },
      total: objectOf({}),
      loggers: listOf(
        objectOf({
          name: TEXT,
          levels: described(objectOf({}), "By level: calls that were written, and calls that were not."),
        }),
      ),
      more: FLAG,
      unmeasuredLibraries: listOf(TEXT),
    },
    async run({ prefix = "", seconds = 5, limit = 50 }, { clients, signal, progress }) {
      let last: MeasureLoggersResponse | undefined;
      const request = { namePrefix: prefix, duration: durationFromMs(seconds * 1_000) };
      for await (const report of clients(LoggersService).measureLoggers(request, { signal, timeoutMs: 0 })) {
        last = report;
        progress(report.elapsed === undefined ? 0 : durationMs(report.elapsed) / 1_000, seconds);
      }
      const { elapsed, total, loggers, more, unmeasuredKinds } = last!;
      return {
        seconds: elapsed === undefined ? 0 : durationMs(elapsed) / 1_000,
        total: callsJson(total),
        loggers: loggers.slice(0, limit).map(({ name, levels }) => ({ name, levels: callsJson(levels) })),
        more: more || loggers.length > limit,
        unmeasuredLibraries: unmeasuredKinds,
      };
    },
  } satisfies Tool<{ prefix?: string; seconds?: number; limit?: number }>,

  history: {
    name: "level_history",
    title: "History of levels",
    description: "Lists the latest changes of levels, newest first: what, when, who and why.",
    services: [LoggersService],
    permissions: ["loggers:read"],
    writes: false,
    input: {
      name: described(NAME, "Only changes of this logger or group."),
      limit: upTo(200, 50, "The most changes."),
    },
    output: {
      changes: listOf(
        objectOf({
          name: TEXT,
          time: TEXT,
          what: namesOf(Kind),
          previousLevel: LEVEL,
          level: LEVEL,
          setBy: TEXT,
          reason: TEXT,
          until: TEXT,
          group: TEXT,
        }),
      ),
      more: FLAG,
    },
    async run({ name = "", limit = 50 }, { clients, signal }) {
      const request = { name, pageSize: limit };
      const { changes, nextPageToken } = await clients(LoggersService).listLevelChanges(request, { signal });
      return { changes: changes.map(changeJson), more: nextPageToken !== "" };
    },
  } satisfies Tool<{ name?: string; limit?: number }>,

  set: {
    name: "set_level",
    title: "Set a level for a time",
    description:
      "Sets the level of a logger or of all members of a group for some time, after which the one from before comes back. The more verbose it is, the more the application writes: measure_loggers tells how much. To read what a logger writes, use debug_logger.",
    services: [LoggersService],
    permissions: ["loggers:write"],
    writes: true,
    idempotent: true,
    input: {
      name: NAME,
      level: LEVEL,
      ttl_seconds: { type: "integer", minimum: 1, maximum: 3_600, description: "How long the level lasts." },
      reason: REASON,
    },
    required: ["name", "level", "ttl_seconds", "reason"],
    output: { logger: LOGGER, previousLevel: LEVEL, notices: NOTICES },
    optional: ["previousLevel"],
    async run({ name, level, ttl_seconds: seconds, reason }, { clients, signal }) {
      const ttl = durationFromMs(seconds * 1_000);
      const request = { name, level: levelOf(level), ttl, reason: reasonText(reason) };
      const { result, previousLevel, notices } = await clients(LoggersService).setLoggerLevel(request, { signal });
      return {
        logger: resultJson(result),
        previousLevel: levelName(previousLevel),
        notices: notices.map(noticeText),
      };
    },
  } satisfies Tool<{ name: string; level: LevelName; ttl_seconds: number; reason: string }>,

  restore: {
    name: "restore_levels",
    title: "Restore levels",
    description:
      "Restores the levels that the application configured, of one logger or group, or of all. Ends levels that operators have set, too: level_history shows them.",
    services: [LoggersService],
    permissions: ["loggers:write"],
    writes: true,
    destroys: true,
    idempotent: true,
    input: {
      name: described(NAME, "The logger or group. Give either this or all."),
      all: { type: "boolean", const: true, description: "All loggers and groups." },
      reason: REASON,
    },
    required: ["reason"],
    output: {
      restored: described(COUNT, "How many loggers were restored, if all were asked for."),
      logger: LOGGER,
      notices: NOTICES,
    },
    optional: ["restored", "logger"],
    async run({ name, all = false, reason: given }, { clients, signal }) {
      const client = clients(LoggersService);
      const reason = reasonText(given);
      if ((name === undefined) !== all) {
        throw new ActuatorError("INVALID_ARGUMENT", "INVALID_ARGUMENTS", "Give either name, or all: true.");
      }
      if (name === undefined) {
        const { restored } = await client.restoreAllLoggerLevels({ reason }, { signal });
        return { restored, notices: [] };
      }
      const { result, notices } = await client.restoreLoggerLevel({ name, reason }, { signal });
      return { logger: resultJson(result), notices: notices.map(noticeText) };
    },
  } satisfies Tool<{ name?: string; all?: boolean; reason: string }>,
};

function loggerJson({ name, configuredLevel, effectiveLevel, baselineLevel, kind, override, warnings }: Logger) {
  return {
    name,
    type: "logger",
    configuredLevel: levelName(configuredLevel),
    effectiveLevel: levelName(effectiveLevel),
    applicationLevel: levelName(baselineLevel),
    library: kind || undefined,
    ...overrideJson(override),
    warnings: warnings.length === 0 ? undefined : warnings,
  };
}

function groupJson({ name, configuredLevel, members, mixed, override }: LoggerGroup) {
  return {
    name,
    type: "group",
    configuredLevel: levelName(configuredLevel),
    members,
    mixed,
    ...overrideJson(override),
  };
}

type Result =
  | { readonly case: "logger"; readonly value: Logger }
  | { readonly case: "group"; readonly value: LoggerGroup }
  | { readonly case: undefined };

/** An actuator always sends one of the two. */
function resultJson(result: Result): object {
  if (result.case === undefined) return {};
  return result.case === "group" ? groupJson(result.value) : loggerJson(result.value);
}

function overrideJson(override: Override | undefined) {
  if (override === undefined) return {};
  const { actor, reason, expireTime } = override;
  return { setBy: actor || undefined, reason: reason || undefined, until: timeText(expireTime) };
}

function changeJson({ name, time, kind, previousLevel, level, override, group }: LevelChange) {
  return {
    name,
    time: timeText(time),
    what: nameIn(Kind, kind),
    previousLevel: levelName(previousLevel),
    level: levelName(level),
    ...overrideJson(override),
    group: group || undefined,
  };
}

function callsJson(levels: readonly LevelCalls[]) {
  return Object.fromEntries(
    levels.map(({ level, emitted, suppressed }) => [
      levelName(level),
      { written: Number(emitted), notWritten: Number(suppressed) },
    ]),
  );
}

/** Notices as text. */
export function noticeText({ message, nearest }: Notice): string {
  return nearest === "" ? message : `${message}; did you mean ${nearest}?`;
}

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { durationToText } from "../common/duration.ts";
import { printable } from "../common/printable.ts";
import { Level as LevelProto, LevelSchema } from "../gen/actuator/v3/level_pb.ts";
import { type Logger, type LoggerGroup, type Override, Scope } from "../gen/actuator/v3/loggers_pb.ts";
import type { Level } from "../loggers/level.ts";
import { dotted } from "../loggers/name.ts";
import { columnsFor, countText, type Format, shortened, shortTimeText, styled, timeText } from "./output.ts";

const FORMATS: Readonly<Record<Level, Format>> = {
  OFF: "gray",
  FATAL: "red",
  ERROR: "red",
  WARN: "yellow",
  INFO: "green",
  DEBUG: "cyan",
  TRACE: "magenta",
};

/** Returns the name of a level in an answer; undefined for UNSPECIFIED. */
export function levelName(level: LevelProto): string | undefined {
  if (level === LevelProto.UNSPECIFIED) return undefined;
  return LevelSchema.value[level]?.localName ?? String(level);
}

/** Returns the colour of a level, by its name. */
export function levelColour(name: string): Format | undefined {
  return FORMATS[name as Level];
}

/** Formats a level in its colour, padded to `width`; `none` stands for no level. */
export function levelText(level: LevelProto, none = "inherited", width = 0): string {
  const name = levelName(level);
  if (name === undefined) return styled("dim", none.padEnd(width));
  return styled(levelColour(name) ?? "reset", name.padEnd(width));
}

/** The length at which a list cuts a reason; the history and `get` show all of it. */
const MAX_REASON_LENGTH = 60;

/** Formats a reason for a list. */
export function reasonText(reason: string): string {
  return shortened(printable(reason), MAX_REASON_LENGTH);
}

/** Says where the level of a logger comes from: `inherited`, `configured`, or who set it, until when and why. */
export function originText(logger: Logger): string {
  const configured = levelName(logger.configuredLevel);
  // ROOT has a level unless several libraries have different ones.
  const without = logger.name === ROOT ? "mixed" : "inherited";
  if (configured === undefined) return styled("dim", logger.settingOnly ? "no such logger" : without);
  const parts = logger.override === undefined ? ["configured"] : overrideParts(logger.override);
  if (logger.effectiveLevel !== logger.configuredLevel) parts.unshift(`asked for ${configured}`);
  if (logger.baselineLevel !== logger.configuredLevel) {
    parts.push(`baseline ${levelName(logger.baselineLevel) ?? without}`);
  }
  if (logger.settingOnly) parts.push("no such logger yet");
  return parts.join(", ");
}

/** Says who set the level of a group, until when and why, and whether its members differ; may be empty. */
export function groupOriginText({ override, mixed }: LoggerGroup): string {
  return [...(override === undefined ? [] : overrideParts(override)), ...(mixed ? ["mixed"] : [])].join(", ");
}

/** The lines of `loggers get` about an override, each a label and a text. */
export function overrideLines(override: Override | undefined): [label: string, text: string][] {
  if (override === undefined) return [];
  const { setTime, actor, reason, instance } = override;
  const lines: [string, string][] = [];
  if (setTime !== undefined) lines.push(["set", timeText(timestampMs(setTime))]);
  const lasts = [override.held ? "as long as it is held" : "", untilText(override) ?? ""].filter((text) => text !== "");
  lines.push(["lasts", lasts.join(", ") || "until it is changed"]);
  if (actor !== "") lines.push(["by", printable(actor)]);
  if (override.scope === Scope.FLEET) lines.push(["for", "the fleet"]);
  if (instance !== "") lines.push(["through", printable(instance)]);
  if (reason !== "") lines.push(["reason", printable(reason)]);
  return lines;
}

function overrideParts(override: Override): string[] {
  const parts = [...(override.scope === Scope.FLEET ? ["fleet"] : []), ...(override.held ? ["held"] : [])];
  const until = untilText(override);
  if (until !== undefined) parts.push(until);
  else if (override.setTime !== undefined) parts.push(`set ${shortTimeText(timestampMs(override.setTime))}`);
  if (override.actor !== "") parts.push(`by ${printable(override.actor)}`);
  if (override.reason !== "") parts.push(`"${reasonText(override.reason)}"`);
  return parts;
}

/** `until 14:32:10 (9m 58s left)`; undefined if it has no end. */
function untilText({ expireTime }: Override): string | undefined {
  if (expireTime === undefined) return undefined;
  const end = timestampMs(expireTime);
  const left = Math.ceil((end - Date.now()) / 1_000) * 1_000;
  return `until ${shortTimeText(end)} (${durationToText(left)} left)`;
}

/** ` Did you mean orders or refunds?`; empty if no name is similar. */
export function meantText(names: readonly string[]): string {
  return names.length === 0 ? "" : ` Did you mean ${names.map(printable).join(" or ")}?`;
}

/** A logger or a group in an answer. */
export type LoggerOrGroup =
  | { readonly case: "logger"; readonly value: Logger }
  | { readonly case: "group"; readonly value: LoggerGroup }
  | { readonly case: undefined; readonly value?: undefined };

/** `orders: DEBUG, until 14:32:10 (10m left)`. */
export function stateLine(result: LoggerOrGroup): string {
  if (result.case === undefined) return "changed";
  const parts =
    result.case === "logger"
      ? [levelText(result.value.effectiveLevel, "?"), originText(result.value)]
      : [
          levelText(result.value.configuredLevel, "no level"),
          countText(result.value.members.length, "logger"),
          groupOriginText(result.value),
        ];
  return `${printable(result.value.name)}: ${parts.filter((text) => text !== "").join(", ")}`;
}

/** `orders: DEBUG, until 14:32:10 (10m left), before INFO`. */
export function outcomeLine(result: LoggerOrGroup, previousLevel: LevelProto): string {
  return `${stateLine(result)}, before ${levelText(previousLevel, result.case === "group" ? "none" : "inherited")}`;
}

const ROOT = "ROOT";
const LEVEL_WIDTH = 9;

/** Formats a tree of loggers and a table of groups; empty if there are neither. */
export function overviewText(loggers: readonly Logger[], groups: readonly LoggerGroup[]): string {
  return [loggers.length === 0 ? [] : treeLines(loggers), groups.length === 0 ? [] : groupLines(groups)]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** The lines of a tree of loggers. Each has the full name, so that it can be found by `grep` and pasted into `set`. */
function treeLines(loggers: readonly Logger[]): string[] {
  const rows = nested(loggers).map(({ logger, depth }) => ({
    logger,
    label: "  ".repeat(depth) + printable(logger.name),
  }));
  const labels = rows.map(({ label }) => label);
  const width = widthOf("LOGGER", labels);
  const lines = rows.flatMap(({ logger, label }) => [
    `${label.padEnd(width)}  ${effectiveLevelText(logger)}  ${originText(logger)}`,
    ...logger.warnings.map((warning) => styled("yellow", `${/^ */.exec(label)![0]}  ! ${printable(warning)}`)),
  ]);
  return [headerLine("LOGGER", width, "ORIGIN"), ...lines];
}

function groupLines(groups: readonly LoggerGroup[]): string[] {
  const names = groups.map((group) => printable(group.name));
  const width = widthOf("GROUP", names);
  const lines = groups.map((group, at) => {
    const members = group.members.map(printable).join(", ");
    const origin = groupOriginText(group);
    const level = levelText(group.configuredLevel, "none", LEVEL_WIDTH);
    return `${names[at]!.padEnd(width)}  ${level}  ${members}${origin && `  (${origin})`}`;
  });
  return [headerLine("GROUP", width, "MEMBERS"), ...lines];
}

function widthOf(title: string, names: readonly string[]): number {
  const rows = names.map((name) => [name]);
  return columnsFor([title], rows)[0]!.width;
}

function headerLine(title: string, width: number, last: string): string {
  return styled("bold", `${title.padEnd(width)}  ${"LEVEL".padEnd(LEVEL_WIDTH)}  ${last}`);
}

/** The effective level, dimmed if it is inherited. */
function effectiveLevelText(logger: Logger): string {
  const text = levelText(logger.effectiveLevel, "?", LEVEL_WIDTH);
  return levelText(logger.configuredLevel, "") === "" ? styled("dim", text) : text;
}

/** Sorts loggers as a tree, each with the number of its ancestors in the list. */
function nested(loggers: readonly Logger[]): { readonly logger: Logger; readonly depth: number }[] {
  const rooted = loggers.some(({ name }) => name === ROOT);
  const above: string[] = [];
  return [...loggers].sort(byPlace).map((logger) => {
    while (above.length > 0 && !dotted(logger.name).startsWith(`${above.at(-1)}.`)) above.pop();
    const depth = logger.name === ROOT ? 0 : above.length + Number(rooted);
    above.push(dotted(logger.name));
    return { logger, depth };
  });
}

/** ROOT first, and every logger directly before its descendants: `a`, `a.b`, `a-b`. */
function byPlace(one: Logger, other: Logger): number {
  if (one.name === ROOT || other.name === ROOT) return Number(other.name === ROOT) - Number(one.name === ROOT);
  const [a, b] = [one, other].map(({ name }) => name.replace(/[.:/]/g, "\0")) as [string, string];
  return a < b ? -1 : Number(a > b);
}

import type { Logger, LoggerGroup } from "../gen/actuator/v3/loggers_pb.ts";
import { levelText } from "./level-text.ts";
import { groupOriginText, originText } from "./logger-text.ts";
import { styled } from "./output.ts";
import { printable } from "./printable.ts";
import { columnsFor } from "./table.ts";

const ROOT = "ROOT";
const LEVEL_WIDTH = 9;

/** A tree of loggers and a table of groups, as far as there are any; empty where there is neither. */
export function overviewText(loggers: readonly Logger[], groups: readonly LoggerGroup[]): string {
  const parts = [loggers.length === 0 ? [] : treeLines(loggers), groups.length === 0 ? [] : groupLines(groups)];
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** The lines of a tree of loggers. Each bears its whole name, to be found by `grep` and pasted into `set`. */
function treeLines(loggers: readonly Logger[]): string[] {
  const rows = nested(loggers).map(({ logger, depth }) => ({
    logger,
    label: "  ".repeat(depth) + printable(logger.name),
  }));
  const [name] = columnsFor(
    ["LOGGER"],
    rows.map(({ label }) => [label]),
  );
  const header = styled("bold", `${"LOGGER".padEnd(name!.width)}  ${"LEVEL".padEnd(LEVEL_WIDTH)}  ORIGIN`);
  const lines = rows.flatMap(({ logger, label }) => [
    `${label.padEnd(name!.width)}  ${levelOf(logger)}  ${originText(logger)}`,
    ...logger.warnings.map((warning) => styled("yellow", `${/^ */.exec(label)![0]}  ! ${printable(warning)}`)),
  ]);
  return [header, ...lines];
}

/** The lines of a table of groups. */
function groupLines(groups: readonly LoggerGroup[]): string[] {
  const names = groups.map((group) => printable(group.name));
  const [name] = columnsFor(
    ["GROUP"],
    names.map((text) => [text]),
  );
  const header = styled("bold", `${"GROUP".padEnd(name!.width)}  ${"LEVEL".padEnd(LEVEL_WIDTH)}  MEMBERS`);
  const lines = groups.map((group, at) => {
    const members = group.members.map(printable).join(", ");
    const origin = groupOriginText(group);
    const level = levelText(group.configuredLevel, "none", LEVEL_WIDTH);
    return `${names[at]!.padEnd(name!.width)}  ${level}  ${members}${origin && `  (${origin})`}`;
  });
  return [header, ...lines];
}

/** The level that counts, faint where it is inherited. */
function levelOf(logger: Logger): string {
  const text = levelText(logger.effectiveLevel, "?", LEVEL_WIDTH);
  return levelText(logger.configuredLevel, "") === "" ? styled("dim", text) : text;
}

/** Loggers in the order of a tree, with how many of their ancestors are among them. */
function nested(loggers: readonly Logger[]): { readonly logger: Logger; readonly depth: number }[] {
  const rooted = loggers.some(({ name }) => name === ROOT);
  const above: string[] = [];
  return [...loggers].sort(byPlace).map((logger) => {
    while (above.length > 0 && !logger.name.startsWith(`${above.at(-1)}.`)) above.pop();
    const depth = logger.name === ROOT ? 0 : above.length + Number(rooted);
    above.push(logger.name);
    return { logger, depth };
  });
}

/** ROOT first, and every logger right before those beneath it: `a`, `a.b`, `a-b`. */
function byPlace(one: Logger, other: Logger): number {
  if (one.name === ROOT || other.name === ROOT) return Number(other.name === ROOT) - Number(one.name === ROOT);
  const [a, b] = [one.name.replaceAll(".", "\0"), other.name.replaceAll(".", "\0")];
  return a < b ? -1 : Number(a > b);
}

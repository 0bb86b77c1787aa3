import { LEVELS, type Level } from "../../loggers/level.ts";
import type { Logger, LoggerGroup, LoggersOverview } from "../../loggers/view.ts";

type LoggerLevels = Pick<Logger, "configuredLevel" | "effectiveLevel">;

/** A logger as section 2.2 of the specification shows it. */
export function loggerJson({ configuredLevel, effectiveLevel }: LoggerLevels): string {
  return TEXTS.get(configuredLevel)!.get(effectiveLevel)!;
}

/** A group as section 2.3 shows it. */
export function groupJson({ configuredLevel, members }: LoggerGroup): string {
  return JSON.stringify({ configuredLevel, members });
}

/** Everything, as section 2.4 shows it. The keys are written by hand: an object would move names like `42` to the front. */
export function overviewJson({ levels, loggers, groups }: LoggersOverview): string {
  return `{"levels":${JSON.stringify(levels)},"loggers":${byName(loggers, loggerJson)},"groups":${byName(groups, groupJson)}}`;
}

function byName<Item extends { readonly name: string }>(items: readonly Item[], json: (item: Item) => string): string {
  return `{${items.map((item) => `${JSON.stringify(item.name)}:${json(item)}`).join(",")}}`;
}

/** A logger shows one of 56 texts, so none is written twice. */
const TEXTS: ReadonlyMap<Level | undefined, ReadonlyMap<Level, string>> = new Map(
  [undefined, ...LEVELS].map((configuredLevel) => [
    configuredLevel,
    new Map(LEVELS.map((effectiveLevel) => [effectiveLevel, JSON.stringify({ configuredLevel, effectiveLevel })])),
  ]),
);

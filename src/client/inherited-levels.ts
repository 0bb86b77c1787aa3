import type { Level } from "../gen/actuator/v3/level_pb.ts";
import type { InheritedLevel } from "../gen/actuator/v3/loggers_pb.ts";
import { dotted, parentName, ROOT } from "../loggers/name.ts";

/**
 * Returns which of `levels` a logger gets: its own or that of the nearest name above it, unless the logger, or one between the two,
 * is configured; then undefined. Names may be spelled with `:` and `/`; `isConfigured` gets them with dots.
 */
export function inheritedLevels(
  levels: readonly InheritedLevel[],
  isConfigured: (key: string) => boolean,
): (name: string) => Level | undefined {
  const byKey = new Map(levels.map(({ name, level }) => [dotted(name), level]));
  return (name) => {
    for (let at = dotted(name); ; at = parentName(at)) {
      const level = byKey.get(at);
      if (level !== undefined) return level;
      if (at === ROOT || isConfigured(at)) return undefined;
    }
  };
}

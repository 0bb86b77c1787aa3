import { Level } from "../../gen/actuator/v3/level_pb.ts";

/** The loggers and groups as far as their levels matter here. */
export interface KnownLevels {
  readonly loggers: ReadonlyMap<string, { readonly configuredLevel: Level; readonly effectiveLevel: Level }>;
  readonly groups: ReadonlyMap<string, { readonly members: readonly string[] }>;
}

/** The loggers on which a raise of these names sets its level, with the level in effect on each. */
export function levelsBefore(names: readonly string[], { loggers, groups }: KnownLevels): Map<string, Level> {
  const targets = names.length === 0 ? ["ROOT"] : names.flatMap((name) => groups.get(name)?.members ?? [name]);
  const before = new Map<string, Level>();
  for (const target of targets) {
    const name = target.endsWith(".*") ? target.slice(0, -2) : target;
    const level = loggers.get(name)?.effectiveLevel || inheritedLevel(name, { loggers });
    if (level !== Level.UNSPECIFIED) before.set(name, level);
  }
  return before;
}

/** The level that a logger without one of its own has from those above it; UNSPECIFIED if they are not known. */
export function inheritedLevel(name: string, { loggers }: Pick<KnownLevels, "loggers">): Level {
  for (const above of withAncestors(name)) {
    const level = above === name ? undefined : loggers.get(above)?.effectiveLevel;
    if (level) return level;
  }
  return Level.UNSPECIFIED;
}

/** The level that a logger's records had to reach without the raise; undefined if the raise does not decide its level. */
export function levelWithoutRaise(
  logger: string,
  raised: ReadonlyMap<string, Level>,
  { loggers }: KnownLevels,
): Level | undefined {
  for (const name of withAncestors(logger)) {
    const level = raised.get(name);
    if (level !== undefined) return level;
    if ((loggers.get(name)?.configuredLevel ?? Level.UNSPECIFIED) !== Level.UNSPECIFIED) return undefined;
  }
  return undefined;
}

function* withAncestors(name: string): Generator<string> {
  for (let each = name; each !== "" && each !== "ROOT"; each = each.slice(0, Math.max(0, each.lastIndexOf(".")))) {
    yield each;
  }
  yield "ROOT";
}

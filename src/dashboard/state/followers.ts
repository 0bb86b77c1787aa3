import { Level } from "../../gen/actuator/v3/level_pb.ts";
import type { Logger, LoggerGroup } from "../../gen/actuator/v3/loggers_pb.ts";
import { dotted, parentName, ROOT } from "../../loggers/name.ts";

interface Known {
  readonly loggers: ReadonlyMap<string, Logger>;
  readonly groups: ReadonlyMap<string, LoggerGroup>;
}

/** The names whose level a change of this logger or group changes: itself or the members, and every logger that inherits from them. */
export function affectedBy(name: string, { loggers, groups }: Known): Set<string> {
  const members = groups.get(name)?.members;
  const sources = new Set((members ?? [name]).map((each) => dotted(each)));
  const configured = new Set<string>();
  for (const logger of loggers.values()) {
    if (logger.configuredLevel !== Level.UNSPECIFIED) configured.add(dotted(logger.name));
  }
  const affected = new Set<string>();
  for (const logger of loggers.values()) {
    for (let at = dotted(logger.name); ; at = parentName(at)) {
      if (sources.has(at) || (at.includes(".") && sources.has(`${parentName(at)}.*`))) affected.add(logger.name);
      else if (!configured.has(at) && at !== ROOT) continue;
      break;
    }
  }
  return affected;
}

/** How many loggers below a logger follow its level; of a group, how many are or follow members. */
export function followersOf(name: string, known: Known): number {
  const affected = affectedBy(name, known);
  affected.delete(name);
  return affected.size;
}

/** The level that a logger has without what an operator changed. */
export function levelWithout(name: string, known: Known): Level {
  const members = known.groups.get(name)?.members;
  if (members === undefined) return loggerWithout(name, known);
  // Of a group, that of its least verbose member.
  const levels = members.map((each) => loggerWithout(each.replace(/\.\*$/, ""), known)).filter((each) => each > 0);
  return levels.length === 0 ? Level.UNSPECIFIED : (Math.min(...levels) as Level);
}

function loggerWithout(name: string, { loggers }: Known): Level {
  const logger = loggers.get(name);
  if (logger === undefined) return Level.UNSPECIFIED;
  if (logger.override === undefined) return logger.effectiveLevel;
  if (logger.baselineLevel !== Level.UNSPECIFIED) return logger.baselineLevel;
  for (let at = name; at !== ROOT; ) {
    at = parentName(dotted(at));
    const above = loggers.get(name.slice(0, at.length)) ?? loggers.get(at);
    if (above !== undefined) return above.effectiveLevel;
  }
  return Level.UNSPECIFIED;
}

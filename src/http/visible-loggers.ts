import { type Caller, isInReach, requireLoggers } from "../access/caller.ts";
import type { LevelChange } from "../loggers/history.ts";
import type { Loggers } from "../loggers/loggers.ts";
import type { Notice } from "../loggers/notice.ts";
import type { Logger, LoggerGroup, LoggersOverview } from "../loggers/view.ts";
import type { RemovedLogger } from "../loggers/watch.ts";

/** The names of loggers at and below which a caller may see and change levels; undefined: all. */
export type Reach = Caller["loggers"];

/** Whether a caller may see a logger, or a group: all of its members. */
export function isVisible(subject: Logger | LoggerGroup | RemovedLogger, reach: Reach): boolean {
  const members = subject.type === "group" && subject.members.length > 0 ? subject.members : [subject.name];
  return isInReach(members, reach);
}

/** The notices of a change, naming no logger that the caller may not see. */
export function visibleNotices(notices: readonly Notice[], reach: Reach): readonly Notice[] {
  return notices.map((notice) => {
    const isHidden = notice.nearest !== undefined && !isInReach([notice.nearest], reach);
    return isHidden ? { ...notice, nearest: undefined } : notice;
  });
}

const overviews = new WeakMap<readonly string[], { readonly of: LoggersOverview; readonly visible: LoggersOverview }>();

/** The loggers and groups that a caller may see: the same object for the same overview and caller. */
export function visibleOverview(overview: LoggersOverview, reach: Reach): LoggersOverview {
  if (reach === undefined) return overview;
  const known = overviews.get(reach);
  if (known?.of === overview) return known.visible;
  const loggers = overview.loggers.filter((logger) => isVisible(logger, reach));
  const groups = overview.groups.filter((group) => isVisible(group, reach));
  const visible = { ...overview, loggers, groups };
  overviews.set(reach, { of: overview, visible });
  return visible;
}

/**
 * The logger or group of a name, known or not.
 *
 * @throws ActuatorError PERMISSION_DENIED if the caller may not see it
 */
export function visibleLogger(loggers: Loggers, name: string, caller: Caller): Logger | LoggerGroup | undefined {
  if (caller.loggers !== undefined) requireLoggers(caller, loggers.reach(name));
  return loggers.get(name);
}

/** The latest changes that a caller may see, newest first, at most `limit`. */
export function visibleHistory(
  loggers: Loggers,
  query: { readonly name: string | undefined; readonly before: number | undefined; readonly limit: number },
  caller: Caller,
): readonly LevelChange[] {
  const { name, limit } = query;
  if (caller.loggers === undefined) return loggers.history(query);
  if (name !== undefined) requireLoggers(caller, loggers.reach(name));
  const found: LevelChange[] = [];
  for (let { before } = query; found.length < limit; ) {
    const changes = loggers.history({ name, before, limit });
    found.push(...changes.filter((change) => isInReach(loggers.reach(change.name), caller.loggers)));
    if (changes.length < limit) break;
    before = changes.at(-1)!.sequence;
  }
  return found.slice(0, limit);
}

import { logLine } from "../common/log-line.ts";
import type { LevelChange } from "./history.ts";
import type { Loggers } from "./loggers.ts";

/** Formats a change of level as a line of a structured log. */
export function levelChangeLine({ name, previousLevel, level, override, kind, time, revision }: LevelChange): string {
  return logLine("info", new Date(time).toISOString(), "level of a logger changed", {
    logger: name,
    previousLevel: previousLevel ?? null,
    newLevel: level ?? null,
    kind,
    ...(override !== undefined && {
      actor: override.actor,
      reason: override.reason,
      instance: override.instance,
      ...(override.expireTime !== undefined && { until: new Date(override.expireTime).toISOString() }),
    }),
    revision,
  });
}

/** How changes of level are reported to the application. */
export interface LevelChangeReport {
  /** Called for every change of a configured level, for example to post it to a chat. Its errors go to `onError`. */
  readonly onLevelChange?: ((change: LevelChange) => void) | undefined;
  /** Whether to write each change to the standard error as one line of JSON. Default true. */
  readonly logLevelChanges?: boolean | undefined;
}

/** Reports every change from now on to the application. */
export function reportLevelChanges(
  loggers: Loggers,
  { onLevelChange, logLevelChanges = true }: LevelChangeReport,
  onError: (error: unknown, context: string) => void,
): void {
  loggers.onChange((change) => {
    // The change of a group is one line, whatever the number of its members.
    if (logLevelChanges && change.group === undefined) console.error(levelChangeLine(change));
    try {
      onLevelChange?.(change);
    } catch (error) {
      onError(error, "loggers.onLevelChange");
    }
  });
}

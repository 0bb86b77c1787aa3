import { logLine } from "../common/log-line.ts";
import type { LevelChange } from "./history.ts";
import type { Loggers } from "./loggers.ts";

/** A change of level as a line of a structured log. */
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

/** How an application hears of changes. */
export interface LevelChangeReport {
  /** Hears of every change of a configured level, to send it to a chat or an audit store. What it throws goes to `onError`. */
  readonly onLevelChange?: ((change: LevelChange) => void) | undefined;
  /** Whether each change is also one line of JSON on the standard error. Default true. */
  readonly logLevelChanges?: boolean | undefined;
}

/** Tells the application of every change from now on. */
export function reportLevelChanges(
  loggers: Loggers,
  { onLevelChange, logLevelChanges = true }: LevelChangeReport,
  onError: (error: unknown, context: string) => void,
): void {
  loggers.onChange((change) => {
    // A group is one line, whatever the number of its members.
    if (logLevelChanges && change.group === undefined) process.stderr.write(`${levelChangeLine(change)}\n`);
    try {
      onLevelChange?.(change);
    } catch (error) {
      onError(error, "loggers.onLevelChange");
    }
  });
}

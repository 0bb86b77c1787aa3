import type { LevelChange } from "./history.ts";

/** A change of level as one line of JSON, with the keys that structured logs use: `level`, `time`, `name` and `msg` first. */
export function levelChangeLine({ name, previousLevel, level, override, kind, time, revision }: LevelChange): string {
  return JSON.stringify({
    level: "info",
    time: new Date(time).toISOString(),
    name: "connect-actuator",
    msg: "level of a logger changed",
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

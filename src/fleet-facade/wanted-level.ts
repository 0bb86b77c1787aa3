import type { LevelChange } from "../loggers/history.ts";
import type { Level } from "../loggers/level.ts";
import type { Override } from "../loggers/setting.ts";

/** A level that was set here and that every instance is to have. */
export interface WantedLevel {
  readonly name: string;
  readonly level: Level;
  readonly override: Override;
  /** The reason that the instances record: who set it, through which actuator, and why. */
  readonly reason: string;
}

/** A level that ended here; the instances are to end it in the same way. */
export interface EndedLevel {
  readonly name: string;
  readonly kind: "CLEARED" | "RESTORED" | "EXPIRED";
  readonly reason: string;
}

const MAX_REASON_LENGTH = 1_000;

/** Creates the wanted level from a level in force. */
export function wantedLevel(name: string, level: Level, override: Override): WantedLevel {
  return { name, level, override, reason: reasonText(override) };
}

/** Returns what a change here asks of the instances; undefined if it only reflects what they did by themselves. */
export function requestedBy({ name, kind, level, override }: LevelChange): WantedLevel | EndedLevel | undefined {
  if (kind === "APPLICATION") return undefined;
  const isInForce = kind === "SET" || (kind === "EXPIRED" && override !== undefined);
  if (isInForce) return level && override && wantedLevel(name, level, override);
  return { name, kind: kind as EndedLevel["kind"], reason: override === undefined ? "" : reasonText(override) };
}

/** Distinguishes a level that is wanted from one that ended. */
export function isWanted(requested: WantedLevel | EndedLevel): requested is WantedLevel {
  return "level" in requested;
}

/** Whether both are the same setting of the same level. */
export function isSame(a: WantedLevel, b: WantedLevel): boolean {
  return a.level === b.level && a.override.setTime === b.override.setTime && a.reason === b.reason;
}

function reasonText({ actor, reason, instance }: Override): string {
  const who = `${actor === "" ? "set" : `by ${actor}`} through ${instance}`;
  const text = (reason === "" ? who : `${reason} (${who})`).replace(/\p{Cc}/gu, " ");
  return text.slice(0, MAX_REASON_LENGTH);
}

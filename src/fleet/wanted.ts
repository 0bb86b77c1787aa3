import type { LevelChange } from "../loggers/history.ts";
import type { Level } from "../loggers/level.ts";
import type { Override } from "../loggers/setting.ts";

/** A level that somebody set here, and that every instance is to have. */
export interface Wanted {
  readonly name: string;
  readonly level: Level;
  readonly override: Override;
  /** What the instances note as the reason: who, through whom, and why. */
  readonly reason: string;
}

/** A level that ended here, and how; the instances are to do the same. */
export interface Ended {
  readonly name: string;
  readonly kind: "CLEARED" | "RESTORED" | "EXPIRED";
  readonly reason: string;
}

const MAX_REASON_LENGTH = 1_000;

/** The level in force. */
export function wantedOf(name: string, level: Level, override: Override): Wanted {
  return { name, level, override, reason: reasonText(override) };
}

/** What a change here asks of the instances; undefined: nothing, since it only tells what they did by themselves. */
export function askedBy({ name, kind, level, override }: LevelChange): Wanted | Ended | undefined {
  if (kind === "APPLICATION") return undefined;
  const isInForce = kind === "SET" || (kind === "EXPIRED" && override !== undefined);
  if (isInForce) return level && override && wantedOf(name, level, override);
  return { name, kind: kind as Ended["kind"], reason: override === undefined ? "" : reasonText(override) };
}

/** Tells a level that is to be from one that is over. */
export function isWanted(asked: Wanted | Ended): asked is Wanted {
  return "level" in asked;
}

/** Whether both are the same setting of the same level. */
export function isSame(a: Wanted, b: Wanted): boolean {
  return a.level === b.level && a.override.setTime === b.override.setTime && a.reason === b.reason;
}

function reasonText({ actor, reason, instance }: Override): string {
  const who = `${actor === "" ? "set" : `by ${actor}`} through ${instance}`;
  const text = (reason === "" ? who : `${reason} (${who})`).replace(/\p{Cc}/gu, " ");
  return text.slice(0, MAX_REASON_LENGTH);
}

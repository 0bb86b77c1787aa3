import type { Level } from "../loggers/level.ts";

/**
 * Where a level stands beside others of its name and selector: for good, for a time, or until a lease is released. A later one in the
 * same slot replaces it.
 */
export type Slot = "lasting" | "temporary" | `lease:${string}`;

/** A level that the fleet has, or the trace of one that was ended. */
export interface FleetEntry {
  /** The name of the logger or group. */
  readonly name: string;
  /** Which instances it concerns, as `selectorOf` returns it. */
  readonly selector: string;
  readonly slot: Slot;
  /** Null: it was ended. What is behind knows by it that the level before is over. */
  readonly level: Level | null;
  /** Of all entries the greater one is later. Those of one change share it. */
  readonly generation: number;
  /** When it was written, in milliseconds since the epoch by the engine's clock. */
  readonly setTime: number;
  /** When it ends by itself, by the same clock; for the trace of a lease, when it would have ended. Undefined: it is lasting. */
  readonly expireTime?: number | undefined;
  /** The caller; may be empty. */
  readonly actor: string;
  /** The caller's reason; may be empty. */
  readonly reason: string;
  /** The instance through which it was written. */
  readonly instance: string;
  /** Whether levels that were set earlier in an instance alone are to end, too. */
  readonly restores?: boolean | undefined;
  /** Names of loggers: its caller may change these and those below them. Undefined: all. */
  readonly reach?: readonly string[] | undefined;
  /** What follows a canary when it is promoted. Undefined: it is not a canary. */
  readonly canary?: CanaryGoal | undefined;
}

/** Which level follows a canary. */
export interface CanaryGoal {
  /** The instances that get it then. */
  readonly selector: string;
  /** How long it lasts then, in milliseconds. Undefined: it has no end. */
  readonly ttlMs?: number | undefined;
}

/** An entry before it has its place among the others. */
export type NewEntry = Omit<FleetEntry, "generation" | "setTime">;

/** All levels of a fleet, as far as an instance or the engine has them. */
export interface FleetState {
  /** The greatest generation that was ever given. */
  readonly generation: number;
  /** Entries up to this generation were forgotten on purpose. 0: none were. */
  readonly reset: number;
  readonly entries: ReadonlyMap<string, FleetEntry>;
}

/** Where an entry is kept. No part but the name can contain a `|`. */
export function keyOf({ name, selector, slot }: Pick<FleetEntry, "name" | "selector" | "slot">): string {
  return `${name}|${selector}|${slot}`;
}

/** Where a level is kept that lasts for a time, or for good, and when it ends. */
export function lifeOf(ttlMs: number | undefined, now: number): Pick<NewEntry, "slot" | "expireTime"> {
  return ttlMs === undefined ? { slot: "lasting" } : { slot: "temporary", expireTime: Math.floor(now + ttlMs) };
}

/** Whether an entry has a level whose time is not over. */
export function isLive({ level, expireTime = Number.POSITIVE_INFINITY }: FleetEntry, now: number): boolean {
  return level !== null && expireTime > now;
}

/** Whether an entry lasts until a caller releases it. */
export function isLease({ slot }: Pick<FleetEntry, "slot">): boolean {
  return slot.startsWith("lease:");
}

/** Compares entries: the earlier one comes first. */
export function byGeneration(one: FleetEntry, other: FleetEntry): number {
  return one.generation - other.generation;
}

/** Whether an entry replaces another one in the same place. */
export function isNewer(entry: FleetEntry, than: FleetEntry | undefined): boolean {
  if (than === undefined || entry.generation > than.generation) return true;
  // A renewed lease keeps its generation, and with it its place.
  return entry.generation === than.generation && (entry.expireTime ?? 0) > (than.expireTime ?? 0);
}

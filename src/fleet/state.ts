import { ActuatorError } from "../common/error.ts";
import { LEVELS, type Level } from "../loggers/level.ts";
import { type Labels, matches } from "./selector.ts";

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
  readonly entries: ReadonlyMap<string, FleetEntry>;
}

/** How long the trace of an ended level is kept. An instance that was away for longer takes the engine's word for everything. */
export const TRACE_MS = 24 * 3_600_000;
/** The same for a lease, whose slot is never used again. */
const LEASE_TRACE_MS = 600_000;
/** Of levels and traces. Every engine accepts the text of as many. */
const MAX_ENTRIES = 1_000;
/** In bytes. NATS refuses a message of a megabyte. */
const MAX_BYTES = 600_000;

export const EMPTY_STATE: FleetState = { generation: 0, entries: new Map() };

/** Where an entry is kept. */
export function keyOf({ name, selector, slot }: Pick<FleetEntry, "name" | "selector" | "slot">): string {
  return `${name}|${selector}|${slot}`;
}

/** Where a level is kept that lasts for a time, or for good, and when it ends. */
export function lifeOf(ttlMs: number | undefined, now: number): Pick<NewEntry, "slot" | "expireTime"> {
  return ttlMs === undefined ? { slot: "lasting" } : { slot: "temporary", expireTime: Math.floor(now + ttlMs) };
}

/** Joins two states, entry by entry. The order in which states are joined, and how often, makes no difference. */
export function merge(one: FleetState, other: FleetState): FleetState {
  const entries = new Map(one.entries);
  for (const [key, entry] of other.entries) if (isNewer(entry, entries.get(key))) entries.set(key, entry);
  return { generation: Math.max(one.generation, other.generation), entries };
}

/**
 * Drops what counts no longer, and never will. It must be the same on every side, so that what one dropped is not written back by
 * another.
 */
export function prune({ generation, entries }: FleetState, now: number): FleetState {
  const lasting = new Map<string, number>();
  const latest = (name: string, selector: string) => lasting.get(`${name}|${selector}`) ?? 0;
  for (const entry of entries.values()) {
    if (entry.slot === "lasting") lasting.set(`${entry.name}|${entry.selector}`, entry.generation);
  }
  const kept = [...entries].filter(([, entry]) => {
    if (isOver(entry, now) || entry.generation < latest(entry.name, "")) return false;
    return entry.slot === "lasting" || entry.generation >= latest(entry.name, entry.selector);
  });
  return { generation, entries: new Map(kept) };
}

/** What `stored` lacks of what is known. */
export function lacking(stored: FleetState, known: FleetState, now: number): readonly FleetEntry[] {
  const all = prune(merge(stored, known), now);
  return [...all.entries.values()].filter((entry) => isNewer(entry, stored.entries.get(keyOf(entry))));
}

/**
 * The entry in force for each name, for an instance with these labels: of the levels without an end the latest, and above it the latest
 * of those with an end that were set after it.
 */
export function wanted({ entries }: FleetState, labels: Labels, now: number): ReadonlyMap<string, FleetEntry> {
  const lasting = new Map<string, FleetEntry>();
  const concerned = [...entries.values()].filter(({ selector }) => matches(selector, labels));
  for (const entry of concerned) {
    if (entry.slot !== "lasting") continue;
    // The trace of a narrower level brings back the level for all.
    if (entry.level === null && entry.selector !== "") continue;
    if (entry.generation > (lasting.get(entry.name)?.generation ?? -1)) lasting.set(entry.name, entry);
  }
  const found = new Map<string, FleetEntry>();
  for (const entry of lasting.values()) if (entry.level !== null) found.set(entry.name, entry);
  for (const entry of concerned) {
    const { slot, level, expireTime = 0, name, selector, generation } = entry;
    if (slot === "lasting" || level === null || expireTime <= now) continue;
    const own = entries.get(keyOf({ name, selector, slot: "lasting" }))?.generation ?? -1;
    if (generation < Math.max(lasting.get(name)?.generation ?? -1, own)) continue;
    if (generation > (found.get(name)?.generation ?? -1)) found.set(name, entry);
  }
  return found;
}

/** Whether an entry has a level whose time is not over. */
export function isLive({ level, expireTime = Number.POSITIVE_INFINITY }: FleetEntry, now: number): boolean {
  return level !== null && expireTime > now;
}

/** Compares entries: the earlier one comes first. */
export function byGeneration(one: FleetEntry, other: FleetEntry): number {
  return one.generation - other.generation;
}

/** Whether an entry lasts until a caller releases it. */
export function isLease({ slot }: Pick<FleetEntry, "slot">): boolean {
  return slot.startsWith("lease:");
}

/** When the next level ends by itself; undefined: none does. */
export function nextExpiry({ entries }: FleetState, now: number): number | undefined {
  let next: number | undefined;
  for (const entry of entries.values()) {
    const { expireTime } = entry;
    if (expireTime === undefined || !isLive(entry, now)) continue;
    if (next === undefined || expireTime < next) next = expireTime;
  }
  return next;
}

/** A change as it is stored, and what of it is new. */
export interface Amended {
  readonly state: FleetState;
  readonly changed: FleetState;
}

/**
 * Adds entries to what is stored, and to what the writer knows beyond that.
 *
 * @param now the engine's clock, which makes the generation, so that it grows even if the engine has lost everything
 * @throws ActuatorError RESOURCE_EXHAUSTED if the fleet would have too many levels.
 */
export function amend(stored: FleetState, known: FleetState, added: readonly NewEntry[], now: number): Amended {
  const base = merge(stored, known);
  const generation = Math.max(base.generation + 1, Math.floor(now) * 1_000);
  const entries = added.map((entry): [string, FleetEntry] => {
    return [keyOf(entry), { ...entry, generation, setTime: Math.floor(now) }];
  });
  const state = prune({ generation, entries: new Map([...base.entries, ...entries]) }, now);
  if (state.entries.size > MAX_ENTRIES || Buffer.byteLength(textOf(state)) > MAX_BYTES) {
    const message = `The fleet has too many levels: at most ${MAX_ENTRIES.toLocaleString("en")}, with those of the last day.`;
    throw new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_FLEET_LEVELS", message);
  }
  return { state, changed: { generation, entries: new Map(entries) } };
}

/** A state as engines carry it. */
export function textOf({ generation, entries }: FleetState): string {
  return JSON.stringify({ format: 1, generation, entries: [...entries.values()] });
}

/**
 * Reads {@link textOf}; an empty text is an empty state.
 *
 * @throws ActuatorError UNAVAILABLE for a text that was not written by a fleet, or in a later format.
 */
export function stateOf(text: string): FleetState {
  if (text === "") return EMPTY_STATE;
  let read: { format?: unknown; generation?: unknown; entries?: unknown } | null;
  try {
    read = JSON.parse(text);
  } catch {
    read = null;
  }
  const { format, generation, entries } = read ?? {};
  if (format !== 1 || !isCount(generation) || !Array.isArray(entries) || !entries.every(isEntry)) {
    const message =
      typeof format === "number" && format > 1
        ? "The fleet's levels were written by a later release; update this one."
        : "What the engine has for this fleet was not written by connect-actuator; give the fleet another name.";
    throw new ActuatorError("UNAVAILABLE", "FLEET_DOCUMENT_UNREADABLE", message);
  }
  return { generation, entries: new Map(entries.map((entry) => [keyOf(entry), entry])) };
}

/** Whether an entry replaces another one in the same place. */
export function isNewer(entry: FleetEntry, than: FleetEntry | undefined): boolean {
  if (than === undefined || entry.generation > than.generation) return true;
  // A renewed lease keeps its generation, and with it its place.
  return entry.generation === than.generation && (entry.expireTime ?? 0) > (than.expireTime ?? 0);
}

function isOver({ slot, level, expireTime, setTime }: FleetEntry, now: number): boolean {
  if (slot === "lasting") return level === null && setTime + TRACE_MS < now;
  return (expireTime ?? setTime) + (slot === "temporary" ? TRACE_MS : LEASE_TRACE_MS) < now;
}

function isEntry(value: unknown): value is FleetEntry {
  const { name, selector, slot, level, generation, setTime, expireTime, actor, reason, instance } = (value ??
    {}) as Record<string, unknown>;
  return (
    [name, selector, slot, actor, reason, instance].every((each) => typeof each === "string") &&
    (level === null || LEVELS.includes(level as Level)) &&
    isCount(generation) &&
    isCount(setTime) &&
    (expireTime === undefined || isCount(expireTime))
  );
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

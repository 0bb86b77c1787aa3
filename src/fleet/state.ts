import { ActuatorError } from "../common/error.ts";
import { type FleetEntry, type FleetState, isLive, isNewer, keyOf, type NewEntry } from "./entry.ts";
import { type Labels, matches } from "./selector.ts";
import { stateOf, textOf } from "./state-text.ts";

/** How long the trace of an ended level is kept. An instance that was away for longer takes the engine's word for everything. */
export const TRACE_MS = 24 * 3_600_000;
/** The same for a lease, whose slot is never used again. */
const LEASE_TRACE_MS = 600_000;
/** Of levels and traces. Every engine accepts the text of as many. */
const MAX_ENTRIES = 1_000;
/** In bytes. NATS refuses a message of a megabyte. */
const MAX_BYTES = 600_000;

export const EMPTY_STATE: FleetState = { generation: 0, reset: 0, entries: new Map() };

/** Joins two states, entry by entry. The order in which states are joined, and how often, makes no difference. */
export function merge(one: FleetState, other: FleetState): FleetState {
  const reset = Math.max(one.reset, other.reset);
  const entries = new Map<string, FleetEntry>();
  for (const { entries: some } of [one, other]) {
    for (const [key, entry] of some) {
      if (entry.generation > reset && isNewer(entry, entries.get(key))) entries.set(key, entry);
    }
  }
  return { generation: Math.max(one.generation, other.generation), reset, entries };
}

/**
 * Drops what counts no longer, and never will. It must be the same on every side, so that what one dropped is not written back by
 * another.
 */
export function prune({ entries, ...state }: FleetState, now: number): FleetState {
  const lasting = new Map<string, number>();
  const latest = (name: string, selector: string) => lasting.get(`${name}|${selector}`) ?? 0;
  for (const entry of entries.values()) {
    if (entry.slot === "lasting") lasting.set(`${entry.name}|${entry.selector}`, entry.generation);
  }
  const kept = [...entries].filter(([, entry]) => {
    if (isOver(entry, now) || entry.generation < latest(entry.name, "")) return false;
    return entry.slot === "lasting" || entry.generation >= latest(entry.name, entry.selector);
  });
  return { ...state, entries: new Map(kept) };
}

/** Whether `stored` lacks anything of what is known. */
export function isLacking(stored: FleetState, known: FleetState, now: number): boolean {
  const all = prune(merge(stored, known), now);
  const isNewEntry = (entry: FleetEntry) => isNewer(entry, stored.entries.get(keyOf(entry)));
  return all.reset > stored.reset || [...all.entries.values()].some(isNewEntry);
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

/** What a change adds. */
export interface Addition {
  readonly entries: readonly NewEntry[];
  /** Whether all entries from before are forgotten. */
  readonly isReset?: boolean | undefined;
}

/** A change as it is stored, and what of it is new. */
export interface Amended {
  readonly state: FleetState;
  readonly changed: FleetState;
}

/**
 * Changes what is stored, and what the writer knows beyond that.
 *
 * @param now the engine's clock, which makes the generation, so that it grows even if the engine has lost everything
 * @throws ActuatorError RESOURCE_EXHAUSTED if the fleet would have too many levels.
 */
export function amend(
  stored: FleetState,
  known: FleetState,
  { entries: added, isReset = false }: Addition,
  now: number,
): Amended {
  const base = merge(stored, known);
  const generation = Math.max(base.generation + 1, Math.floor(now) * 1_000);
  const entries = new Map(
    added.map((entry): [string, FleetEntry] => [keyOf(entry), { ...entry, generation, setTime: Math.floor(now) }]),
  );
  const changed = { generation, reset: isReset ? generation - 1 : base.reset, entries };
  const state = prune(merge(base, changed), now);
  if (state.entries.size > MAX_ENTRIES || Buffer.byteLength(textOf(state)) > MAX_BYTES) {
    const message = `The fleet has too many levels: at most ${MAX_ENTRIES.toLocaleString("en")}, with those that ended in the last day. \`fleet reset\` ends them all.`;
    throw new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_FLEET_LEVELS", message);
  }
  // What one member writes and others cannot read would stop the fleet.
  stateOf(textOf(changed));
  return { state, changed };
}

function isOver({ slot, level, expireTime, setTime }: FleetEntry, now: number): boolean {
  if (slot === "lasting") return level === null && setTime + TRACE_MS < now;
  return (expireTime ?? setTime) + (slot === "temporary" ? TRACE_MS : LEASE_TRACE_MS) < now;
}

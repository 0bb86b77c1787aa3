import { setImmediate } from "node:timers/promises";
import type { SessionRecord } from "../../../sessions/principal.ts";

/** How much of a store without an index is searched at most. What is cut off says that it is partial. */
export interface ScanBounds {
  /** Sessions read. Default: 50,000. */
  readonly maxSessions?: number | undefined;
  /** Milliseconds taken. Default: 500. */
  readonly maxMs?: number | undefined;
}

/** The sessions of a store, as they come. */
export type SessionEntries = Iterable<SessionEntry> | AsyncIterable<SessionEntry>;
/** A session's id and record. */
export type SessionEntry = readonly [id: string, record: SessionRecord];

const MAX_TURN = 10;

/** Visits the sessions within the bounds, and lets others have their turn meanwhile. Resolves to whether it was cut off. */
export async function scanSessions(
  entries: SessionEntries,
  bounds: ScanBounds,
  visit: (id: string, record: SessionRecord) => void,
): Promise<boolean> {
  const { maxSessions = 50_000, maxMs = 500 } = bounds;
  const end = performance.now() + maxMs;
  let turn = performance.now() + MAX_TURN;
  let visited = 0;
  for await (const [id, record] of entries) {
    const now = performance.now();
    if (visited >= maxSessions || (now >= end && visited > 0)) return true;
    visit(id, record);
    visited++;
    if (now < turn) continue;
    await setImmediate();
    turn = performance.now() + MAX_TURN;
  }
  return false;
}

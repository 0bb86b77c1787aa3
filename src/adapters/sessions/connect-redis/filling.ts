import { setTimeout as delay } from "node:timers/promises";
import type { SessionIndex } from "../../kit/redis/session-index.ts";
import { FIRST_KEYS, type KeysPosition, type SessionKeys } from "./session-keys.ts";
import { indexedOf, type SessionView } from "./session-view.ts";
import type { StoredSession, StoredSessions } from "./stored-sessions.ts";

/** How far a search through all sessions has come. */
export interface FillProgress {
  /** Keys met so far. One may be met twice. */
  readonly keys: number;
  /** Sessions among them. */
  readonly sessions: number;
  /** Of these, those that are somebody's. */
  readonly users: number;
  /** Where to go on; undefined: that was all. */
  readonly next: KeysPosition | undefined;
}

export const FILL_START: FillProgress = { keys: 0, sessions: 0, users: 0, next: FIRST_KEYS };

/** What a filling works with. */
export interface Filling {
  readonly stored: StoredSessions;
  readonly keys: SessionKeys;
  readonly view: SessionView;
  readonly index: SessionIndex;
}

/** How many keys a step takes: some milliseconds of the server's time, in which others get their turns. */
const STEP = 250;

/**
 * Reads all sessions and writes them into the index, a step at a time. Between two steps it rests for as long as the last
 * one took, so that it takes half of what the server and this process can do at most.
 *
 * Yields after each step, and ends with the one whose `next` is undefined.
 */
export async function* fillIndex(
  { stored, keys, view, index }: Filling,
  from: FillProgress = FILL_START,
  dryRun = false,
): AsyncGenerator<FillProgress> {
  let progress = from;
  while (progress.next !== undefined) {
    const began = performance.now();
    const { ids, next } = await keys.step(progress.next, STEP);
    const found = (await stored.read([...new Set(ids)])).filter((each): each is StoredSession => each !== undefined);
    const sessions = found.map((each) => indexedOf(view, each));
    if (!dryRun) await index.fill(sessions);
    progress = {
      keys: progress.keys + ids.length,
      sessions: progress.sessions + sessions.length,
      users: progress.users + sessions.filter(({ username }) => username !== undefined).length,
      next,
    };
    yield progress;
    if (next !== undefined) await delay(performance.now() - began);
  }
}

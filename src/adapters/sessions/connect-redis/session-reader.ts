import type { Session } from "../../../sessions/session.ts";
import type { Sightings } from "../../kit/connect-session/sightings.ts";
import type { SessionIndex } from "../../kit/redis/session-index.ts";
import type { IndexRecord } from "../../kit/redis/session-index-keys.ts";
import { indexedOf, type Known, type SessionView, sessionOf } from "./session-view.ts";
import type { StoredSession, StoredSessions } from "./stored-sessions.ts";

/** Reads sessions with what the index knows beside them, all in one round trip. */
export class SessionReader {
  readonly #stored: StoredSessions;
  readonly #index: SessionIndex | undefined;
  readonly #view: SessionView;
  /** Of sessions of which the index has no record: it is not kept, or must not be written. */
  readonly #sightings: Sightings;

  constructor(stored: StoredSessions, index: SessionIndex | undefined, view: SessionView, sightings: Sightings) {
    this.#stored = stored;
    this.#index = index;
    this.#view = view;
    this.#sightings = sightings;
  }

  /** Each session, or undefined where there is none. `accessed`: the last accesses that the index gave with these ids. */
  async read(ids: readonly string[], accessed?: readonly (number | undefined)[]): Promise<(Session | undefined)[]> {
    if (ids.length === 0) return [];
    const [stored, records, times] = await Promise.all([
      this.#stored.read(ids),
      this.#index?.records(ids) ?? [],
      accessed ?? this.#index?.accesses(ids) ?? [],
    ]);
    await this.#seeNew(stored, records);
    return stored.map((each, at) => {
      if (each === undefined) return undefined;
      return sessionOf(this.#view, each, this.#known(each, records[at], times[at]));
    });
  }

  #known({ id, record }: StoredSession, indexed: IndexRecord | undefined, accessedTime: number | undefined): Known {
    if (indexed !== undefined) {
      return { creationTime: indexed.creationTime, firstSeenTime: indexed.firstSeenTime, accessedTime };
    }
    const { creationTime, firstSeenTime, lastUsedTime } = this.#sightings.see(id, record, false);
    return { creationTime, firstSeenTime, accessedTime: accessedTime ?? lastUsedTime };
  }

  /** Records those sessions that the index did not know, so that the time at which they were first seen stays. */
  async #seeNew(stored: readonly (StoredSession | undefined)[], records: (IndexRecord | undefined)[]): Promise<void> {
    if (this.#index === undefined) return;
    const fresh = stored.flatMap((each, at) => (each === undefined || records[at] !== undefined ? [] : [at]));
    if (fresh.length === 0) return;
    try {
      await this.#index.fill(fresh.map((at) => indexedOf(this.#view, stored[at]!)));
      const found = await this.#index.records(fresh.map((at) => stored[at]!.id));
      for (const [number, at] of fresh.entries()) records[at] = found[number];
    } catch {
      // One who may only read: then this process remembers.
    }
  }
}

import type { SessionRecord } from "../../../sessions/principal.ts";
import { expiryTime } from "./record.ts";
import type { StoreWatcher } from "./watch.ts";

/** What this process saw of a session that its store does not keep. Times are milliseconds since the epoch. */
export interface Sighting {
  /** Set only if this process saw the session being created. */
  readonly creationTime: number | undefined;
  readonly firstSeenTime: number;
  /** When it was last saved or touched; undefined: not since it was first seen. */
  lastUsedTime: number | undefined;
  /** When its store may silently drop it; undefined: unknown. */
  expiryTime: number | undefined;
}

const MIN_SWEEP_SIZE = 256;

/**
 * Remembers sightings of the sessions of one store, at most `limit`; watches the store as a `StoreWatcher`.
 *
 * Stores drop expired sessions silently, so sightings are swept whenever their number has doubled since the last sweep, or
 * as many as the limit have been added since: a constant cost per session, no timer, and never more than twice the live
 * ones or 256. Beyond the limit it forgets the sessions seen first; their creation time is then unknown.
 */
export class Sightings implements StoreWatcher {
  readonly #limit: number;
  readonly #byId = new Map<string, Sighting>();
  #sweepAt = MIN_SWEEP_SIZE;
  #newSinceSweep = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#byId.size;
  }

  /**
   * Notes that the session exists and returns what is known of it.
   *
   * @param made whether it was created just now
   */
  see(id: string, session: SessionRecord | undefined, made: boolean): Sighting {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const now = Date.now();
    const sighting: Sighting = {
      creationTime: made ? now : undefined,
      firstSeenTime: now,
      lastUsedTime: undefined,
      expiryTime: expiryTime(session),
    };
    if (this.#byId.size >= this.#sweepAt || this.#newSinceSweep >= this.#limit) this.#sweep(now);
    this.#makeRoom();
    this.#newSinceSweep++;
    this.#byId.set(id, sighting);
    return sighting;
  }

  saved(id: string, session: SessionRecord, made: boolean): void {
    this.see(id, session, made);
    this.used(id, session);
  }

  loaded(id: string, session: SessionRecord): void {
    this.see(id, session, false);
  }

  ended(id: string): void {
    this.forget(id);
  }

  /** Notes a use. Ignores sessions never seen, since the store may not have them. */
  used(id: string, session: SessionRecord): void {
    const sighting = this.#byId.get(id);
    if (sighting === undefined) return;
    sighting.lastUsedTime = Date.now();
    sighting.expiryTime = expiryTime(session);
  }

  /** Forgets the session, unless it was first seen at `time` or later. */
  forget(id: string, time = Number.POSITIVE_INFINITY): void {
    const sighting = this.#byId.get(id);
    if (sighting !== undefined && sighting.firstSeenTime < time) this.#byId.delete(id);
  }

  cleared(): void {
    this.#byId.clear();
    this.#sweepAt = MIN_SWEEP_SIZE;
  }

  /** Forgets the sessions that no longer exist, unless they were first seen at `time` or later. */
  keepOnly(exists: (id: string) => boolean, time: number): void {
    for (const [id, sighting] of this.#byId) {
      if (sighting.firstSeenTime < time && !exists(id)) this.#byId.delete(id);
    }
  }

  #sweep(now: number): void {
    for (const [id, sighting] of this.#byId) {
      if (sighting.expiryTime !== undefined && sighting.expiryTime <= now) this.#byId.delete(id);
    }
    this.#sweepAt = Math.max(MIN_SWEEP_SIZE, 2 * this.#byId.size);
    this.#newSinceSweep = 0;
  }

  #makeRoom(): void {
    for (const id of this.#byId.keys()) {
      if (this.#byId.size < this.#limit) break;
      this.#byId.delete(id);
    }
  }
}

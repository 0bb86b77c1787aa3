import { LatestMap } from "../../../common/latest-map.ts";
import type { SessionRecord } from "../../../sessions/principal.ts";
import type { StoreWatcher } from "../../kit/connect-session/watch.ts";
import type { IndexPruning } from "../../kit/redis/index-pruning.ts";
import type { SessionIndex } from "../../kit/redis/session-index.ts";
import type { Corrections } from "./corrections.ts";
import type { SessionView } from "./session-view.ts";
import { nextExpiry } from "./settings.ts";

/** What this process last wrote about a session. */
interface Written {
  readonly username: string | undefined;
  /** Milliseconds since the epoch; undefined: it was only loaded. */
  readonly time: number | undefined;
  readonly expiryTime: number | undefined;
  readonly creationTime: number | undefined;
}

const MAX_WRITTEN = 100_000;

/**
 * Keeps the index by what passes through the store. A session that is used again and again is written at most once in
 * `intervalMs`, unless its user or its lifetime changes.
 */
export class IndexWriter implements StoreWatcher {
  readonly #index: SessionIndex;
  readonly #view: SessionView;
  readonly #corrections: Corrections;
  readonly #intervalMs: number;
  readonly #written = new LatestMap<string, Written>(MAX_WRITTEN);
  readonly #pruning: IndexPruning;

  constructor(
    index: SessionIndex,
    view: SessionView,
    corrections: Corrections,
    pruning: IndexPruning,
    intervalMs: number,
  ) {
    this.#index = index;
    this.#view = view;
    this.#corrections = corrections;
    this.#pruning = pruning;
    this.#intervalMs = intervalMs;
  }

  saved(id: string, record: SessionRecord, made: boolean): void {
    this.#note(id, record, made, nextExpiry(this.#view.settings, record));
  }

  used(id: string, record: SessionRecord): void {
    const { disableTouch, disableTTL } = this.#view.settings;
    const stays = disableTouch && !disableTTL;
    this.#note(id, record, false, stays ? this.#written.get(id)?.expiryTime : nextExpiry(this.#view.settings, record));
  }

  loaded(id: string, record: SessionRecord): void {
    if (this.#written.has(id)) return;
    const username = this.#view.principal(record);
    this.#written.set(id, { username, time: undefined, expiryTime: undefined, creationTime: undefined });
  }

  /** Removes a session that has ended. @param record what it was, if that is known */
  ended(id: string, record?: SessionRecord): void {
    const username = record === undefined ? this.#written.get(id)?.username : this.#view.principal(record);
    this.#written.delete(id);
    this.#index.remove([id], username).catch(() => this.#corrections.doubt(id, username));
  }

  cleared(): void {
    this.#written.clear();
    this.#corrections.withdraw();
  }

  #note(id: string, record: SessionRecord, made: boolean, expiryTime: number | undefined): void {
    const now = Date.now();
    const before = this.#written.get(id);
    const username = this.#view.principal(record);
    if (!made && before !== undefined && !this.#differs(before, username, now, expiryTime)) return;
    const creationTime = made ? now : before?.creationTime;
    this.#written.set(id, { username, time: now, expiryTime, creationTime });
    if (before !== undefined && before.username !== username) this.#leave(before.username, id);
    if (expiryTime === undefined) {
      // Only the store knows it, and a correction asks the store.
      if (made) this.#corrections.lost(id, username);
      else if (before?.time === undefined) this.#corrections.doubt(id, username);
      this.#index.use(id, now, !made && before?.time !== undefined).catch(() => {});
      return;
    }
    const session = { id, username, expiryTime, accessedTime: now, creationTime, firstSeenTime: creationTime ?? now };
    this.#index.put(session, made).catch(() => {
      this.#written.delete(id);
      this.#corrections.lost(id, username);
    });
    this.#pruning.written();
  }

  /** The session is no longer this user's. */
  #leave(username: string | undefined, id: string): void {
    this.#index.removeFromUser(username, [id]).catch(() => this.#corrections.doubt(id, username));
  }

  #differs(before: Written, username: string | undefined, now: number, expiryTime: number | undefined): boolean {
    if (before.time === undefined || before.username !== username) return true;
    if (now - before.time >= this.#intervalMs) return true;
    return Math.abs((expiryTime ?? 0) - (before.expiryTime ?? 0)) >= this.#intervalMs;
  }
}

import type { IndexClaim } from "../../kit/redis/index-claim.ts";
import type { SessionIndex } from "../../kit/redis/session-index.ts";
import { indexedOf, type SessionView } from "./session-view.ts";
import type { StoredSession, StoredSessions } from "./stored-sessions.ts";

interface Correction {
  /** Users under whose name the session was found, or may be. */
  readonly usernames: Set<string>;
  /** A write of the index failed: until it is made up for, the index may lack the session. */
  lost: boolean;
}

const DELAY = 1000;
const BATCH = 500;
const LIMIT = 10_000;
/** As often as corrections have to fail, one after the other, before the index is given up as whole by another way. */
const FAILURES = 3;

/**
 * Sessions of which the index may say something else than the store: those whose write failed, and those that were found
 * to be gone or somebody else's. A second later each is read again, and the index made to say what the store does. Not at
 * once, because the application's own commands may be between the index and the store just then; and again and again
 * where Redis is out of reach.
 *
 * Where the index has a connection of its own that stays broken while the store's works, sessions are written that the
 * index lacks, and a process that ends then leaves nobody who knows. So the claim is withdrawn by the store's connection.
 */
export class Corrections {
  readonly #stored: StoredSessions;
  readonly #index: SessionIndex;
  readonly #view: SessionView;
  readonly #claimByStore: IndexClaim | undefined;
  #failures = 0;
  #waiting = new Map<string, Correction>();
  #inHand = new Map<string, Correction>();
  #withdraw = false;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /** @param claimByStore the index's claim by the store's connection, where the index has another */
  constructor(stored: StoredSessions, index: SessionIndex, view: SessionView, claimByStore?: IndexClaim) {
    this.#claimByStore = claimByStore;
    this.#stored = stored;
    this.#index = index;
    this.#view = view;
  }

  /** Whether the index may lack sessions that this process knows of. */
  get outstanding(): boolean {
    return this.#withdraw || hasLost(this.#inHand) || hasLost(this.#waiting);
  }

  /** A write of the session did not reach the index. */
  lost(id: string, username: string | undefined): void {
    this.#add(id, username, true);
  }

  /** The index has the session, under the name of this user perhaps, and the store has not. */
  doubt(id: string, username?: string): void {
    this.#add(id, username, false);
  }

  /** The index can no longer be said to hold all. */
  withdraw(): void {
    this.#withdraw = true;
    this.#schedule(0);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #add(id: string, username: string | undefined, lost: boolean): void {
    const known = this.#waiting.get(id);
    if (known === undefined && this.#waiting.size >= LIMIT) {
      if (lost) this.withdraw();
      return;
    }
    const correction = known ?? { usernames: new Set<string>(), lost: false };
    if (username !== undefined) correction.usernames.add(username);
    correction.lost ||= lost;
    this.#waiting.set(id, correction);
    this.#schedule(DELAY);
  }

  #schedule(delay: number): void {
    if (this.#stopped || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#correct()
        .then(() => {
          this.#failures = 0;
        })
        .catch(() => this.#putBack())
        .finally(() => {
          this.#timer = undefined;
          if (this.#waiting.size > 0 || this.#withdraw) this.#schedule(DELAY);
        });
    }, delay);
    this.#timer.unref();
  }

  async #correct(): Promise<void> {
    if (this.#withdraw) {
      await this.#index.claim.withdraw();
      this.#withdraw = false;
    }
    this.#inHand = new Map([...this.#waiting].slice(0, BATCH));
    for (const id of this.#inHand.keys()) this.#waiting.delete(id);
    await Promise.all(
      [...this.#inHand].flatMap(([id, { usernames }]) =>
        [...usernames].map((username) => this.#index.removeFromUser(username, [id])),
      ),
    );
    const ids = [...this.#inHand.keys()];
    const sessions = await this.#stored.read(ids);
    await Promise.all(sessions.map((session, at) => this.#agree(ids[at]!, session)));
    this.#inHand = new Map();
  }

  #putBack(): void {
    for (const [id, { usernames, lost }] of this.#inHand) {
      for (const username of [undefined, ...usernames]) this.#add(id, username, lost);
    }
    this.#inHand = new Map();
    // Again each time: another process may have made the claim anew meanwhile.
    if (++this.#failures >= FAILURES && this.outstanding) this.#claimByStore?.withdraw().catch(() => {});
  }

  async #agree(id: string, session: StoredSession | undefined): Promise<void> {
    if (session === undefined) await this.#index.remove([id]);
    else await this.#index.put(indexedOf(this.#view, session), false);
  }
}

function hasLost(corrections: ReadonlyMap<string, Correction>): boolean {
  for (const { lost } of corrections.values()) if (lost) return true;
  return false;
}

import type { IndexClaim } from "../../kit/redis/index-claim.ts";
import type { SessionIndex } from "../../kit/redis/session-index.ts";
import { indexedOf, type SessionView } from "./session-view.ts";
import type { StoredSessions } from "./stored-sessions.ts";

interface Correction {
  /** Users whose index has the session, or may have it; undefined: no user. */
  readonly usernames: Set<string | undefined>;
  /** A write failed: until it is repeated, the index may lack the session. */
  lost: boolean;
}

const DELAY_MS = 1000;
const BATCH = 500;
const LIMIT = 10_000;
/** After how many failed attempts in a row the claim is withdrawn through the store's connection. */
const MAX_FAILURES = 3;

/**
 * Corrects the index for sessions on which it may disagree with the store: those whose write failed, and those that turned
 * out to be gone or another user's. A second later each is read again and the index updated. Not at once, because the
 * application's own commands may be between the index and the store at that moment; and repeatedly while Redis is out of
 * reach.
 *
 * If the index has a connection of its own (option `redis`) whose password is revoked, the application goes on writing
 * sessions that the index lacks; after a restart "end all sessions of this user" would miss them without a sign. So the
 * claim is withdrawn through the store's connection.
 */
export class Corrections {
  readonly #stored: StoredSessions;
  readonly #index: SessionIndex;
  readonly #view: SessionView;
  readonly #claimByStore: IndexClaim | undefined;
  #failures = 0;
  #waiting = new Map<string, Correction>();
  #inProgress = new Map<string, Correction>();
  #withdraw = false;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /** @param claimByStore the index's claim through the store's connection, if the index has another connection */
  constructor(stored: StoredSessions, index: SessionIndex, view: SessionView, claimByStore?: IndexClaim) {
    this.#claimByStore = claimByStore;
    this.#stored = stored;
    this.#index = index;
    this.#view = view;
  }

  /** Whether the index may lack sessions that this process knows of. */
  get outstanding(): boolean {
    return this.#withdraw || hasLost(this.#inProgress) || hasLost(this.#waiting);
  }

  /** Notes that a write of the session did not reach the index. */
  lost(id: string, username: string | undefined): void {
    this.#add(id, username, true);
  }

  /** Notes that the index may have a session, perhaps of this user, that the store has not. */
  doubt(id: string, username?: string): void {
    this.#add(id, username, false);
  }

  /** Withdraws the claim that the index holds every session. */
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
    const correction = known ?? { usernames: new Set([undefined]), lost: false };
    correction.usernames.add(username);
    correction.lost ||= lost;
    this.#waiting.set(id, correction);
    this.#schedule(DELAY_MS);
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
          if (this.#waiting.size > 0 || this.#withdraw) this.#schedule(DELAY_MS);
        });
    }, delay);
    this.#timer.unref();
  }

  async #correct(): Promise<void> {
    if (this.#withdraw) {
      await this.#index.claim.withdraw();
      this.#withdraw = false;
    }
    this.#inProgress = new Map([...this.#waiting].slice(0, BATCH));
    for (const id of this.#inProgress.keys()) this.#waiting.delete(id);
    const ids = [...this.#inProgress.keys()];
    const gone = await this.#agree(ids);
    // One may have been saved again in between.
    if (gone.length > 0) await this.#agree(gone);
    this.#inProgress = new Map();
  }

  #putBack(): void {
    for (const [id, { usernames, lost }] of this.#inProgress) {
      for (const username of usernames) this.#add(id, username, lost);
    }
    this.#inProgress = new Map();
    // Again each time: another process may have renewed the claim meanwhile.
    if (++this.#failures >= MAX_FAILURES && this.outstanding) this.#claimByStore?.withdraw().catch(() => {});
  }

  /** Makes the index agree with what the store has of these sessions. Resolves to the ids of those that are gone. */
  async #agree(ids: readonly string[]): Promise<string[]> {
    const sessions = await this.#stored.read(ids);
    await Promise.all(
      sessions.map(async (stored, at) => {
        const id = ids[at]!;
        const session = stored && indexedOf(this.#view, stored);
        await (session === undefined ? this.#index.remove([id]) : this.#index.put(session, false));
        const { usernames } = this.#inProgress.get(id)!;
        const others = [...usernames].filter((username) => session === undefined || username !== session.username);
        await Promise.all(others.map((username) => this.#index.removeFromUser(username, [id])));
      }),
    );
    return ids.filter((_, at) => sessions[at] === undefined);
  }
}

function hasLost(corrections: ReadonlyMap<string, Correction>): boolean {
  for (const { lost } of corrections.values()) if (lost) return true;
  return false;
}

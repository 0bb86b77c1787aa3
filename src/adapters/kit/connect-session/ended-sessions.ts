import { RecentIds } from "./recent-ids.ts";
import { Writes } from "./writes.ts";

const REFUSED_FOR = 60_000;
const MAX_REFUSED = 10_000;
const MAX_WAIT = 5_000;

/**
 * What keeps a session ended that an operator has ended, in one store: a request that was under way then would save it
 * again. For 60 seconds, and for the last 10,000 sessions, nothing is to be saved under its id; and a save that was on its
 * way to the store already is waited for, for at most 5 seconds, and then undone.
 */
export class EndedSessions {
  readonly #refused = new RecentIds(REFUSED_FOR, MAX_REFUSED);
  readonly #writes = new Writes();

  /** Whether nothing may be saved under this id now. */
  refuses(id: string): boolean {
    return this.#refused.has(id);
  }

  /** A write of the session begins. Returns what to call when the store has answered. */
  writing(id: string): () => void {
    return this.#writes.begin(id);
  }

  /**
   * Ends the session by `destroy`, which may be called twice, and resolves to what it resolved to first. Where it fails,
   * the session may be saved as before; one that had been ended already stays refused.
   */
  async end<T>(id: string, destroy: () => Promise<T>): Promise<T> {
    const writing = this.#writes.underWay(id);
    const before = this.#refused.has(id);
    this.#refused.add(id);
    try {
      const result = await destroy();
      if (writing === undefined) return result;
      if (await settledWithin(MAX_WAIT, writing)) await destroy();
      else writing.then(destroy).catch(() => {});
      return result;
    } catch (error) {
      if (!before) this.#refused.delete(id);
      throw error;
    }
  }
}

async function settledWithin(milliseconds: number, promise: Promise<void>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, milliseconds, false);
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

import { ActuatorError } from "../error.ts";
import type { Session } from "./session.ts";
import { isSessionId } from "./session-id.ts";
import type { SessionStore } from "./store.ts";

const MAX_USERNAME_LENGTH = 1024;

/**
 * The sessions of an application: what an operator can do with them, whatever store keeps them.
 *
 * A store out of reach makes each method reject with an `ActuatorError` of code UNAVAILABLE.
 */
export class Sessions {
  readonly #store: SessionStore;

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /**
   * The session of this id; undefined where the store has none. As in the original, a session that has expired is not
   * found by its id, though the search by user shows it while its store still keeps it.
   */
  async find(id: string): Promise<Session | undefined> {
    if (!isSessionId(id)) return undefined;
    const session = await this.#store.findById(id);
    return session?.expired ? undefined : session;
  }

  /**
   * The sessions of the user, newest access first, then by id. Nobody's sessions are no user's: an empty name finds none,
   * and neither does one over 1,024 UTF-16 code units.
   *
   * @throws ActuatorError UNIMPLEMENTED where the store cannot search by user.
   */
  async findByUsername(username: string): Promise<readonly Session[]> {
    const store = this.#store;
    if (store.findByUsername === undefined) {
      const reason = store.limits?.findByUsername ?? `The ${store.kind} store cannot search by user.`;
      throw new ActuatorError("UNIMPLEMENTED", "FIND_BY_USERNAME_UNSUPPORTED", reason);
    }
    if (username === "" || username.length > MAX_USERNAME_LENGTH) return [];
    return [...(await store.findByUsername(username)).sessions].sort(byNewestAccess);
  }

  /** Ends the session, also one that has expired. Resolves to whether the store had it. */
  async delete(id: string): Promise<boolean> {
    return isSessionId(id) && (await this.#store.delete?.(id)) === true;
  }
}

function byNewestAccess(a: Session, b: Session): number {
  return (b.lastAccessedTime ?? b.firstSeenTime) - (a.lastAccessedTime ?? a.firstSeenTime) || (a.id < b.id ? -1 : 1);
}

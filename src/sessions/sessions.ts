import { ActuatorError } from "../error.ts";
import type { Session } from "./session.ts";
import type { SessionStore } from "./store.ts";

/** The sessions of an application: what an operator can do with them, whatever store keeps them. */
export class Sessions {
  readonly #store: SessionStore;

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /** The session of this id; undefined where the store has none. */
  find(id: string): Promise<Session | undefined> {
    return this.#store.findById(id);
  }

  /**
   * The sessions of the user, newest access first, then by id. Nobody's sessions are no user's: an empty name finds none.
   *
   * @throws ActuatorError UNIMPLEMENTED where the store cannot search by user.
   */
  async findByUsername(username: string): Promise<readonly Session[]> {
    const store = this.#store;
    if (store.findByUsername === undefined) {
      const reason = store.limits?.findByUsername ?? `The ${store.kind} store cannot search by user.`;
      throw new ActuatorError("UNIMPLEMENTED", "FIND_BY_USERNAME_UNSUPPORTED", reason);
    }
    if (username === "") return [];
    return [...(await store.findByUsername(username))].sort(byNewestAccess);
  }

  /** Ends the session. Resolves to whether it existed. */
  delete(id: string): Promise<boolean> {
    return this.#store.delete(id);
  }
}

function byNewestAccess(a: Session, b: Session): number {
  return (b.lastAccessedTime ?? b.firstSeenTime) - (a.lastAccessedTime ?? a.firstSeenTime) || (a.id < b.id ? -1 : 1);
}

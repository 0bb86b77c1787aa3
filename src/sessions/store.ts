import type { Session } from "./session.ts";

/**
 * A place where sessions are kept, as the core sees it. Reading never counts as an access to the session.
 *
 * A store that cannot do something leaves the method out and says why in `limits`. A store out of reach rejects with an
 * `ActuatorError` of code UNAVAILABLE, within a bounded time.
 */
export interface SessionStore {
  /** What keeps the sessions, such as "memory" or "express-session". */
  readonly kind: string;
  /** The session of this id; undefined where there is none. */
  findById(id: string): Promise<Session | undefined>;
  /** Every session of the user, compared exactly; in any order. */
  findByUsername?(username: string): Promise<readonly Session[]>;
  /** Ends the session. Resolves to whether it existed; a session that is gone is no error. */
  delete(id: string): Promise<boolean>;
  /** Leaves what the store watches as it was. Called when the actuator ends. */
  detach?(): void;
  /** For each method left out, a sentence for the operator that says why. */
  readonly limits?: { readonly findByUsername?: string };
}

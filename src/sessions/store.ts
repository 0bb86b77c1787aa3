import type { Session } from "./session.ts";

/**
 * A place where sessions are kept, as the core sees it. Reading never counts as an access to the session, and the ids here
 * are the store's own: what callers see in their place is the domain's concern.
 *
 * A store that cannot do something leaves the method out and says why in `limits`. A store out of reach rejects with an
 * `ActuatorError` of code UNAVAILABLE, within a bounded time.
 */
export interface SessionStore {
  /** What keeps the sessions, such as "memory" or "connect-redis". */
  readonly kind: string;
  /**
   * True where the id alone lets its holder in, because the store keeps bearer tokens. Such ids are never shown, whatever
   * the configuration says.
   */
  readonly bearerIds?: boolean;
  /** The session of this id, also one that has expired and is still kept; undefined where there is none. */
  findById(id: string): Promise<Session | undefined>;
  /** Every session of the user, compared exactly; in any order. */
  findByUsername?(username: string): Promise<SessionSearch>;
  /** One page of all sessions, in an order that stays the same from page to page. */
  list?(query: SessionQuery): Promise<SessionPage>;
  /** How many sessions there are; undefined where it cannot be told within the bounds of a search. */
  count?(query: Pick<SessionQuery, "active">): Promise<number | undefined>;
  /**
   * The id of which `sessionDigest` makes this, through an index of the store; undefined where the index has none. null:
   * it has none, and it holds every session there is, so that nobody has to search for it.
   */
  findIdByDigest?(digest: string): Promise<string | null | undefined>;
  /** Ends the session. Resolves to whether it existed; a session that is gone is no error. */
  delete?(id: string): Promise<boolean>;
  /** Leaves what the store watches as it was, and ends connections of its own. Called when the actuator ends. */
  detach?(): void | Promise<void>;
  /** For each method left out, a sentence for the operator that says why, and what would change it. */
  readonly limits?: SessionStoreLimits;
}

/** Why a store leaves a method out. */
export interface SessionStoreLimits {
  readonly findById?: string | undefined;
  readonly findByUsername?: string | undefined;
  readonly list?: string | undefined;
  readonly delete?: string | undefined;
}

/** What a search found. */
export interface SessionSearch {
  readonly sessions: readonly Session[];
  /** True where the search was cut off by a bound, so that sessions may be missing. */
  readonly partial: boolean;
}

/** Selects sessions of a list. */
export interface SessionQuery {
  /** The greatest number of sessions in the page, at least 1. */
  readonly limit: number;
  /** Where the page before ended: its `next`. Only what this store gave out for the same `active` comes here. */
  readonly after?: string | undefined;
  /** true: only sessions that have not expired; false: only those that have; undefined: both. */
  readonly active?: boolean | undefined;
}

/** A page of a list: newest access first where the store can, as its `kind` documents. */
export interface SessionPage extends SessionSearch {
  /** The position that the next page begins after; undefined: this was the last page. A page before the last may be empty. */
  readonly next?: string | undefined;
}

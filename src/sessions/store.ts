import { ActuatorError } from "../common/error.ts";
import type { Session } from "./session.ts";

/**
 * The port between the domain and a place where sessions are kept. Reading never counts as an access to the session. The
 * ids here are the store's own; the domain decides what callers see instead.
 *
 * A store that cannot do something leaves the method out and says why in `limits`. A store that is out of reach rejects
 * with an `ActuatorError` of code UNAVAILABLE, within a bounded time.
 */
export interface SessionStore {
  /** What keeps the sessions, such as "memory" or "connect-redis". */
  readonly kind: string;
  /**
   * True if an id alone grants access to its session, because the store keeps bearer tokens. Such ids are never shown,
   * whatever the configuration says.
   */
  readonly bearerIds?: boolean;
  /** Finds the session with this id, expired or not, as long as the store keeps it; undefined if there is none. */
  findById(id: string): Promise<Session | undefined>;
  /** Finds every session of the user, compared exactly; in any order. */
  findByUsername?(username: string): Promise<SessionSearch>;
  /** Returns one page of all sessions, in an order that stays the same from page to page. */
  list?(query: SessionQuery): Promise<SessionPage>;
  /** Counts the sessions; undefined if the bounds of a search do not suffice. */
  count?(query: Pick<SessionQuery, "active">): Promise<number | undefined>;
  /**
   * Finds the id with this `sessionDigest` through an index of the store; undefined if the index lacks it. null: the index
   * lacks it and holds every session, so searching for it would be pointless.
   */
  findIdByDigest?(digest: string): Promise<string | null | undefined>;
  /** Ends the session. Resolves to whether it existed; a session that is gone is not an error. */
  delete?(id: string): Promise<boolean>;
  /** Returns what an operator should change, such as what may make answers partial; each is a sentence or two. */
  warnings?(): Promise<readonly string[]>;
  /** Restores what the store watches and closes its own connections. Called when the actuator closes. */
  detach?(): void | Promise<void>;
  /** For each method left out, a sentence that tells the operator why, and what would change it. */
  readonly limits?: SessionStoreLimits;
}

/** Why a store leaves a method out. */
export interface SessionStoreLimits {
  readonly findById?: string | undefined;
  readonly findByUsername?: string | undefined;
  readonly list?: string | undefined;
  readonly delete?: string | undefined;
}

/** The result of a search. */
export interface SessionSearch {
  readonly sessions: readonly Session[];
  /** True if a bound cut the search off, so that sessions may be missing. */
  readonly partial: boolean;
}

/** Selects sessions of a list. */
export interface SessionQuery {
  /** The greatest number of sessions in the page, at least 1. */
  readonly limit: number;
  /** Where the page before ended: its `next`. Only positions that this store issued for the same `active` arrive here. */
  readonly after?: string | undefined;
  /** true: only sessions that have not expired; false: only those that have; undefined: both. */
  readonly active?: boolean | undefined;
}

/** A page of a list: newest access first if the store can, as its adapter documents. */
export interface SessionPage extends SessionSearch {
  /** The position after which the next page begins; undefined: this was the last page. Any page may be empty. */
  readonly next?: string | undefined;
}

/** The optional abilities of a store, with the error for a store without them. */
const ABILITIES = {
  findByUsername: { reason: "FIND_BY_USERNAME_UNSUPPORTED", message: "cannot search by user" },
  list: { reason: "LIST_ALL_UNSUPPORTED", message: "cannot list its sessions" },
  delete: { reason: "DELETE_UNSUPPORTED", message: "cannot end sessions from outside: only the application can" },
} as const;

/** @throws ActuatorError UNIMPLEMENTED if no session can be reached at all, such as when they live in cookies. */
export function requireReach({ limits }: SessionStore): void {
  if (limits?.findById !== undefined) throw unsupported("SESSIONS_UNREACHABLE", limits.findById);
}

/** @throws ActuatorError UNIMPLEMENTED with the reason if the store lacks the method. */
export function requireAbility<Ability extends keyof typeof ABILITIES>(
  store: SessionStore,
  ability: Ability,
): asserts store is SessionStore & Required<Pick<SessionStore, Ability>> {
  requireReach(store);
  if (store[ability] !== undefined) return;
  const { reason, message } = ABILITIES[ability];
  throw unsupported(reason, store.limits?.[ability] ?? `The ${store.kind} store ${message}.`);
}

/** For each method that the store lacks, why, and what would change it. Nothing else works either if sessions cannot be found by id. */
export function limitsOf(store: SessionStore): Readonly<Record<string, string>> {
  const { kind, limits } = store;
  const all = [...Object.entries(ABILITIES), ["count", { message: "cannot count its sessions" }] as const];
  const lacking = all.flatMap(([ability, { message }]) => {
    if (store[ability as keyof SessionStore] !== undefined && limits?.findById === undefined) return [];
    return [
      [ability, limits?.[ability as keyof SessionStoreLimits] ?? limits?.findById ?? `The ${kind} store ${message}.`],
    ];
  });
  return { ...(limits?.findById !== undefined && { findById: limits.findById }), ...Object.fromEntries(lacking) };
}

function unsupported(reason: string, message: string): ActuatorError {
  return new ActuatorError("UNIMPLEMENTED", reason, message);
}

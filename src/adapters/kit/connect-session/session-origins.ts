import type { SessionRecord } from "../../../sessions/principal.ts";
import { RecentIds } from "./recent-ids.ts";

/**
 * What is sure of a session that is being saved. Of one without a request, which other code put there, nothing is; no more
 * of one that is saved under another id than its own.
 */
export interface Origin {
  /** It did not exist before. */
  readonly made: boolean;
  /** The store has had it: it gave it out, or has taken a save of it. */
  readonly stored: boolean;
}

const UNSURE: Origin = { made: false, stored: false };
const REMEMBERED_FOR = 600_000;
const MAX_REMEMBERED = 100_000;

/**
 * Where the sessions of requests come from that a store is told to save.
 *
 * express-session makes a request's session anew or has `createSession` make it of what the store gave: what it saves
 * without having been stored before is new. @fastify/session makes a new object each time; there it is the ids that the
 * store gave out or has taken that count, as far as they can be remembered.
 */
export class SessionOrigins {
  readonly #ofExpress: () => boolean;
  /** Records that the store gave out, with the id of each. */
  readonly #given = new WeakMap<object, string>();
  /** Sessions of express-session that are not new. */
  readonly #known = new WeakSet<object>();
  /** Those that the store has had. */
  readonly #stored = new WeakSet<object>();
  /** The same for @fastify/session. */
  readonly #ids = new RecentIds(REMEMBERED_FOR, MAX_REMEMBERED);

  /** @param ofExpress whether the store is used by express-session */
  constructor(ofExpress: () => boolean) {
    this.#ofExpress = ofExpress;
  }

  /** The store gave out a session. */
  given(id: string, record: SessionRecord): void {
    if (this.#ofExpress()) this.#given.set(record, id);
    else this.#ids.add(id);
  }

  /** express-session made a session of a record. The application may have it from elsewhere, and it may be as old as it likes. */
  inflated(session: object, record: SessionRecord | undefined): void {
    this.#known.add(session);
    if (record !== undefined && isUnderItsId(this.#given.get(record), session)) this.#stored.add(session);
  }

  /** The session is being saved. */
  saving(id: string, session: SessionRecord): Origin {
    if (isOfExpress(session)) {
      if (!isUnderItsId(id, session)) return UNSURE;
      const made = !this.#known.has(session);
      this.#known.add(session);
      return { made, stored: this.#stored.has(session) };
    }
    if (!isOfFastify(session) || this.#ofExpress()) return UNSURE;
    const stored = this.#ids.has(id);
    return { made: !stored && this.#ids.complete, stored };
  }

  /** The store has taken a save of the session. */
  taken(id: string, session: SessionRecord): void {
    if (isOfExpress(session)) {
      if (isUnderItsId(id, session)) this.#stored.add(session);
    } else if (isOfFastify(session)) this.#ids.add(id);
  }

  /** The application ended the session; what it saves under this id next is another. */
  ended(id: string): void {
    this.#ids.delete(id);
  }
}

/** Whether this is the id that express-session gave the session for good. */
function isUnderItsId(id: string | undefined, session: { readonly id?: unknown }): boolean {
  return id !== undefined && session.id === id;
}

function isOfExpress(session: SessionRecord): boolean {
  return Object.getOwnPropertyDescriptor(session, "req")?.enumerable === false;
}

function isOfFastify(session: SessionRecord): boolean {
  return typeof session.encryptedSessionId === "string";
}

import type { SessionRecord } from "../../../sessions/principal.ts";
import { RecentIds } from "./recent-ids.ts";

/**
 * What is certain of a session that is being saved. Nothing is certain of one without a request, or of one that is saved
 * under an id that is not its own.
 */
export interface Origin {
  /** It did not exist before. */
  readonly made: boolean;
  /** The store has had it: it returned it, or accepted a save of it. */
  readonly stored: boolean;
}

const UNCERTAIN: Origin = { made: false, stored: false };
const REMEMBERED_MS = 600_000;
const MAX_REMEMBERED = 100_000;

/**
 * Determines where the sessions come from that a store is asked to save.
 *
 * express-session creates a request's session anew or lets `createSession` make it from what the store returned: what it
 * saves without having been stored before is new. @fastify/session makes a new object each time; there, the ids count that
 * the store has returned or accepted, as far as they can be remembered.
 */
export class SessionOrigins {
  readonly #isExpress: () => boolean;
  /** Records that the store returned, with their ids. */
  readonly #given = new WeakMap<object, string>();
  /** Sessions of express-session that are not new. */
  readonly #known = new WeakSet<object>();
  /** Those that the store has had. */
  readonly #stored = new WeakSet<object>();
  /** The same for @fastify/session. */
  readonly #ids = new RecentIds(REMEMBERED_MS, MAX_REMEMBERED);

  /** @param isExpress whether express-session uses the store */
  constructor(isExpress: () => boolean) {
    this.#isExpress = isExpress;
  }

  /** The store returned a session. */
  given(id: string, record: SessionRecord): void {
    if (this.#isExpress()) this.#given.set(record, id);
    else this.#ids.add(id);
  }

  /** express-session made a session from a record, which the application may also have from elsewhere. */
  inflated(session: object, record: SessionRecord | undefined): void {
    this.#known.add(session);
    if (record !== undefined && hasId(session, this.#given.get(record))) this.#stored.add(session);
  }

  /** The session is being saved. */
  saving(id: string, session: SessionRecord): Origin {
    if (isOfExpress(session)) {
      if (!hasId(session, id)) return UNCERTAIN;
      const made = !this.#known.has(session);
      this.#known.add(session);
      return { made, stored: this.#stored.has(session) };
    }
    if (!isOfFastify(session) || this.#isExpress()) return UNCERTAIN;
    const stored = this.#ids.has(id);
    return { made: !stored && this.#ids.complete, stored };
  }

  /** The store has accepted a save of the session. */
  taken(id: string, session: SessionRecord): void {
    if (isOfExpress(session)) {
      if (hasId(session, id)) this.#stored.add(session);
    } else if (isOfFastify(session)) this.#ids.add(id);
  }

  /** The application ended the session; what it saves under this id next is another one. */
  ended(id: string): void {
    this.#ids.delete(id);
  }
}

/** Checks whether this is the id that express-session gave the session. */
function hasId(session: { readonly id?: unknown }, id: string | undefined): boolean {
  return id !== undefined && session.id === id;
}

function isOfExpress(session: SessionRecord): boolean {
  return Object.getOwnPropertyDescriptor(session, "req")?.enumerable === false;
}

function isOfFastify(session: SessionRecord): boolean {
  return typeof session.encryptedSessionId === "string";
}

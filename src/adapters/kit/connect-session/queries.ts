import { ActuatorError } from "../../../common/error.ts";
import { type Checks, callable } from "../../../common/options.ts";
import { CONNECT_SESSIONS_OPTIONS, type ConnectReading, type ConnectSessionsOptions } from "./connect-sessions.ts";
import { parseRecord, type SessionEntry } from "./record.ts";
import type { SessionEntries } from "./scan.ts";
import { awaitStore } from "./store.ts";

/** A session's id with its record, as an object or as JSON. */
export type QueriedSession = readonly [id: string, record: unknown];

/** What a query of the application returns: sessions, all at once or as they are read. */
export type QueriedSessions = Iterable<QueriedSession> | AsyncIterable<QueriedSession>;

/** How sessions of a store are read that cannot list them, or lists them without their ids. */
export interface QueriedSessionsOptions extends ConnectSessionsOptions {
  /**
   * Queries the store's table or collection for all sessions, instead of the store's `all`. It is read within `scan`, so that
   * it need not have a limit.
   */
  readonly list?: (() => QueriedSessions | PromiseLike<QueriedSessions>) | undefined;
  /**
   * Queries it for all sessions of a user, by an index. It may return others as well: those that are not of this user by
   * `principal` are left out. Default: all sessions are read.
   */
  readonly findByUsername?: ((username: string) => QueriedSessions | PromiseLike<QueriedSessions>) | undefined;
}

export const QUERIED_SESSIONS_OPTIONS: Checks<QueriedSessionsOptions> = {
  ...CONNECT_SESSIONS_OPTIONS,
  list: callable,
  findByUsername: callable,
};

/** Returns how sessions are read by queries of the application; what it does not query is left out. */
export function queriedReading({
  list,
  findByUsername,
  timeoutMs = 5_000,
}: QueriedSessionsOptions): Pick<ConnectReading, "entries" | "entriesOfUser"> {
  const read = async (query: () => QueriedSessions | PromiseLike<QueriedSessions>): Promise<SessionEntries> =>
    parsed(await awaitStore(timeoutMs, query), timeoutMs);
  return {
    ...(list && { entries: () => read(list) }),
    ...(findByUsername && { entriesOfUser: (username: string) => read(() => findByUsername(username)) }),
  };
}

/** Parses what a query returns, and leaves out what is not a session. */
function parsed(queried: QueriedSessions, timeoutMs: number): SessionEntries {
  if (Array.isArray(queried)) return queried.flatMap(entryOf);
  return stepwise(queried, timeoutMs);
}

async function* stepwise(queried: QueriedSessions, timeoutMs: number): AsyncGenerator<SessionEntry, void> {
  const steps = Symbol.asyncIterator in queried ? queried[Symbol.asyncIterator]() : queried[Symbol.iterator]();
  try {
    for (;;) {
      const { done, value } = await awaitStore(timeoutMs, () => steps.next());
      if (done === true) return;
      yield* entryOf(value);
    }
  } finally {
    // A search that reached its bounds closes the cursor.
    await awaitStore(timeoutMs, () => steps.return?.());
  }
}

function entryOf(queried: QueriedSession): SessionEntry[] {
  const [id, stored] = Array.isArray(queried) ? queried : [];
  if (typeof id !== "string") {
    const message = "The queries of the session adapter must return pairs: [id, record].";
    throw new ActuatorError("FAILED_PRECONDITION", "SESSION_STORE_REFUSED", message);
  }
  const record = parseRecord(stored);
  return record === undefined ? [] : [[id, record]];
}

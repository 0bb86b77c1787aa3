import { postgresError, postgresTimeout } from "./error.ts";
import { MAX_CONNECTIONS, ownPool } from "./own-pool.ts";
import { type PgQueryable, type PostgresJs, sendBy } from "./source.ts";

export type { PgQueryable, PostgresJs } from "./source.ts";

/** A connection to PostgreSQL, as adapters use it. */
export interface PostgresQueries {
  /**
   * Runs one statement and resolves to its rows.
   *
   * @throws ActuatorError UNAVAILABLE if the server is out of reach, has no room (SQLSTATE classes 08, 53, 57) or does not
   * answer in time; FAILED_PRECONDITION if a table, a permission or the like is missing. The native error is its `cause`.
   * Other errors of the server are thrown as they are.
   */
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Closes connections of our own; the application's stay open. */
  close(): Promise<void>;
}

/** What reaches PostgreSQL: the application's own connection, or a URL for one of ours. */
export type PostgresSource = PgQueryable | PostgresJs | string;

/** How statements are sent. */
export interface PostgresQueriesOptions {
  /** Milliseconds to wait for an answer; `Infinity`: as long as it takes. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Connects adapters to PostgreSQL: through the application's pool or client of `pg`, the `sql` of `postgres`, anything with
 * `query(text, values)` that resolves to `{ rows }`, or connections of our own to a URL, which need the package `pg`.
 *
 * At most four statements run at once, so that operators never occupy more of the application's pool. Each settles within
 * the timeout, and a server that is back is reached with the next one.
 *
 * @throws ActuatorError INVALID_ARGUMENT if `source` is none of these.
 * @example
 * const postgres = postgresQueries(pool, { timeoutMs: 1_000 });
 * const rows = await postgres.query<{ sid: string }>("SELECT sid FROM session WHERE sid = $1", [id]);
 */
export function postgresQueries(source: PostgresSource, options: PostgresQueriesOptions = {}): PostgresQueries {
  const { timeoutMs = 5_000 } = options;
  const { send, close } =
    typeof source === "string"
      ? ownPool(source, timeoutMs)
      : { send: sendBy(source, timeoutMs), close: async () => {} };
  const inTurn = turns(MAX_CONNECTIONS);
  return {
    query: <Row>(text: string, values?: readonly unknown[]) =>
      within(timeoutMs, (turn) => inTurn(turn, () => send(text, values))) as Promise<readonly Row[]>,
    close,
  };
}

/** Settles in time, whatever the operation does. How it ends later is ignored and is no unhandled rejection. */
function within<T>(timeoutMs: number, operation: (turn: Turn) => Promise<T>): Promise<T> {
  const turn: Turn = {};
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      const late = postgresTimeout(timeoutMs);
      reject(late);
      turn.giveUp?.(late);
    };
    const timer = Number.isFinite(timeoutMs) ? setTimeout(giveUp, timeoutMs) : undefined;
    operation(turn)
      .then(resolve, (error) => reject(postgresError(error)))
      .finally(() => clearTimeout(timer));
  });
}

/** An operation that may have to wait for its turn, and give the turn up meanwhile. */
interface Turn {
  /** Set while it waits. Calling it later does nothing. */
  giveUp?: (reason: unknown) => void;
}

/** Returns a function that runs at most `limit` operations at once; the others wait for their turn, in order. */
function turns(limit: number): <T>(turn: Turn, operation: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting = new Set<() => void>();

  function next(): void {
    const [first] = waiting;
    if (first === undefined) running--;
    else {
      waiting.delete(first);
      first();
    }
  }

  function wait(turn: Turn): Promise<void> {
    return new Promise((resolve, reject) => {
      waiting.add(resolve);
      turn.giveUp = (reason) => {
        waiting.delete(resolve);
        reject(reason);
      };
    });
  }

  return async (turn, operation) => {
    if (running < limit) running++;
    else await wait(turn);
    try {
      return await operation();
    } finally {
      next();
    }
  };
}

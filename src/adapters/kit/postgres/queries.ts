import type { PostgresQueries } from "./client.ts";
import { postgresError, postgresTimeout } from "./error.ts";
import { MAX_CONNECTIONS, ownPool } from "./own-pool.ts";
import type { Send } from "./prepared.ts";
import { type PgQueryable, type PostgresJs, sendBy } from "./source.ts";
import { type Turn, turns } from "./turns.ts";

/** What reaches PostgreSQL: the application's own connection, or a URL for one of ours. */
export type PostgresSource = PgQueryable | PostgresJs | string;

/** How statements are sent. */
export interface PostgresQueriesOptions {
  /** Milliseconds to wait for an answer; `Infinity`: for as long as it takes. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Statements to PostgreSQL by the application's pool or client of `pg`, by the `sql` of `postgres`, by anything with
 * `query(text, values)` that resolves to `{ rows }`, or by connections of our own to a URL, for which the application
 * installs `pg`.
 *
 * At most four statements run at once, so that an operator never takes more of the application's pool. Each is answered
 * within the timeout, and a server that is back is reached with the next one.
 *
 * @throws ActuatorError INVALID_ARGUMENT where `source` is none of these.
 */
export function postgresQueries(source: PostgresSource, options: PostgresQueriesOptions = {}): PostgresQueries {
  const { timeoutMs: timeout = 5_000 } = options;
  const { send, close } = typeof source === "string" ? ownPool(source, timeout) : borrowed(sendBy(source, timeout));
  const inTurn = turns(MAX_CONNECTIONS);
  return {
    query: <Row>(text: string, values?: readonly unknown[]) =>
      within(timeout, (turn) => inTurn(turn, () => send(text, values))) as Promise<readonly Row[]>,
    close,
  };
}

function borrowed(send: Send): { send: Send; close(): Promise<void> } {
  return { send, close: async () => {} };
}

/** Settles in time, whatever the operation does. How it ends later is nobody's concern, and no unhandled rejection. */
function within<T>(timeout: number, operation: (turn: Turn) => Promise<T>): Promise<T> {
  const turn: Turn = {};
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      const late = postgresTimeout(timeout);
      reject(late);
      turn.giveUp?.(late);
    };
    const timer = Number.isFinite(timeout) ? setTimeout(giveUp, timeout) : undefined;
    operation(turn)
      .then(resolve, (error) => reject(postgresError(error)))
      .finally(() => clearTimeout(timer));
  });
}

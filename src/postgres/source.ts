import { ActuatorError } from "../error.ts";

/** A client or pool of `pg`, or whatever answers a statement with rows as it does. */
export interface PgQueryable {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** The `sql` of the package `postgres`. */
export interface PostgresJs {
  // biome-ignore lint/suspicious/noExplicitAny: the package's own types of parameters are narrower than what it takes.
  unsafe(text: string, values?: any[]): PromiseLike<readonly unknown[]>;
}

/** How statements reach the server. */
export type Send = (text: string, values: readonly unknown[] | undefined) => Promise<readonly unknown[]>;

/**
 * How to send statements by the application's own connection.
 *
 * @throws ActuatorError INVALID_ARGUMENT where it is nothing that can.
 */
export function sendBy(source: PgQueryable | PostgresJs, timeout: number): Send {
  const object = source as Partial<PgQueryable & PostgresJs> | null | undefined;
  // The package's `sql` is a function, and has no `query`.
  if (typeof object?.query === "function") return sendByPg(source as PgQueryable, timeout);
  if (typeof object?.unsafe === "function") return async (text, values) => object.unsafe!(text, values && [...values]);
  const message = 'PostgreSQL is reached by a pool or client of "pg", by the `sql` of "postgres", or by a URL.';
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "postgres" });
}

/**
 * A pool of pg is told the time limit, so that it parts with a connection that has become mute. Without a limit of its own
 * it would keep such a connection, and hand it to the application.
 */
function sendByPg(source: PgQueryable, timeout: number): Send {
  const limited = isPgPool(source) && Number.isFinite(timeout);
  return async (text, values) => {
    const list = values && [...values];
    const statement = limited ? ({ text, values: list, query_timeout: timeout } as unknown as string) : text;
    const { rows } = await (limited || list === undefined ? source.query(statement) : source.query(statement, list));
    return rows;
  };
}

function isPgPool(source: object): boolean {
  return "totalCount" in source && "idleCount" in source && "waitingCount" in source;
}

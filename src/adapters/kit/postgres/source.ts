import { ActuatorError } from "../../../common/error.ts";
import { prepared, type Send } from "./prepared.ts";

/** A client or pool of `pg`, or whatever answers a statement with rows as it does. */
export interface PgQueryable {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** The `sql` of the package `postgres`. */
export interface PostgresJs {
  // biome-ignore lint/suspicious/noExplicitAny: the package's own types of parameters are narrower than what it takes.
  unsafe(text: string, values?: any[]): PromiseLike<readonly unknown[]>;
}

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

/** What a pool of pg takes in the place of a text. */
interface PgStatement {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
  readonly query_timeout?: number;
}

function sendByPg(source: PgQueryable, timeout: number): Send {
  if (isPgPool(source)) return sendByPgPool(source, timeout);
  return async (text, values) =>
    (await (values === undefined ? source.query(text) : source.query(text, [...values]))).rows;
}

/**
 * A pool of pg is told the time limit, so that it parts with a connection that has become mute. Without a limit of its own
 * it would keep such a connection, and hand it to the application.
 */
function sendByPgPool(source: PgQueryable, timeout: number): Send {
  return prepared(async (name, text, values) => {
    const statement: PgStatement = {
      text,
      ...(name !== undefined && { name }),
      ...(values !== undefined && { values: [...values] }),
      ...(Number.isFinite(timeout) && { query_timeout: timeout }),
    };
    return (await source.query(statement as unknown as string)).rows;
  });
}

function isPgPool(source: object): boolean {
  return "totalCount" in source && "idleCount" in source && "waitingCount" in source;
}

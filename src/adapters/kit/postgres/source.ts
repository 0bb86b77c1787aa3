import { createHash } from "node:crypto";
import { ActuatorError } from "../../../common/error.ts";
import { sqlState } from "./error.ts";

/** A client or pool of `pg`, or anything that answers a statement with rows in the same way. */
export interface PgQueryable {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** The `sql` of the package `postgres`. */
export interface PostgresJs {
  // biome-ignore lint/suspicious/noExplicitAny: the package's own types of parameters are narrower than what it takes.
  unsafe(text: string, values?: any[]): PromiseLike<readonly unknown[]>;
}

/** Sends a statement to the server. */
export type Send = (text: string, values: readonly unknown[] | undefined) => Promise<readonly unknown[]>;

/**
 * Returns how to send statements through the application's own connection.
 *
 * @throws ActuatorError INVALID_ARGUMENT if it is not a connection.
 */
export function sendBy(source: PgQueryable | PostgresJs, timeoutMs: number): Send {
  const object = source as Partial<PgQueryable & PostgresJs> | null | undefined;
  // The package's `sql` is a function, and has no `query`.
  if (typeof object?.query === "function") return sendByPg(source as PgQueryable, timeoutMs);
  if (typeof object?.unsafe === "function") return async (text, values) => object.unsafe!(text, values && [...values]);
  const message = 'postgres must be a pool or client of "pg", the `sql` of "postgres", or a URL.';
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "postgres" });
}

/** The statement object that a pool of pg takes. */
interface PgStatement {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
  readonly query_timeout?: number;
}

function sendByPg(source: PgQueryable, timeoutMs: number): Send {
  if (isPgPool(source)) return sendByPgPool(source, timeoutMs);
  return async (text, values) =>
    (await (values === undefined ? source.query(text) : source.query(text, [...values]))).rows;
}

/**
 * Passes the time limit to a pool of pg, so that it closes a connection that no longer answers. Without a limit it would
 * keep such a connection and hand it to the application.
 */
function sendByPgPool(source: PgQueryable, timeoutMs: number): Send {
  return prepared(async (name, text, values) => {
    const statement: PgStatement = {
      text,
      ...(name !== undefined && { name }),
      ...(values !== undefined && { values: [...values] }),
      ...(Number.isFinite(timeoutMs) && { query_timeout: timeoutMs }),
    };
    return (await source.query(statement as unknown as string)).rows;
  });
}

function isPgPool(source: object): boolean {
  return "totalCount" in source && "idleCount" in source && "waitingCount" in source;
}

/** Sends a statement; a connection parses and plans a named one once. */
export type SendNamed = (
  name: string | undefined,
  text: string,
  values: readonly unknown[] | undefined,
) => Promise<readonly unknown[]>;

/** The most statements with names: a connection keeps everything that was prepared on it. */
const MAX_NAMES = 64;

/**
 * SQLSTATEs that show that a pooler before the server hands out connections on which others have prepared statements:
 * invalid_sql_statement_name, duplicate_prepared_statement, and PgBouncer's own refusal.
 */
const NOT_PREPARED = new Set(["26000", "42P05", "08P01"]);

/** Prepares the statements that have values, until that turns out not to work. */
export function prepared(send: SendNamed): Send {
  const names = new Map<string, string>();
  let works = true;

  function nameOf(text: string): string | undefined {
    const known = names.get(text);
    if (known !== undefined || names.size >= MAX_NAMES) return known;
    const name = `actuator_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`;
    names.set(text, name);
    return name;
  }

  return async (text, values) => {
    const name = works && values !== undefined ? nameOf(text) : undefined;
    if (name === undefined) return send(undefined, text, values);
    try {
      return await send(name, text, values);
    } catch (error) {
      if (!NOT_PREPARED.has(sqlState(error) ?? "")) throw error;
      // The statement was refused before it ran.
      works = false;
      return send(undefined, text, values);
    }
  };
}

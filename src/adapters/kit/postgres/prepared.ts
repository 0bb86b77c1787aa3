import { createHash } from "node:crypto";
import { sqlState } from "./error.ts";

/** How statements reach the server. */
export type Send = (text: string, values: readonly unknown[] | undefined) => Promise<readonly unknown[]>;

/** Sends a statement: under a name, a connection parses and plans it once. */
export type SendNamed = (
  name: string | undefined,
  text: string,
  values: readonly unknown[] | undefined,
) => Promise<readonly unknown[]>;

/** A connection keeps what was prepared on it: this many statements have names. */
const MAX_NAMES = 64;

/**
 * With these SQLSTATEs a pooler between us and the server betrays that it hands out connections on which others have
 * prepared their statements: invalid_sql_statement_name, duplicate_prepared_statement, and PgBouncer's own refusal.
 */
const NOT_PREPARED = new Set(["26000", "42P05", "08P01"]);

/** Prepares the statements that have values, unless that turns out not to work. */
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

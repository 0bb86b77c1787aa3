import { sqlState } from "../../kit/postgres/error.ts";
import type { PgQueryable } from "../../kit/postgres/index.ts";

/**
 * The statements that make the tables of fleets, one by one: one table for the documents, and one for the reports of instances, which is
 * not logged, because it is written with every beat and of no use after a crash.
 */
export const FLEET_STATEMENTS: readonly string[] = [
  `create table if not exists ca_fleet (
  fleet text primary key,
  version text not null,
  document text not null
)`,
  `create unlogged table if not exists ca_fleet_instance (
  fleet text,
  id text,
  seen bigint not null,
  report text not null,
  primary key (fleet, id)
) with (fillfactor = 50)`,
];

/** The statements that make the tables of fleets, once for a database, as one script. */
export const FLEET_TABLES: string = FLEET_STATEMENTS.map((statement) => `${statement};`).join("\n");

/**
 * Makes the tables of fleets if they are missing. The instances need no more than select, insert and update on both, and delete on
 * `ca_fleet_instance`.
 *
 * @param client a client or pool of `pg`, of a user who may create tables
 * @throws what the server answers
 * @example
 * ```ts
 * await prepareFleetTables(pool);
 * ```
 */
export async function prepareFleetTables(client: PgQueryable): Promise<void> {
  await client.query(FLEET_TABLES);
}

const ADVICE: Readonly<Record<string, string>> = {
  "42P01":
    "PostgreSQL has no table ca_fleet: run connect-actuator fleet prepare --postgres once, or call prepareFleetTables",
  "25006":
    "PostgreSQL accepts no changes: it is a standby, whose address must lead to the primary, or the user's transactions are read-only",
};

/** Says what to do, if it is known. */
export function withAdvice(error: Error): Error {
  const message = ADVICE[sqlState(error) ?? sqlState(error.cause) ?? ""];
  return message === undefined ? error : new Error(message, { cause: error });
}

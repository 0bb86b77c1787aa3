import { setTimeout as delay } from "node:timers/promises";
import { ActuatorError } from "../../../common/error.ts";
import { type Checks, callable, checkOptions, flag } from "../../../common/options.ts";
import { DEFAULT_PRINCIPAL } from "../../../sessions/principal.ts";
import type { PostgresQueries } from "../../kit/postgres/client.ts";
import { sqlState } from "../../kit/postgres/error.ts";
import { postgresQueries } from "../../kit/postgres/queries.ts";
import { asking } from "./answers.ts";
import { type Preparation, preparations, removals } from "./preparation.ts";
import { findTable } from "./table.ts";
import { connectionOf, type PgSimpleTableOptions, TABLE_OPTIONS, tableNameOf } from "./table-source.ts";

/** What is prepared, and how. */
export interface PrepareOptions extends PgSimpleTableOptions {
  /** Takes out again what was made. Default: false. */
  readonly remove?: boolean | undefined;
  /** Changes nothing and says what would be done. Default: false. */
  readonly dryRun?: boolean | undefined;
  /** Told of each step: before it begins and when it is done, or once where there is nothing to do. */
  readonly onStep?: ((step: PrepareStep) => void) | undefined;
}

/** One step of a preparation. */
export interface PrepareStep extends Preparation {
  /** "planned": a dry run leaves it; "unneeded": there is nothing to do. */
  readonly state: "planned" | "begun" | "done" | "unneeded";
}

const OPTIONS: Checks<PrepareOptions> = { ...TABLE_OPTIONS, remove: flag, dryRun: flag, onStep: callable };

/** What became of a preparation. */
export interface PreparedTable {
  /** Every step in its last state. */
  readonly steps: readonly PrepareStep[];
  /** Whether the table was changed, or would have been. */
  readonly changed: boolean;
}

/** An ALTER TABLE that waits for its lock holds up all that come after it. */
const LOCK_TIMEOUT = "1s";
const LOCK_TRIES = 10;
const LOCK_PAUSE = 1_000;
const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Gives the table of connect-pg-simple what makes searches fast and times known: an index of users, one of digests of
 * session ids, one on `expire` where the store's own is missing, and the columns `created_at` and `first_seen_at`, which
 * the database fills by itself. The application goes on reading and writing meanwhile, and no session that it can store
 * without these is refused with them. It may run again at any time, also after it was interrupted: what is there stays.
 *
 * The connection's user must own the table. Making an index takes as long as it takes; a `statement_timeout` of the user or
 * the database ends it.
 *
 * @throws ActuatorError as `PostgresQueries` does, FAILED_PRECONDITION where there is no such table or it stayed locked, and
 * INVALID_ARGUMENT without a `pool` or `url`.
 */
export async function prepareConnectPgSimple(options: PrepareOptions): Promise<PreparedTable> {
  checkOptions("prepareConnectPgSimple", options, OPTIONS);
  const { principal = DEFAULT_PRINCIPAL, remove = false, dryRun = false, onStep = () => {} } = options;
  const queries = postgresQueries(connectionOf(undefined, options), { timeoutMs: Number.POSITIVE_INFINITY });
  const steps: PrepareStep[] = [];
  try {
    const table = await findTable(asking(queries), tableNameOf(undefined, options));
    const paths = typeof principal === "function" ? undefined : principal;
    for (const preparation of remove ? removals(table) : preparations(table, paths)) {
      const end = (state: PrepareStep["state"]) => {
        const step = { ...preparation, state };
        steps.push(step);
        onStep(step);
      };
      if (preparation.sql === undefined) end("unneeded");
      else if (dryRun) end("planned");
      else {
        onStep({ ...preparation, state: "begun" });
        await carryOut(queries, preparation.sql);
        end("done");
      }
    }
    return { steps, changed: steps.some(({ state }) => state !== "unneeded") };
  } finally {
    await queries.close();
  }
}

async function carryOut(queries: PostgresQueries, sql: string): Promise<void> {
  if (!sql.startsWith("ALTER")) return void (await queries.query(sql));
  for (let tries = 1; ; tries++) {
    try {
      // One text is one transaction: either all of it happens or nothing.
      return void (await queries.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'; ${sql}`));
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
      if (tries === LOCK_TRIES) throw locked(error);
      await delay(LOCK_PAUSE);
    }
  }
}

function locked(cause: unknown): ActuatorError {
  const message = `The table stayed locked by others at each of ${LOCK_TRIES} tries. Nothing was added to it; try again later.`;
  return new ActuatorError("FAILED_PRECONDITION", "SESSION_STORE_LOCKED", message, {}, { cause });
}

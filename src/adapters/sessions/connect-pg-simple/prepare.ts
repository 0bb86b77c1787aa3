import { setTimeout as delay } from "node:timers/promises";
import { ActuatorError } from "../../../common/error.ts";
import { type Checks, callable, checkOptions, flag } from "../../../common/options.ts";
import { DEFAULT_PRINCIPAL, type PrincipalPaths } from "../../../sessions/principal.ts";
import { sqlState } from "../../kit/postgres/error.ts";
import { type PostgresQueries, postgresQueries } from "../../kit/postgres/index.ts";
import { DIGEST_EXPRESSION, principalExpression } from "./record-sql.ts";
import { identifier, literal } from "./sql.ts";
import { connectionOf, type PgSimpleTableOptions, TABLE_OPTIONS, tableNameOf } from "./store.ts";
import {
  ADDED,
  asking,
  digestIndexName,
  findTable,
  hasOrderIndex,
  indexPrefix,
  orderIndexName,
  qualifiedName,
  type Table,
  userIndexName,
} from "./table.ts";

/** What is prepared, and how. */
export interface PrepareConnectPgSimpleOptions extends PgSimpleTableOptions {
  /** Removes what an earlier preparation made. Default: false. */
  readonly remove?: boolean | undefined;
  /** Changes nothing and returns what would be done. Default: false. */
  readonly dryRun?: boolean | undefined;
  /** Called for each step: before it begins and when it is done, or once if there is nothing to do. */
  readonly onStep?: ((step: PrepareStep) => void) | undefined;
}

/** One step of a preparation. */
export interface PrepareStep extends Preparation {
  /** "planned": a dry run leaves it; "unneeded": there is nothing to do. */
  readonly state: "planned" | "begun" | "done" | "unneeded";
}

const OPTIONS: Checks<PrepareConnectPgSimpleOptions> = {
  ...TABLE_OPTIONS,
  remove: flag,
  dryRun: flag,
  onStep: callable,
};

/** The result of a preparation. */
export interface PreparedTable {
  /** Every step in its last state. */
  readonly steps: readonly PrepareStep[];
  /** Whether the table was changed, or would have been. */
  readonly changed: boolean;
}

/** An ALTER TABLE that waits for its lock holds up all statements after it. */
const LOCK_TIMEOUT = "1s";
const LOCK_TRIES = 10;
const LOCK_PAUSE_MS = 1_000;
const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Adds to the table of connect-pg-simple what makes searches fast and times known: an index of users, one of digests of
 * session ids, one on `expire` if the store's own is missing, and the columns `created_at` and `first_seen_at`, which the
 * database fills by itself. The application continues to read and write meanwhile, and can store every session that it
 * could store before. It may run again at any time, even after an interruption: what exists stays.
 *
 * The connection's user must own the table. Creating an index has no time limit; a `statement_timeout` of the user or the
 * database ends it.
 *
 * @throws ActuatorError as `PostgresQueries` does, FAILED_PRECONDITION if there is no such table or it stayed locked, and
 * INVALID_ARGUMENT without a `pool` or `url`.
 * @example
 * const { changed } = await prepareConnectPgSimpleSessions({ url: "postgres://owner@localhost/app", dryRun: true });
 */
export async function prepareConnectPgSimpleSessions(options: PrepareConnectPgSimpleOptions): Promise<PreparedTable> {
  checkOptions("prepareConnectPgSimpleSessions", options, OPTIONS);
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
        await execute(queries, preparation.sql);
        end("done");
      }
    }
    return { steps, changed: steps.some(({ state }) => state !== "unneeded") };
  } finally {
    await queries.close();
  }
}

async function execute(queries: PostgresQueries, sql: string): Promise<void> {
  if (!sql.startsWith("ALTER")) return void (await queries.query(sql));
  for (let tries = 1; ; tries++) {
    try {
      // One query is one transaction: either all of it happens or nothing.
      return void (await queries.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'; ${sql}`));
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
      if (tries === LOCK_TRIES) throw locked(error);
      await delay(LOCK_PAUSE_MS);
    }
  }
}

function locked(cause: unknown): ActuatorError {
  const message = `Other transactions kept the table locked during ${LOCK_TRIES} attempts. Nothing was changed; try again later.`;
  return new ActuatorError("FAILED_PRECONDITION", "SESSION_STORE_LOCKED", message, {}, { cause });
}

/** A change of the table, or a fact about it that its owner should know. */
export interface Preparation {
  readonly description: string;
  /** undefined: there is nothing to do. */
  readonly sql?: string | undefined;
}

const COLUMNS = {
  created_at: "when each session was created",
  first_seen_at: "since when each session has been known",
} as const;

/** Returns what the table lacks. Only the statement that adds columns locks the table, for an instant. */
function preparations(table: Table, paths: PrincipalPaths | undefined): readonly Preparation[] {
  const indexes = [
    ...(paths === undefined
      ? [{ description: "No index of users: a function finds a session's user." }]
      : index(table, userIndexName(table, paths), `(${principalExpression(paths, table)})`, "of users")),
    ...(table.utf8
      ? index(table, digestIndexName(table), `(${DIGEST_EXPRESSION})`, "of digests of session ids")
      : [{ description: "No index of digests of session ids: the database is not in UTF-8." }]),
    ...(hasOrderIndex(table)
      ? [{ description: "The index that orders lists exists." }]
      : index(table, orderIndexName(table), "expire, sid", "that orders lists")),
  ];
  const made = indexes.some(({ sql }) => sql?.startsWith("CREATE"));
  return [
    ...indexes,
    ...columns(table),
    ...(made ? [{ description: "Statistics of the new indexes.", sql: `ANALYZE ${qualifiedName(table)}` }] : []),
    ...(paths === undefined ? [] : others(table, userIndexName(table, paths))),
  ];
}

/** Returns what removes everything that a preparation made. */
function removals(table: Table): readonly Preparation[] {
  const prefixes = ["user", "digest", "expire"].map((kind) => indexPrefix(table, kind));
  const ours = table.indexes.filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix)));
  const dropped = table.added.map((name) => `DROP COLUMN ${identifier(name)}`).join(", ");
  return [
    ...ours.map(({ name }) => ({ description: `The index ${name}.`, sql: dropIndex(table, name) })),
    ...(dropped === ""
      ? []
      : [{ description: "The columns of times.", sql: `ALTER TABLE ${qualifiedName(table)} ${dropped}` }]),
  ];
}

function index(table: Table, name: string, key: string, what: string): Preparation[] {
  const existing = table.indexes.find((index) => index.name === name);
  if (existing?.valid) return [{ description: `The index ${what} exists.` }];
  if (existing?.building) return [{ description: `The index ${what} is being created by another connection.` }];
  return [
    ...(existing === undefined
      ? []
      : [{ description: `The index ${what}, whose creation was interrupted.`, sql: dropIndex(table, name) }]),
    {
      description: `The index ${what}.`,
      sql: `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${identifier(name)} ON ${qualifiedName(table)} (${key})`,
    },
  ];
}

/**
 * A default that is set after its column was added leaves NULL in existing rows, whose creation time is unknown. A default
 * that comes with its column fills them with the current time.
 */
function columns(table: Table): Preparation[] {
  const missing = Object.keys(COLUMNS).filter((name) => table.columns[name] === undefined);
  const foreign = Object.keys(COLUMNS).filter((name) => !missing.includes(name) && !table.added.includes(name));
  const added = missing.map((name) =>
    name === "created_at"
      ? "ADD COLUMN created_at timestamptz, ALTER COLUMN created_at SET DEFAULT now()"
      : "ADD COLUMN first_seen_at timestamptz DEFAULT now()",
  );
  const comments = missing.map((name) => `COMMENT ON COLUMN ${qualifiedName(table)}.${name} IS ${literal(ADDED)}`);
  return [
    ...missing.slice(0, 1).map(() => ({
      description: `Columns that say ${missing.map((name) => COLUMNS[name as keyof typeof COLUMNS]).join(", and ")}.`,
      sql: [`ALTER TABLE ${qualifiedName(table)} ${added.join(", ")}`, ...comments].join("; "),
    })),
    ...foreign.map((name) => ({
      description: `The column ${name} (${table.columns[name]}) is the application's own, and stays as it is.`,
    })),
    ...(missing.length + foreign.length === 0 ? [{ description: "The columns of times exist." }] : []),
  ];
}

function others(table: Table, current: string): Preparation[] {
  const prefix = indexPrefix(table, "user");
  return table.indexes
    .filter(({ name }) => name.startsWith(prefix) && name !== current)
    .map(({ name }) => ({
      description: `The index ${name} is of users at other paths of the record. If it is not used: ${dropIndex(table, name)}`,
    }));
}

function dropIndex({ schema }: Table, name: string): string {
  return `DROP INDEX CONCURRENTLY IF EXISTS ${qualifiedName({ schema, name })}`;
}

import type { PrincipalPaths } from "../../../sessions/principal.ts";
import { DIGEST_EXPRESSION } from "./digest-sql.ts";
import { principalExpression } from "./principal-sql.ts";
import { identifier, literal } from "./sql.ts";
import {
  ADDED,
  digestIndexName,
  hasOrderIndex,
  indexPrefix,
  orderIndexName,
  qualifiedName,
  type Table,
  userIndexName,
} from "./table.ts";

/** Something to do to a table, or a fact about it that its owner should know. */
export interface Preparation {
  readonly description: string;
  /** undefined: there is nothing to do. */
  readonly sql?: string | undefined;
}

const COLUMNS = {
  created_at: "when each session was made",
  first_seen_at: "since when each session is known",
} as const;

/** What the table lacks. The statements lock nobody out, except the one that adds columns, for an instant. */
export function preparations(table: Table, paths: PrincipalPaths | undefined): readonly Preparation[] {
  const indexes = [
    ...(paths === undefined
      ? [{ description: "No index of users: a function decides whose a session is." }]
      : index(table, userIndexName(table, paths), `(${principalExpression(paths, table)})`, "of users")),
    ...(table.utf8
      ? index(table, digestIndexName(table), `(${DIGEST_EXPRESSION})`, "of digests of session ids")
      : [{ description: "No index of digests of session ids: the database is not in UTF-8." }]),
    ...(hasOrderIndex(table)
      ? [{ description: "The index that lists are ordered by is there." }]
      : index(table, orderIndexName(table), "expire, sid", "that lists are ordered by")),
  ];
  const made = indexes.some(({ sql }) => sql?.startsWith("CREATE"));
  return [
    ...indexes,
    ...columns(table),
    ...(made ? [{ description: "Statistics of the new indexes.", sql: `ANALYZE ${qualifiedName(table)}` }] : []),
    ...(paths === undefined ? [] : others(table, userIndexName(table, paths))),
  ];
}

/** What takes out of the table all that was made for us. */
export function removals(table: Table): readonly Preparation[] {
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
  if (existing?.valid) return [{ description: `The index ${what} is there.` }];
  if (existing?.building) return [{ description: `The index ${what} is being made by somebody else.` }];
  return [
    ...(existing === undefined
      ? []
      : [{ description: `The index ${what}, whose making was interrupted.`, sql: dropIndex(table, name) }]),
    {
      description: `The index ${what}.`,
      sql: `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${identifier(name)} ON ${qualifiedName(table)} (${key})`,
    },
  ];
}

/**
 * A default that is set after its column was added leaves NULL in the rows that are there: of these nobody knows when they
 * were made. A default that comes with its column fills them with the time of that moment.
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
    ...(missing.length + foreign.length === 0 ? [{ description: "The columns of times are there." }] : []),
  ];
}

function others(table: Table, current: string): Preparation[] {
  const prefix = indexPrefix(table, "user");
  return table.indexes
    .filter(({ name }) => name.startsWith(prefix) && name !== current)
    .map(({ name }) => ({
      description: `The index ${name} is of users at other places of the record. Where nobody uses it: ${dropIndex(table, name)}`,
    }));
}

function dropIndex({ schema }: Table, name: string): string {
  return `DROP INDEX CONCURRENTLY IF EXISTS ${qualifiedName({ schema, name })}`;
}

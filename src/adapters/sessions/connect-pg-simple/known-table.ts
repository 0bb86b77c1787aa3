import type { PrincipalPaths } from "../../../sessions/principal.ts";
import type { Ask } from "./answers.ts";
import { type Statements, statements } from "./statements.ts";
import { digestIndexName, findTable, hasIndex, qualifiedName, type Table, userIndexName } from "./table.ts";

/** The table as it was a while ago, with the statements for it. */
export interface KnownTable {
  readonly statements: Statements;
  /** The quoted names of the indexes that it had. */
  readonly userIndex: string | undefined;
  readonly digestIndex: string | undefined;
}

/** Whoever prepares a table while the application runs sees it used after this many milliseconds at the latest. */
const LOOK_AGAIN_AFTER = 10_000;

/**
 * Looks the table up, and again when that was 10 seconds ago or `renew` is asked for. An index that has gone since does no
 * harm: the statements that need it look for it themselves.
 */
export function tableLookup(
  ask: Ask,
  quotedName: string,
  paths: PrincipalPaths | undefined,
  timeZone: string | undefined,
): (renew?: boolean) => Promise<KnownTable> {
  let lookup: { readonly at: number; readonly table: Promise<KnownTable> } | undefined;
  let last: { readonly text: string; readonly known: KnownTable } | undefined;

  async function look(): Promise<KnownTable> {
    const table = await findTable(ask, quotedName);
    const text = JSON.stringify(table);
    // The same texts again keep their place among the statements that are prepared.
    if (last?.text !== text) last = { text, known: know(table, paths, timeZone) };
    return last.known;
  }

  return (renew = false) => {
    if (lookup === undefined || renew || performance.now() - lookup.at > LOOK_AGAIN_AFTER) {
      const looked = { at: performance.now(), table: look() };
      lookup = looked;
      looked.table.catch(() => {
        if (lookup === looked) lookup = undefined;
      });
    }
    return lookup.table;
  };
}

function know(table: Table, paths: PrincipalPaths | undefined, timeZone: string | undefined): KnownTable {
  const indexCalled = (name: string) =>
    hasIndex(table, name) ? qualifiedName({ schema: table.schema, name }) : undefined;
  return {
    statements: statements(table, paths, timeZone),
    userIndex: paths && indexCalled(userIndexName(table, paths)),
    digestIndex: table.utf8 ? indexCalled(digestIndexName(table)) : undefined,
  };
}

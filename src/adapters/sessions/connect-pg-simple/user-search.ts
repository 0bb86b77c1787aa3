import type { SessionSearch } from "../../../sessions/store.ts";
import type { ScanBounds } from "../../kit/connect-session/session-scan.ts";
import type { Ask } from "./answers.ts";
import type { KnownTable } from "./known-table.ts";
import { type ReadSession, type RowReader, readSession, type SessionRow } from "./session-row.ts";
import { isStorable } from "./sql.ts";
import type { Statements } from "./statements.ts";

/** How much of a table is searched at most. */
export interface SearchBounds {
  readonly maxSessions: number;
  readonly maxMs: number;
  /** Rows read by one statement of a scan. */
  readonly batch: number;
}

/** The most sessions of one user. */
const MAX_FOUND = 50_000;
/** Of the sessions whose user only the resolver can tell, so many are asked for in a search by the index. */
const MAX_TO_RESOLVE = 1000;

export function searchBounds({ maxSessions = 50_000, maxMs = 500 }: ScanBounds = {}, batch: number): SearchBounds {
  return { maxSessions, maxMs, batch };
}

/** The sessions of a user by the index; undefined: the table has none any more. */
export async function findByIndex(
  ask: Ask,
  { statements, userIndex }: KnownTable,
  username: string,
  reader: RowReader,
): Promise<SessionSearch | undefined> {
  const values = [storable(username), MAX_FOUND + 1, MAX_TO_RESOLVE + 1, userIndex!];
  const answers = await ask<readonly [unknown: boolean, row: SessionRow] | null>(statements.findByUser, values);
  const rows = answers.filter((answer) => answer !== null);
  if (rows.length < answers.length) return undefined;
  const unknown = rows.filter(([unknown]) => unknown).length;
  const cutOff = unknown > MAX_TO_RESOLVE || rows.length - unknown > MAX_FOUND;
  return search(
    username,
    rows.map(([, row]) => readSession(row, reader)),
    cutOff,
  );
}

/** The sessions of a user by reading one after the other, those first that expire last, until a bound is reached. */
export async function findByScan(
  ask: Ask,
  statements: Statements,
  username: string,
  reader: RowReader,
  { maxSessions, maxMs, batch }: SearchBounds,
): Promise<SessionSearch> {
  const end = performance.now() + maxMs;
  const found: ReadSession[] = [];
  let position: readonly [string, string] | undefined;
  for (let left = maxSessions; ; ) {
    const limit = Math.min(batch, left);
    const sql = statements.scan(statements.order, position !== undefined);
    const answers = await ask<ScanAnswer | SessionRow>(sql, [limit, storable(username), ...(position ?? [])]);
    const scan = answers.find((answer): answer is ScanAnswer => "last" in answer)!;
    const rows = answers.filter((answer): answer is SessionRow => answer !== scan);
    found.push(
      ...rows
        .map((row) => readSession(row, reader))
        .filter(({ session, resolved }) => !resolved || session.username === username),
    );
    left -= scan.read;
    if (scan.read < limit) return search(username, found, false);
    if (left <= 0 || performance.now() > end) return search(username, found, true);
    position = scan.last!;
  }
}

interface ScanAnswer {
  readonly read: number;
  readonly last: readonly [string, string] | null;
}

function search(username: string, read: readonly ReadSession[], cutOff: boolean): SessionSearch {
  return {
    sessions: read.map(({ session }) => session).filter((session) => session.username === username),
    partial: cutOff || read.some(({ resolved }) => !resolved),
  };
}

/** A name that the database cannot hold is in none of its indexes; sessions of it wait for the resolver. */
function storable(username: string): string | null {
  return isStorable(username) ? username : null;
}

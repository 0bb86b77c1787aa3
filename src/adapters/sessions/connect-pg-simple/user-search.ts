import type { SessionSearch } from "../../../sessions/store.ts";
import { type ScanBounds, ScanLimit } from "../../kit/connect-session/scan.ts";
import { type ReadSession, type RowReader, readSession, type SessionRow } from "./session-row.ts";
import { isStorable } from "./sql.ts";
import type { KnownTable, Statements } from "./statements.ts";
import type { Ask } from "./table.ts";

/** The most sessions of one user. */
const MAX_FOUND = 50_000;
/** The most sessions whose user only the resolver can find, in a search by the index. */
const MAX_TO_RESOLVE = 1000;

/** Finds the sessions of a user by the index; undefined if the table no longer has it. */
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

/** Finds the sessions of a user by reading all, those that expire last first, until a bound is reached. */
export async function findByScan(
  ask: Ask,
  statements: Statements,
  username: string,
  reader: RowReader,
  bounds: ScanBounds | undefined,
  batch: number,
): Promise<SessionSearch> {
  const scanLimit = new ScanLimit(bounds);
  const found: ReadSession[] = [];
  let position: readonly [string, string] | undefined;
  while (true) {
    const limit = Math.min(batch, scanLimit.left);
    const sql = statements.scan(statements.order, position !== undefined);
    const answers = await ask<ScanAnswer | SessionRow>(sql, [limit, storable(username), ...(position ?? [])]);
    const scan = answers.find((answer): answer is ScanAnswer => "last" in answer)!;
    const rows = answers.filter((answer): answer is SessionRow => answer !== scan);
    found.push(
      ...rows
        .map((row) => readSession(row, reader))
        .filter(({ session, resolved }) => !resolved || session.username === username),
    );
    scanLimit.left -= scan.read;
    if (scan.read < limit) return search(username, found, false);
    if (scanLimit.reached()) return search(username, found, true);
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

/** Returns the name; null if the database cannot store it, so that only the resolver can find it. */
function storable(username: string): string | null {
  return isStorable(username) ? username : null;
}

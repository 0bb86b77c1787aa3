import { type BetterAuthContext, type Condition, type Row, sessionColumns, timeOf } from "./instance.ts";

/** Where a page ended. Without an id: after every session of that millisecond. */
interface Position {
  readonly time: number;
  readonly id?: string | undefined;
}

/** One page of rows. */
export interface RowPage {
  readonly rows: readonly Row[];
  readonly next?: string | undefined;
}

/** A limit that better-auth does not replace with its own. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/**
 * Returns a page of the table of sessions, latest update first, then by id in the database's own order.
 *
 * better-auth's queries sort by one column and cannot express "earlier, or as early with a greater id". So sessions of the
 * millisecond at which a page begins or ends are queried separately: one to three queries a page, none of which skips rows.
 */
export async function rowPage(
  context: BetterAuthContext,
  conditions: readonly Condition[],
  limit: number,
  after?: string,
): Promise<RowPage> {
  const select = sessionColumns(context);
  const wanted = limit + 1;

  async function rowsOf(time: number, id: string | undefined, most: number): Promise<readonly Row[]> {
    // A database may keep more digits of a second than a Date has.
    const where: Condition[] = [
      ...conditions,
      { field: "updatedAt", operator: "gte", value: new Date(time) },
      { field: "updatedAt", operator: "lt", value: new Date(time + 1) },
    ];
    if (context.adapter.id === "memory") {
      // better-auth's own database for development sorts strings by locale and compares them by code unit.
      const rows = await context.adapter.findMany({ model: "session", where, limit: NO_LIMIT, select });
      return rows
        .filter((row) => id === undefined || String(row.id) > id)
        .sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))
        .slice(0, most);
    }
    if (id !== undefined) where.push({ field: "id", operator: "gt", value: id });
    const sortBy = { field: "id", direction: "asc" } as const;
    return context.adapter.findMany({ model: "session", where, limit: most, select, sortBy });
  }

  async function rowsBefore(time: number | undefined, most: number): Promise<readonly Row[]> {
    const where = [...conditions];
    if (time !== undefined) where.push({ field: "updatedAt", operator: "lt", value: new Date(time) });
    const sortBy = { field: "updatedAt", direction: "desc" } as const;
    const rows = await context.adapter.findMany({ model: "session", where, limit: most, select, sortBy });
    if (rows.length < most) return rows;
    const last = updateTime(rows.at(-1)!);
    const whole = rows.filter((row) => updateTime(row) !== last);
    return [...whole, ...(await rowsOf(last, undefined, most - whole.length))];
  }

  const from = after === undefined ? undefined : positionOf(after);
  const rows = from?.id === undefined ? [] : [...(await rowsOf(from.time, from.id, wanted))];
  if (rows.length < wanted) rows.push(...(await rowsBefore(from?.time, wanted - rows.length)));
  if (rows.length < wanted) return { rows };
  const [last, following] = [rows[limit - 1]!, rows[limit]!];
  const time = updateTime(last);
  const within = time === updateTime(following);
  return { rows: rows.slice(0, limit), next: positionText({ time, id: within ? String(last.id) : undefined }) };
}

function updateTime(row: Row): number {
  return timeOf(row.updatedAt) ?? 0;
}

function positionText({ time, id }: Position): string {
  return id === undefined ? String(time) : `${time} ${id}`;
}

function positionOf(text: string): Position {
  const [, time, id] = /^(-?\d+)(?: (.*))?$/s.exec(text) ?? [];
  return { time: Number(time), id };
}

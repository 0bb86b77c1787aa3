import { literal } from "./sql.ts";
import type { Table } from "./table.ts";

/**
 * The column `expire` as points in time.
 *
 * The store writes a timestamp without time zone, as the clock showed it where its connection was: so it is read in the
 * zone of the same connection, or in one that is named. In the hour that a clock shows twice, PostgreSQL takes the second.
 */
export interface Expiry {
  /** Seconds since the epoch; NULL: it never comes. */
  readonly epoch: string;
  /** Whether the clock showed this time twice, so that an hour earlier may have been meant. */
  readonly twice: string;
  /** A condition: it comes at this second since the epoch or later. An index on the column serves it. */
  from(second: string): string;
  /** A condition: it came before. */
  before(second: string): string;
}

/** How the expiry is read from this table. @param timeZone of the application's connections; undefined: this one's */
export function expiryOf(table: Table, timeZone: string | undefined): Expiry {
  if (table.columns.expire === "timestamp with time zone") {
    return {
      epoch: epochOf("expire"),
      twice: "false",
      from: (second) => `expire >= to_timestamp(${second})`,
      before: (second) => `expire < to_timestamp(${second})`,
    };
  }
  const zone = timeZone === undefined ? undefined : literal(timeZone);
  const instant = zone === undefined ? "expire::timestamptz" : `(expire AT TIME ZONE ${zone})`;
  const shown = (time: string) => (zone === undefined ? `(${time})::timestamp` : `((${time}) AT TIME ZONE ${zone})`);
  return {
    epoch: epochOf(instant),
    twice: `${shown(`${instant} - interval '1 hour'`)} = expire`,
    // The clock may have been put back by some hours meanwhile: the index finds what may be, the second condition what is.
    from: (second) =>
      `expire >= ${shown(`to_timestamp(${second})`)} - interval '3 hours' AND ${instant} >= to_timestamp(${second})`,
    before: (second) =>
      `expire < ${shown(`to_timestamp(${second})`)} + interval '3 hours' AND ${instant} < to_timestamp(${second})`,
  };
}

function epochOf(instant: string): string {
  return `CASE WHEN isfinite(expire) THEN extract(epoch FROM ${instant}) END`;
}

import type { PostgresQueries } from "../../kit/postgres/client.ts";

/** Asks for the column `answer` of a statement, which holds JSON, and resolves to what it says in each row. */
export type Ask = <Answer>(sql: string, values?: readonly (string | number | null)[]) => Promise<readonly Answer[]>;

/**
 * How statements are asked: each answers with a single text, because connect-pg-simple passes on no more than one row, and
 * because whatever connection is borrowed may have its own idea of how types are parsed and columns are named.
 */
export function asking(queries: PostgresQueries): Ask {
  return async <Answer>(sql: string, values: readonly (string | number | null)[] = []) => {
    const text = `WITH answers AS (${sql}) SELECT '[' || coalesce(string_agg(answer, ','), '') || ']' AS answers FROM answers`;
    const [row] = await queries.query<{ answers: string }>(text, values);
    return JSON.parse(row!.answers) as Answer[];
  };
}

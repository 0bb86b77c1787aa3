export type { PostgresQueries } from "./client.ts";
export { type PostgresQueriesOptions, type PostgresSource, postgresQueries } from "./queries.ts";
export type { PgQueryable, PostgresJs } from "./source.ts";

/** A connection to PostgreSQL, as adapters use it. */
export interface PostgresQueries {
  /**
   * Runs one statement and resolves to its rows.
   *
   * @throws ActuatorError UNAVAILABLE where the server is out of reach, has no room (SQLSTATE classes 08, 53, 57) or does
   * not answer in time; FAILED_PRECONDITION where a table, a permission or the like is missing. The native error is its
   * `cause`. What else the server refuses is thrown as it came.
   */
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Ends a connection of our own; one of the application's stays open. */
  close(): Promise<void>;
}

/** A connection to PostgreSQL, as adapters use it. */
export interface PostgresQueries {
  /**
   * Runs one statement.
   *
   * @throws ActuatorError UNAVAILABLE where the server is out of reach or does not answer in time. What the server itself
   * refuses (SQLSTATE of another class than 08, 53, 57) is thrown as it came.
   */
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Ends a connection of our own; one of the application's stays open. */
  close(): Promise<void>;
}

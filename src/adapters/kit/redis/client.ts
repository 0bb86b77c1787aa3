/** A connection to Redis or Valkey, as adapters use it. */
export interface RedisCommands {
  /**
   * Sends one command. Commands of the same turn travel together. Replies are texts, numbers, null and lists of these.
   *
   * @throws ActuatorError UNAVAILABLE where the server is out of reach or does not answer in time, FAILED_PRECONDITION
   * where it refuses the command: for want of a permission, or because the key holds something else.
   */
  command(args: readonly (string | Buffer)[]): Promise<unknown>;
  /** As `command`, with Buffers in the place of texts, for values that are no UTF-8. */
  commandForBuffers(args: readonly (string | Buffer)[]): Promise<unknown>;
  /**
   * The servers of a cluster, each with keys of its own to scan. Left out where one server has all keys. In a cluster a
   * command has one key only: its second word.
   */
  nodes?(): Promise<readonly RedisCommands[]>;
  /** Ends a connection of our own; one of the application's stays open. */
  close(): Promise<void>;
}

/** What the application says of itself, and since when this process runs it. */
export interface Application {
  /** The application's name, where one is configured. */
  readonly name?: string | undefined;
  /** The application's version, where one is configured. */
  readonly version?: string | undefined;
  /** When the actuator was created, in milliseconds since the epoch. */
  readonly startTime: number;
}

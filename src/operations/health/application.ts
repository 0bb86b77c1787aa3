/** The application's name and version, and when the actuator was created. */
export interface Application {
  /** The application's name, if one is configured. */
  readonly name?: string | undefined;
  /** The application's version, if one is configured. */
  readonly version?: string | undefined;
  /** When the actuator was created, in milliseconds since the epoch. */
  readonly startTime: number;
}

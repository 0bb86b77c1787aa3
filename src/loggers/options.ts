/** How long levels last that operators set. */
export interface TtlOptions {
  /** How long DEBUG and TRACE last, in milliseconds, if the caller gives no time. Default 10 minutes. */
  readonly defaultTtlMs?: number | undefined;
  /** The longest time that a caller may give for DEBUG and TRACE, in milliseconds. Default 24 hours. */
  readonly maxTtlMs?: number | undefined;
  /** Whether a caller may set DEBUG and TRACE permanently (over RPC, with a `ttl` of 0). Default false. */
  readonly allowForever?: boolean | undefined;
}

/** The options of the loggers of an application. */
export interface LoggersOptions extends TtlOptions {
  /**
   * Groups by name, each with the names of its members. A member that ends in `.*` stands for every logger below a name,
   * including later ones: `orders.*` covers `orders.a` and `orders.a.b`, but not `orders`; `ROOT.*` covers every logger but
   * ROOT. The level of a group is set on the loggers directly below the name; deeper ones without a level of their own inherit
   * it. A new logger gets the level too, until the group is cleared or restored or its time is over.
   */
  readonly groups?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * The path of a file that keeps levels over a restart, with who set them, why and until when: the levels that operators set on
   * loggers and groups, and the permanent levels beneath temporary ones. Default: none; levels end with the process. The folder
   * must exist. The file is read once at the start, before any adapter is attached. Levels whose time is over are left out, and
   * the others last for the rest of their time by the wall clock. A name without a logger waits for one. Levels that are held or
   * that the application set itself are not kept, nor is it kept that a level was cleared.
   *
   * The file is replaced as a whole soon after each change, so it is never partly written. Callers do not wait for that: a change
   * of the last milliseconds before the process is killed may be missing. `Loggers.flushed` waits for the file, and so does
   * `close` of the actuator. If the file cannot be written, `onError` is called once, and the next change tries again. A file
   * that cannot be parsed, or that a later release wrote, is renamed with `.kept-` and the time at its end, and reported to
   * `onError` and by a warning on ROOT.
   *
   * Give each process a file of its own. If two processes share one, neither reads what the other writes and the last to write
   * wins, which suits a process that replaces another one. The file is JSON in a versioned format, and only its owner can read
   * it (mode 0600).
   */
  readonly state?: string | undefined;
  /**
   * The path of a file of levels that is followed, such as a mounted ConfigMap: a line `orders.payment=DEBUG` for each, `#` for comments. Its
   * levels lie beneath those that callers and a fleet set. A file that cannot be read is an error at the start; later it is reported to
   * `onError`, and the levels that it had stay. Default: none.
   */
  readonly levelsFile?: string | undefined;
  /** The most loggers that exist only because a level was set for their name. Default 10,000. */
  readonly maxCreated?: number | undefined;
  /** The most names of loggers in total. Loggers that are found beyond it keep the level they have. Default 250,000. */
  readonly maxLoggers?: number | undefined;
  /** The most changes of level that the history keeps. Default 10,000. */
  readonly maxHistory?: number | undefined;
  /** The name of this process in the history and in overrides. Default: host name and process id. */
  readonly instance?: string | undefined;
}

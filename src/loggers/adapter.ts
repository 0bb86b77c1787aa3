import type { Level } from "./level.ts";

/** One native logger, or one name in a native registry. It must be small: an application may have a hundred thousand. */
export interface LoggerHandle {
  /**
   * Makes `level` the threshold of this logger, from the next record on. Returns the level really reached, which differs if the
   * library lacks the level.
   */
  apply(level: Level): Level;
  /**
   * The handle whose level this logger follows natively until it is given its own, for libraries whose inheritance is live. The
   * host then leaves this logger alone as long as following gives the right level.
   */
  readonly parent?: LoggerHandle | undefined;
}

/** What an adapter is given when it is attached. */
export interface LoggerHost {
  /**
   * Reports a native logger, existing or new, and gives it its level before it returns. `configured` is a level that the
   * application set on the logger itself; without it the logger inherits. Returns false if the logger is not managed, because
   * there are too many or its name is invalid; the adapter then forgets it.
   */
  discovered(name: string, handle: LoggerHandle, configured?: Level): boolean;
  /** Reports that a native logger no longer exists. Its name stays known. */
  gone(handle: LoggerHandle): void;
  /**
   * Reports that the application set a native level itself. It becomes the configured level of the name; undefined means that
   * the application removed its level and the name inherits.
   */
  changedOutside(handle: LoggerHandle, level: Level | undefined): void;
  /** True while the host itself changes native levels, so that an adapter can tell its own changes from the application's. */
  readonly pushing: boolean;
  /** Adds a warning for operators to a logger, such as "transport keeps its own level info". Shown over RPC. */
  warn(name: string, message: string): void;
  /** Removes a warning that no longer applies. */
  retract?(name: string, message: string): void;
}

/**
 * How often the loggers of one name were called at each level. The index is the `levelVerbosity` of the least verbose level that
 * lets the call through.
 */
export interface CallTally {
  /** Calls that the logger's level let through. */
  readonly emitted: number[];
  /** Calls that the logger's level dropped. */
  readonly suppressed: number[];
}

/**
 * Decides whether a call that its logger's level disables goes through all the same. `verbosity` is that of the least verbose
 * level that would let it through. `nameOf` returns the name of the managed logger whose level `logger` follows, or undefined.
 */
export type CallGate = <L>(verbosity: number, logger: L, nameOf: (logger: L) => string | undefined) => boolean;

/** A logging library. */
export interface LoggerAdapter {
  /** The library's name, such as "pino"; shown as the kind of its loggers. */
  readonly kind: string;
  /** Reports the library's loggers to the host, existing and later ones, until the returned function is called. */
  attach(host: LoggerHost): Detach;
  /**
   * Reports new loggers and changed levels, if the library does not announce them. Called when an operator reads, at most once a
   * second.
   */
  refresh?(): void;
  /**
   * Counts the calls of all its loggers, including later ones, until the returned function is called, which restores them. A
   * call of a logger that is not managed counts for the one whose level it follows. `tallyOf` is called once for each logger, at
   * its first call, and returns undefined if its calls are not wanted. Leave it out if the library cannot be measured. It is
   * called while the adapter is attached, and by one measurement at a time.
   */
  measure?(tallyOf: (name: string) => CallTally | undefined): () => void;
  /**
   * Asks `lets` at every disabled call of its loggers, including later ones, and lets the call through if it returns true, until
   * the returned function is called, which restores the loggers. Leave it out if the library cannot do this. It is called while
   * the adapter is attached, and once at a time.
   */
  gate?(lets: CallGate): () => void;
}

/** Restores the library to how it was before it was attached. Levels stay as they are. */
export type Detach = () => void;

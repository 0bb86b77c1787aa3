import type { Level } from "./level.ts";

/**
 * One native logger, or several of the same name that all follow the same one. It must be small: an application may have a hundred
 * thousand.
 */
export interface LoggerHandle {
  /** The level in effect in the library, set here or by the application. */
  readonly level: Level;
  /** Makes `level`, or the nearest level that the library has, the threshold of this logger, from the next record on. */
  apply(level: Level): void;
  /**
   * Gives the logger back exactly the threshold that it would have if {@link apply} had never been called, here and on the loggers
   * that it follows: the one that the application last set on it, or else on the nearest of those. Called again when the
   * application changes that one, because after {@link apply} a logger need not follow by itself.
   */
  restore(): void;
  /**
   * The handle whose level this logger follows natively until it is given its own, for libraries whose inheritance is live. The
   * host then leaves this logger alone as long as following gives the right level.
   */
  readonly parent?: LoggerHandle | undefined;
}

/** What an adapter is given when it is attached. */
export interface LoggerHost {
  /**
   * Reports a native logger, existing or new. It keeps the level it has, unless an operator has set one for its name; then it has
   * that level before this returns. `configured` is a level that the application set on the logger itself; without it the logger
   * inherits. Returns false if the logger is not managed, because there are too many or its name is invalid; the adapter then
   * forgets it.
   */
  discovered(name: string, handle: LoggerHandle, configured?: Level): boolean;
  /** Reports that a native logger no longer exists. Its name leaves the list with its last logger, unless a level is set on it. */
  gone(handle: LoggerHandle): void;
  /**
   * Reports that the application set a native level itself, or removed it (undefined), which is then the level in force and the one
   * to {@link LoggerHandle.restore}. It ends what an operator set on the name. {@link LoggerHandle.apply} is called again if the
   * level of another name applies.
   */
  changedOutside(handle: LoggerHandle, level: Level | undefined): void;
  /** Reports that {@link LoggerHandle.level} has changed without a level being set, for example with the destinations of the logger. */
  reachChanged(): void;
  /** The level in effect on the nearest name above this one, for libraries without inheritance. */
  levelAbove(name: string): Level;
  /** True while the host itself changes native levels, so that an adapter can tell its own changes from the application's. */
  readonly pushing: boolean;
  /**
   * Reports that a logger of this name was made before the adapter was attached, and found only now, so that others of the name may
   * be unknown. The name shows a warning, and a change of its level a notice.
   */
  older(name: string): void;
  /** Adds a warning for operators to a logger, such as "transport keeps its own level info". Shown over RPC. */
  warn(name: string, message: string): void;
  /** Removes a warning that no longer applies. */
  retract(name: string, message: string): void;
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
   * Reports the levels that the application has set since the last call, if the library does not announce them. Called before an
   * operator's level comes or goes, because what the application has set until then is to come back.
   */
  readLevels?(): void;
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

/** Stops watching the library. The host has restored every level before. */
export type Detach = () => void;

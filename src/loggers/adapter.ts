import type { Level } from "./level.ts";

/** One native logger, or one name in a native registry. Cheap to hold: an application may have a hundred thousand. */
export interface LoggerHandle {
  /**
   * Makes `level` the threshold of this very logger, from the next record on. Returns the level really reached, which
   * differs where the library lacks the level.
   */
  apply(level: Level): Level;
  /**
   * Where the library's own inheritance is live: the handle whose level this one follows until it is given its own. The
   * core then leaves this logger alone for as long as following gives the right level.
   */
  readonly parent?: LoggerHandle | undefined;
}

/** What an adapter is given by the core when it is attached. */
export interface LoggerHost {
  /**
   * A native logger exists, from the start or since now. `configured` is a level that somebody set on it explicitly;
   * left out, the logger inherits. The core gives it its level before this call returns. Returns false where the logger
   * was not taken, because the registry is full or the name is unfit: the adapter then forgets it.
   */
  discovered(name: string, handle: LoggerHandle, configured?: Level): boolean;
  /** The native logger is gone; its name stays known. */
  gone(handle: LoggerHandle): void;
  /**
   * Application code set the native level past the core, which adopts it as the configured level of the name; undefined: it
   * took the level away, and the name inherits.
   */
  changedOutside(handle: LoggerHandle, level: Level | undefined): void;
  /** True while the core itself changes native levels, so that an adapter can tell its own echo from the application. */
  readonly pushing: boolean;
  /** Something an operator should know of a logger, such as "transport keeps its own level info". Shown over RPC. */
  warn(name: string, message: string): void;
  /** What was warned of is over. Left out by hosts of before it was there. */
  retract?(name: string, message: string): void;
}

/**
 * How often the loggers of one name were called, at each level: at the index of `levelVerbosity`, where the least verbose level
 * counts that lets the call through.
 */
export interface CallTally {
  /** Calls that the logger's level let through. */
  readonly emitted: number[];
  /** Calls that it did not. */
  readonly suppressed: number[];
}

/**
 * Says of a call that its logger's level does not let through whether it is let through all the same. `verbosity` is that of the
 * least verbose level that would; `nameOf` answers with the name of the discovered logger whose level `logger` follows, and
 * undefined where there is none.
 */
export type CallGate = <L>(verbosity: number, logger: L, nameOf: (logger: L) => string | undefined) => boolean;

/** A logging library, as the core sees it. */
export interface LoggerAdapter {
  /** The library's name, such as "pino"; shown as the kind of its loggers. */
  readonly kind: string;
  /** Finds the library's loggers, those made later too, and reports them to the host until detached. */
  attach(host: LoggerHost): Detach;
  /**
   * Where the library tells nobody of new loggers or changed levels: looks for them, and reports them to the host that it is
   * attached to. Called when an operator reads, at most once a second.
   */
  refresh?(): void;
  /**
   * Counts the calls of its loggers, also of those that appear meanwhile, until the returned function is called, which leaves
   * them as they were. A call on a logger that was not discovered counts for the one whose level it follows. `tallyOf` is asked
   * once for each logger, at its first call, and answers undefined where its calls are not wanted. Left out where the library
   * cannot be measured. Called while the adapter is attached, by one measurement at a time.
   */
  measure?(tallyOf: (name: string) => CallTally | undefined): () => void;
  /**
   * Asks `lets` at every call of its loggers that their level does not let through, also of those that appear meanwhile, and lets
   * through what it says, until the returned function is called, which leaves them as they were. Left out where the library
   * cannot. Called while the adapter is attached, once at a time.
   */
  gate?(lets: CallGate): () => void;
}

/** Leaves the library as it was before it was attached; levels stay as they are. */
export type Detach = () => void;

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

/** An error in a record. */
export interface RecordError {
  /** The name of its class, such as "TypeError". */
  readonly type: string;
  readonly message: string;
  /** With those of its causes, if the library writes them. */
  readonly stack?: string | undefined;
}

/** What a record says, as the library wrote it, after its own redaction and formatting. */
export interface RecordContent {
  readonly message: string;
  /** Everything but message, level, time, logger and error, as `JSON.parse` would return it. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly error?: RecordError | undefined;
}

/** A record that a library hands to its destinations. Must not keep a logger or an object that the application may still change. */
export interface WrittenRecord {
  /** The `levelVerbosity` of the least verbose level that lets it through. */
  readonly verbosity: number;
  /** The library's own name for its level. */
  readonly nativeLevel: string;
  /** Whether it was made for the sink alone: the application's own destinations do not get it. */
  readonly hidden: boolean;
  /** About how much memory it takes, in characters. */
  readonly size: number;
  /** Returns what it says. Called later, outside of the call that wrote it, and at most once. */
  read(): RecordContent;
}

/** What takes the records of the loggers of one name. */
export interface RecordSink {
  /** The `levelVerbosity` of the most verbose record that it takes of what the loggers write. */
  readonly verbosity: number;
  /**
   * The same of the records that the loggers' level drops: up to this one they are made for the sink alone and not written. 0 if
   * none are.
   */
  readonly hiddenVerbosity: number;
  /** Takes a record. Never throws, logs or changes a level; call it synchronously where the record is written. */
  take(record: WrittenRecord): void;
}

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
  /**
   * Gives every record that its loggers write, including later ones, to the sink of its logger until the returned function is
   * called, which restores the loggers exactly. Until then a record that no sink takes costs as little as possible. A record of a
   * logger that is not managed counts for the one whose level it follows. `sinkOf` is called once for each logger, at its first
   * record, and returns undefined if its records are not wanted. What a sink or the reading of a record causes must not reach the
   * application: neither errors nor further records. If `hides` is false, no sink has a `hiddenVerbosity`, and disabled calls
   * need not be looked at. Leave it out if the library cannot be heard. It is called while the adapter
   * is attached, and once at a time.
   */
  tail?(sinkOf: (name: string) => RecordSink | undefined, hides?: boolean): () => void;
  /**
   * Whether {@link tail} heeds `hiddenVerbosity` exactly: the application's destinations get what they would get without it. If not,
   * the reason why not, for operators. Default: a reason that names the library.
   */
  readonly hides?: true | string | undefined;
}

/** Stops watching the library. The host has restored every level before. */
export type Detach = () => void;

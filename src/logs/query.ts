import type { HoldRequest } from "../loggers/change-request.ts";
import type { Level } from "../loggers/level.ts";
import type { Notice } from "../loggers/notice.ts";
import type { LogRecord } from "./record.ts";

/** Selects records. All conditions must hold. */
export interface LogQuery {
  /**
   * A name is that logger alone, `orders.*` is every logger below `orders`, and the name of a group its members. Default: all
   * loggers.
   */
  readonly names?: readonly string[] | undefined;
  /** Records of this level and of more severe ones. Default: all. */
  readonly level?: Level | undefined;
  /** A text in the message, the fields or the error, in any case. What is redacted is not searched. */
  readonly contains?: string | undefined;
  /** Fields by their dotted path, such as `order.id`, with their value as text. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  /** A level for as long as the tail is open. */
  readonly raise?: RaiseRequest | undefined;
  /** How many of the latest records to begin with, if another tail with the same conditions is open or was just closed. Default 0. */
  readonly recent?: number | undefined;
  /** Continues after the event with this token. */
  readonly after?: string | undefined;
  /** The most records a second that are looked at, at most 100,000. Default 10,000. */
  readonly maxPerSecond?: number | undefined;
  /** The loggers at and below which records may be seen. Default: all. */
  readonly reach?: readonly string[] | undefined;
}

/** A level for as long as a tail is open. */
export interface RaiseRequest extends HoldRequest {
  /** What lets more through already keeps its level; if that level is temporary, the raised one applies when it ends. */
  readonly level: Level;
  /** Whether the additional records are kept from the application's own destinations; then no level changes. Default false. */
  readonly onlyHere?: boolean | undefined;
  /** The most additional records in a second; beyond it the level is restored at once. Default and maximum: the option's. */
  readonly maxPerSecond?: number | undefined;
}

/** Why records are missing: the reader was slow, there were too many in a second, they are no longer kept, or redaction failed. */
export type DropReason = "SLOW_READER" | "RATE" | "GAP" | "REDACTION";

/** Why a raised level ended before its tail: its time is over, another level was configured, or it made too many records. */
export type RaiseEndReason = "EXPIRED" | "OVERRULED" | "VOLUME";

/** What a tail receives, and what its raise did. */
export interface TailStart {
  /** The number of loggers that are selected now. */
  readonly loggers: number;
  /** The libraries in use whose records cannot be received. */
  readonly unheardKinds: readonly string[];
  /** The loggers whose level was raised, with the level configured before. */
  readonly raised: readonly { readonly name: string; readonly previousLevel: Level | undefined }[];
  readonly notices: readonly Notice[];
  /** How long the level is raised at most; undefined if as long as the tail, or not at all. */
  readonly raiseTimeLeftMs: number | undefined;
}

/** Records in the order in which they were written: the same object for all tails at the same place. */
export interface RecordBatch {
  readonly type: "records";
  readonly records: readonly LogRecord[];
  /** The token for {@link LogQuery.after}. */
  readonly after: string;
}

/** One event of a tail. */
export type TailEvent =
  | RecordBatch
  | {
      readonly type: "dropped";
      readonly reason: DropReason /** Undefined: unknown. */;
      readonly count: number | undefined;
    }
  | { readonly type: "raiseEnded"; readonly reason: RaiseEndReason; readonly maxPerSecond: number | undefined };

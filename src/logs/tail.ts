import type { DropReason, RecordBatch, TailEvent, TailStart } from "./query.ts";
import type { Raise } from "./raise.ts";
import type { RecordRing } from "./ring.ts";

/** Where a tail begins in its ring. */
export interface TailBegin {
  /** The number of the first record. */
  readonly next: number;
  /** What was missed before; undefined if nothing was, and a count of undefined if it is not known. */
  readonly gap: { readonly count: number | undefined } | undefined;
}

/** One reader of records. It keeps the number of the next record and nothing else, however slowly it is read. */
export class Tail implements AsyncIterable<TailEvent> {
  readonly start: TailStart;
  /** Whether it was closed, by its reader or with the actuator. */
  isClosed = false;
  readonly #ring: RecordRing;
  readonly #raise: Raise | undefined;
  readonly #onClose: () => void;
  readonly #listeners = new Set<() => void>();
  readonly #dropped: { readonly reason: DropReason; readonly count: number | undefined }[] = [];
  #next: number;
  #overRate: number;
  #unread: number;
  #isRaiseEndTold = false;

  constructor(ring: RecordRing, raise: Raise | undefined, begin: TailBegin, start: TailStart, onClose: () => void) {
    this.start = start;
    this.#ring = ring;
    this.#raise = raise;
    this.#onClose = onClose;
    this.#next = begin.next;
    this.#overRate = ring.overRate;
    this.#unread = ring.unread;
    if (begin.gap !== undefined) this.#dropped.push({ reason: "GAP", ...begin.gap });
    raise?.onEnd(() => this.wake());
  }

  /** The token of the place that it has reached, for `LogQuery.after`. */
  get after(): string {
    return this.#ring.token(this.#next);
  }

  /** How long its level is raised at most, in milliseconds; undefined if as long as it is open, or not at all. */
  get raiseTimeLeftMs(): number | undefined {
    return this.#raise?.endReason === undefined ? this.#raise?.timeLeftMs : undefined;
  }

  /** Returns the next event, or undefined if there is none yet. */
  take(): TailEvent | undefined {
    if (this.isClosed) return undefined;
    const reason = this.#raise?.endReason;
    if (reason !== undefined && !this.#isRaiseEndTold) {
      this.#isRaiseEndTold = true;
      return { type: "raiseEnded", reason, maxPerSecond: reason === "VOLUME" ? this.#raise!.maxPerSecond : undefined };
    }
    return this.#drop() ?? this.#batch();
  }

  /** Calls `listener` whenever there may be an event, and when the tail is closed. Returns a function that removes it. */
  onEvent(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells its reader that there may be an event. */
  wake(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Ends it, and gives the level back. May be called again. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#raise?.release();
    this.#onClose();
    this.wake();
  }

  /** Iterates over its events, and closes it when the loop ends. */
  async *[Symbol.asyncIterator](): AsyncGenerator<TailEvent, undefined> {
    let woken = () => {};
    const off = this.onEvent(() => woken());
    try {
      while (!this.isClosed) {
        const event = this.take();
        if (event !== undefined) yield event;
        else {
          await new Promise<void>((resolve) => {
            woken = resolve;
          });
        }
      }
    } finally {
      off();
      this.close();
    }
  }

  #drop(): TailEvent | undefined {
    const { oldest, overRate, unread } = this.#ring;
    const counts: readonly (readonly [DropReason, number])[] = [
      ["SLOW_READER", oldest - this.#next],
      ["RATE", overRate - this.#overRate],
      ["REDACTION", unread - this.#unread],
    ];
    for (const [reason, count] of counts) if (count > 0) this.#dropped.push({ reason, count });
    this.#next = Math.max(this.#next, oldest);
    this.#overRate = overRate;
    this.#unread = unread;
    const dropped = this.#dropped.shift();
    return dropped && { type: "dropped", ...dropped };
  }

  #batch(): RecordBatch | undefined {
    const batch = this.#ring.batch(this.#next);
    this.#next += batch?.records.length ?? 0;
    return batch;
  }
}

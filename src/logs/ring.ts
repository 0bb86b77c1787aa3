import { randomBytes } from "node:crypto";
import type { Entry, Reading } from "./entry.ts";
import type { RecordFilter } from "./filter.ts";
import type { RecordBatch } from "./query.ts";
import type { LogRecord } from "./record.ts";

const MAX_RECORDS = 4_096;
/** A batch has at most so many records, and characters unless its first record has more. */
const BATCH_RECORDS = 256;
const BATCH_SIZE = 64 * 1024;
/** The most batches that are kept for other tails at the same place. */
const MAX_BATCHES = 32;

interface Kept {
  readonly record: LogRecord;
  readonly size: number;
}

/**
 * The latest records of one filter, for all tails with the same conditions. A tail keeps only the number of the next record that it
 * wants, so a slow one needs no memory; what it does not read in time is overwritten.
 */
export class RecordRing {
  readonly id = randomBytes(9).toString("base64url");
  readonly filter: RecordFilter;
  /** The greatest number of characters that it keeps, besides one record. */
  maxSize = Number.POSITIVE_INFINITY;
  /** The number of the oldest record that it keeps, or of the next one if it keeps none. */
  oldest = 1;
  /** The number of the next record. */
  next = 1;
  /** How many records were dropped because there were too many in a second. */
  overRate = 0;
  /** How many were dropped because they could not be read or redacted. */
  unread = 0;
  readonly #maxPerSecond: number;
  readonly #kept: (Kept | undefined)[] = [];
  #size = 0;
  #pending: Entry[] = [];
  #pendingSize = 0;
  /** How many records and drops tails had last. */
  #events = 1;
  #second = 0;
  #inSecond = 0;
  readonly #batches = new Map<number, RecordBatch>();

  constructor(filter: RecordFilter, maxPerSecond: number) {
    this.filter = filter;
    this.#maxPerSecond = maxPerSecond;
  }

  /** Takes a record in the call that wrote it: nothing is read yet. */
  push(entry: Entry, time: number): void {
    if (time - this.#second >= 1_000 || time < this.#second) {
      this.#second = time;
      this.#inSecond = 0;
    }
    const isFull = this.#pending.length >= MAX_RECORDS || this.#pendingSize > this.maxSize;
    if (isFull || ++this.#inSecond > this.#maxPerSecond) {
      this.overRate++;
      return;
    }
    this.#pending.push(entry);
    this.#pendingSize += entry.size;
  }

  /** Reads what was taken. Returns whether tails have something new. */
  drain(reading: Reading): boolean {
    const pending = this.#pending;
    this.#pending = [];
    this.#pendingSize = 0;
    for (const entry of pending) this.#add(entry, reading);
    const events = this.next + this.unread + this.overRate;
    const isNew = events > this.#events;
    this.#events = events;
    return isNew;
  }

  /** The records from a number on, as many as fit; undefined if there is none yet. `from` is at least {@link oldest}. */
  batch(from: number): RecordBatch | undefined {
    if (from >= this.next) return undefined;
    const known = this.#batches.get(from);
    if (known !== undefined) return known;
    const records: LogRecord[] = [];
    let size = 0;
    for (let at = from; at < this.next && records.length < BATCH_RECORDS; at++) {
      const kept = this.#kept[at % MAX_RECORDS]!;
      size += kept.size;
      if (size > BATCH_SIZE && records.length > 0) break;
      records.push(kept.record);
    }
    const batch: RecordBatch = { type: "records", records, after: this.token(from + records.length) };
    if (this.#batches.size >= MAX_BATCHES) this.#batches.delete(this.#batches.keys().next().value!);
    this.#batches.set(from, batch);
    return batch;
  }

  /** The token of the place before a number. */
  token(next: number): string {
    return `${this.id}.${next}`;
  }

  #add(entry: Entry, reading: Reading): void {
    const shown = entry.read(reading);
    if (shown === "unread") this.unread++;
    if (shown === undefined || shown === "unread" || !this.filter.matches(shown.record)) return;
    const { record, size } = shown;
    const sequence = this.next++;
    this.#kept[sequence % MAX_RECORDS] = { record: { ...record, sequence }, size };
    this.#size += size;
    while (this.next - this.oldest > MAX_RECORDS - 1 || (this.#size > this.maxSize && this.oldest < sequence)) {
      this.#size -= this.#kept[this.oldest % MAX_RECORDS]!.size;
      this.#kept[this.oldest % MAX_RECORDS] = undefined;
      this.#batches.delete(this.oldest);
      this.oldest++;
    }
  }
}

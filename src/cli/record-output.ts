import { once } from "node:events";

/** How long records wait for earlier ones of other instances, at least and at most twice as long. */
const MERGE_MS = 100;
/** The characters that wait for earlier ones; with more, no more are read. */
const MAX_PENDING = 4 * 1024 * 1024;

/** The text of a record, to be written in the order of its time. */
export interface TimedText {
  /** Milliseconds. */
  readonly time: number;
  readonly text: string;
}

/**
 * Writes text to standard output no faster than it is read, so that a slow reader makes memory grow neither here nor, because the stream is
 * not read meanwhile, elsewhere.
 */
export async function printSlowly(text: string, end: AbortSignal): Promise<void> {
  if (text === "" || process.stdout.write(text) || end.aborted) return;
  // A reader that is gone ends the command.
  await once(process.stdout, "drain", { signal: end }).catch(() => {});
}

/** Writes the records of several instances in the order of their times, as far as their clocks agree. */
export class RecordMerge {
  readonly #end: AbortSignal;
  #waiting: (TimedText & { readonly round: number })[] = [];
  #size = 0;
  #round = 0;
  #writing: Promise<void> | undefined;
  readonly #timer = setInterval(() => this.#next(), MERGE_MS);
  #wakeReaders = Promise.withResolvers<void>();

  /** `end` is aborted when nothing waits for standard output any more. */
  constructor(end: AbortSignal) {
    this.#end = end;
    end.addEventListener("abort", () => this.#wakeReaders.resolve(), { once: true });
  }

  /** Takes records of one instance. Resolves when there is room for more. */
  async add(records: readonly TimedText[]): Promise<void> {
    for (const { time, text } of records) {
      this.#waiting.push({ time, text, round: this.#round });
      this.#size += text.length;
    }
    while (this.#size > MAX_PENDING && !this.#end.aborted) await this.#wakeReaders.promise;
  }

  /** Writes nothing more. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /** Writes what waits, and nothing more. */
  async close(): Promise<void> {
    this.stop();
    await this.#writing;
    await this.#write(Number.POSITIVE_INFINITY);
  }

  #next(): void {
    // Standard output is not read fast enough.
    if (this.#writing !== undefined) return;
    const until = this.#waiting.reduce(
      (last, { time, round }) => (round < this.#round ? Math.max(last, time) : last),
      0,
    );
    this.#round++;
    this.#writing = this.#write(until).finally(() => {
      this.#writing = undefined;
    });
  }

  async #write(until: number): Promise<void> {
    const due = this.#waiting.filter(({ time }) => time <= until).sort((one, other) => one.time - other.time);
    this.#waiting = this.#waiting.filter(({ time }) => time > until);
    await printSlowly(due.map(({ text }) => text).join(""), this.#end);
    this.#size = this.#waiting.reduce((size, { text }) => size + text.length, 0);
    this.#wakeReaders.resolve();
    this.#wakeReaders = Promise.withResolvers();
  }
}

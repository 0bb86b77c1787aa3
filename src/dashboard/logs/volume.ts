import { Level } from "../../gen/actuator/v3/level_pb.ts";

export const VOLUME_SECONDS = 300;
const BAR_SECONDS = 5;
const RATE_SECONDS = 10;

/** The records of some seconds: by level, and those that a raise added. */
export interface Bar {
  readonly error: number;
  readonly warn: number;
  readonly rest: number;
  readonly added: number;
}

/** How many records a tail received in each of the last five minutes' seconds. */
export class Volume {
  /** For each second eight counts: those that a raise added, and those of each level. */
  readonly #counts = new Uint32Array(VOLUME_SECONDS * 8);
  #newest = 0;

  /** @param time when it was written, in milliseconds; a time outside the five minutes counts as the present one */
  add(level: Level, isAdded: boolean, time: number, now: number): void {
    this.#moveTo(now);
    const second = Math.floor(time / 1_000);
    const isWithin = second <= this.#newest && second > this.#newest - VOLUME_SECONDS;
    this.#counts[slot(isWithin ? second : this.#newest) + level]!++;
    if (isAdded) this.#counts[slot(isWithin ? second : this.#newest)]!++;
  }

  /** The bars of the five minutes, oldest first. */
  bars(now: number): readonly Bar[] {
    this.#moveTo(now);
    const first = this.#newest - VOLUME_SECONDS + 1;
    return Array.from({ length: VOLUME_SECONDS / BAR_SECONDS }, (_, index) => {
      const of = (...levels: number[]) => this.#sum(first + index * BAR_SECONDS, BAR_SECONDS, levels);
      const added = of(0);
      const [error, warn] = [of(Level.FATAL, Level.ERROR), of(Level.WARN)];
      return { error, warn, added, rest: Math.max(0, of(Level.INFO, Level.DEBUG, Level.TRACE) - added) };
    });
  }

  /** Records a second of a level, or of all, in the last ten whole seconds. */
  rate(now: number, ...levels: readonly Level[]): number {
    this.#moveTo(now);
    const of = levels.length === 0 ? [1, 2, 3, 4, 5, 6, 7] : levels;
    return this.#sum(this.#newest - RATE_SECONDS, RATE_SECONDS, of) / RATE_SECONDS;
  }

  clear(): void {
    this.#counts.fill(0);
  }

  #sum(from: number, seconds: number, levels: readonly number[]): number {
    let sum = 0;
    for (let second = from; second < from + seconds; second++) {
      for (const level of levels) sum += this.#counts[slot(second) + level]!;
    }
    return sum;
  }

  #moveTo(now: number): void {
    const second = Math.floor(now / 1_000);
    for (let each = Math.max(this.#newest + 1, second - VOLUME_SECONDS + 1); each <= second; each++) {
      this.#counts.fill(0, slot(each), slot(each) + 8);
    }
    this.#newest = Math.max(this.#newest, second);
  }
}

function slot(second: number): number {
  return (second % VOLUME_SECONDS) * 8;
}

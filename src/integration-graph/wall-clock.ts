/** Further apart than this the two clocks show that the system's was set, or that the machine slept. */
const TOLERANCE = 1_000;

/**
 * Turns readings of `performance.now()` into milliseconds since the epoch. One reading gives one time, whenever it is turned,
 * unless the system's clock was set meanwhile.
 */
export class WallClock {
  #offset = performance.timeOrigin;

  /** The function that turns them, as the clocks are now. */
  read(): (reading: number) => number {
    const offset = Date.now() - performance.now();
    if (Math.abs(offset - this.#offset) > TOLERANCE) this.#offset = offset;
    return (reading) => Math.round(this.#offset + reading);
  }
}

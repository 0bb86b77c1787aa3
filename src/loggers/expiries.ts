/** Longer waits are split, because setTimeout cannot wait for more than 24 days. */
const MAX_WAIT_MS = 3_600_000;

/**
 * Calls back for each key when its time is over. It uses the monotonic clock, so setting the machine's clock changes nothing. A
 * suspended process calls back as soon as it continues. The timer does not keep the process alive.
 */
export class Expiries<Key> {
  readonly #deadlines = new Map<Key, number>();
  readonly #onDue: (key: Key) => void;
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;

  constructor(onDue: (key: Key) => void) {
    this.#onDue = onDue;
  }

  /** Starts or restarts the time of a key. */
  set(key: Key, timeMs: number): void {
    const deadline = performance.now() + timeMs;
    this.#deadlines.set(key, deadline);
    if (deadline < this.#wakesAt) this.#wakeAt(deadline);
  }

  /** Gives a key the same end as another key, if that has one. */
  share(key: Key, other: Key): void {
    const deadline = this.#deadlines.get(other);
    if (deadline !== undefined) this.#deadlines.set(key, deadline);
  }

  delete(key: Key): void {
    this.#deadlines.delete(key);
    if (this.#deadlines.size === 0) this.#wakeAt(Number.POSITIVE_INFINITY);
  }

  /** Stops all times without calling back, and returns their keys. */
  end(): Key[] {
    const keys = [...this.#deadlines.keys()];
    this.#deadlines.clear();
    this.#wakeAt(Number.POSITIVE_INFINITY);
    return keys;
  }

  #wakeAt(deadline: number): void {
    clearTimeout(this.#timer);
    this.#wakesAt = deadline;
    if (deadline === Number.POSITIVE_INFINITY) return;
    const wait = Math.min(Math.max(deadline - performance.now(), 0), MAX_WAIT_MS);
    this.#timer = setTimeout(() => this.#wake(), wait).unref();
  }

  #wake(): void {
    const now = performance.now();
    const due: Key[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const [key, deadline] of this.#deadlines) {
      if (deadline <= now) due.push(key);
      else next = Math.min(next, deadline);
    }
    for (const key of due) this.#deadlines.delete(key);
    this.#wakeAt(next);
    for (const key of due) this.#onDue(key);
  }
}

/** So many requests are read at a time, by whatever protocol: each may take twice its largest size in memory. */
const MAX_REQUESTS = 32;

/**
 * Room for the requests that are read. Only who was let in takes a place: a stranger who sends half of a request, again and
 * again, keeps nobody's spans from being taken.
 */
export class Places {
  #taken = 0;

  /** Takes a place until the returned function is called; undefined where there is none. */
  take(): (() => void) | undefined {
    if (this.#taken >= MAX_REQUESTS) return undefined;
    this.#taken++;
    let held = true;
    return () => {
      if (held) this.#taken--;
      held = false;
    };
  }
}

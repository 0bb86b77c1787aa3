import { runFilling } from "./fill-run.ts";
import type { Filling } from "./filling.ts";

const AGAIN_AFTER = 60_000;
const TOO_MANY_AGAIN_AFTER = 3_600_000;

/**
 * Fills the index in the background where it does not hold every session and they are few enough: one filling at a time, and
 * a minute between two. For more there is `prepareRedisSessions`, which somebody starts when it suits.
 */
export class Survey {
  readonly #filling: Filling;
  readonly #maxSessions: number;
  readonly #stop = new AbortController();
  #running = false;
  #notBefore = 0;

  constructor(filling: Filling, maxSessions: number) {
    this.#filling = filling;
    this.#maxSessions = maxSessions;
  }

  /** Begins one, unless it is not yet time for it. */
  begin(): void {
    const now = Date.now();
    if (this.#running || this.#stop.signal.aborted || now < this.#notBefore) return;
    this.#running = true;
    this.#notBefore = now + AGAIN_AFTER;
    this.#run()
      .catch(() => {})
      .finally(() => {
        this.#running = false;
      });
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const tooMany = new AbortController();
    const onProgress = ({ sessions }: { sessions: number }) => {
      if (sessions > this.#maxSessions) tooMany.abort();
    };
    await runFilling(this.#filling, { onProgress, signal: AbortSignal.any([tooMany.signal, this.#stop.signal]) });
    if (tooMany.signal.aborted) this.#notBefore = Date.now() + TOO_MANY_AGAIN_AFTER;
  }
}

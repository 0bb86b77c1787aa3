import type { HealthCheck } from "./health-options.ts";
import { type ComponentHealth, componentHealth, failedHealth } from "./health-status.ts";

/** How long a check may take, and for how long its answer is good, in milliseconds. */
export interface CheckBounds {
  readonly timeoutMs: number;
  readonly cacheMs: number;
}

/** Runs that nobody waits for any more, but which have not ended either: with as many, no new one begins. */
const MAX_ABANDONED = 4;

/** A check that answers in time, is not run more often than is good for it, and never throws. */
export class BoundedCheck {
  readonly #check: HealthCheck;
  readonly #bounds: CheckBounds;
  readonly #onFailure: (error: unknown) => void;
  #latest: ComponentHealth | undefined;
  #settledAt = Number.NEGATIVE_INFINITY;
  #running: Promise<ComponentHealth> | undefined;
  #abandoned = 0;

  /** `onFailure` hears of the first failure of a row. */
  constructor(check: HealthCheck, bounds: CheckBounds, onFailure: (error: unknown) => void) {
    this.#check = check;
    this.#bounds = bounds;
    this.#onFailure = onFailure;
  }

  /** The latest answer; undefined before the first. */
  get latest(): ComponentHealth | undefined {
    return this.#latest;
  }

  /** The latest answer where it is good enough; otherwise that of a run, which all who ask meanwhile share. */
  ask(): ComponentHealth | Promise<ComponentHealth> {
    if (this.#running !== undefined) return this.#running;
    const fresh = performance.now() - this.#settledAt < this.#bounds.cacheMs || this.#abandoned >= MAX_ABANDONED;
    if (fresh && this.#latest !== undefined) return this.#latest;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(): Promise<ComponentHealth> {
    const { timeoutMs } = this.#bounds;
    const controller = new AbortController();
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(() => timeout.reject(new CheckTimeout(timeoutMs)), timeoutMs).unref();
    // In an async function, since a check may throw before it has a promise to reject.
    const answer = (async () => this.#check(controller.signal))();
    try {
      return this.#settle(componentHealth(await Promise.race([answer, timeout.promise])));
    } catch (error) {
      if (error instanceof CheckTimeout) this.#abandon(answer, controller, error);
      if (this.#latest?.status !== "DOWN") this.#onFailure(error);
      return this.#settle(failedHealth(error));
    } finally {
      clearTimeout(timer);
    }
  }

  #settle(health: ComponentHealth): ComponentHealth {
    this.#latest = health;
    this.#settledAt = performance.now();
    return health;
  }

  #abandon(answer: Promise<unknown>, controller: AbortController, reason: CheckTimeout): void {
    this.#abandoned++;
    const ended = () => this.#abandoned--;
    answer.then(ended, ended);
    controller.abort(reason);
  }
}

class CheckTimeout extends Error {
  override readonly name = "Timeout";

  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
  }
}

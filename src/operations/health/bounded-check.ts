import type { HealthCheck } from "./health-options.ts";
import { type ComponentHealth, componentHealth, failedHealth } from "./health-status.ts";

/** How long a check may take, and for how long its answer is good, in milliseconds. */
export interface CheckBounds {
  readonly timeoutMs: number;
  readonly cacheMs: number;
}

/** The times of a check that has run. */
export interface CheckTimes {
  /** When a run first came to the present status without another one in between, in milliseconds since the epoch. */
  readonly since: number;
  /** How long the latest run took, in milliseconds. */
  readonly durationMs: number;
}

/** The maximum of runs that timed out and have not ended; with this many, no new run begins. */
const MAX_ABANDONED = 4;

/** A check with a timeout and a cache, which never throws. */
export class BoundedCheck {
  readonly #check: HealthCheck;
  readonly #bounds: CheckBounds;
  readonly #onFailure: (error: unknown) => void;
  #latest: ComponentHealth | undefined;
  #times: CheckTimes | undefined;
  #settledAt = Number.NEGATIVE_INFINITY;
  #running: Promise<ComponentHealth> | undefined;
  #abandoned = 0;

  /** `onFailure` is called at the first failure in a row. */
  constructor(check: HealthCheck, bounds: CheckBounds, onFailure: (error: unknown) => void) {
    this.#check = check;
    this.#bounds = bounds;
    this.#onFailure = onFailure;
  }

  /** The latest answer; undefined before the first. */
  get latest(): ComponentHealth | undefined {
    return this.#latest;
  }

  /** The times of the latest answer; undefined before the first. */
  get times(): CheckTimes | undefined {
    return this.#times;
  }

  /** The latest answer if it is recent enough; otherwise that of a new run, which concurrent callers share. */
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
    const start = performance.now();
    const controller = new AbortController();
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(() => timeout.reject(new CheckTimeout(timeoutMs)), timeoutMs).unref();
    // In an async function, because a check may throw before it returns a promise.
    const answer = (async () => this.#check(controller.signal))();
    try {
      return this.#settle(componentHealth(await Promise.race([answer, timeout.promise])), start);
    } catch (error) {
      if (error instanceof CheckTimeout) this.#abandon(answer, controller, error);
      if (this.#latest?.status !== "DOWN") this.#onFailure(error);
      return this.#settle(failedHealth(error), start);
    } finally {
      clearTimeout(timer);
    }
  }

  #settle(health: ComponentHealth, start: number): ComponentHealth {
    const since = this.#latest?.status === health.status ? this.#times!.since : Date.now();
    this.#latest = health;
    this.#settledAt = performance.now();
    this.#times = { since, durationMs: Math.round(this.#settledAt - start) };
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

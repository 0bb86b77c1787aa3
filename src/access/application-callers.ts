import { isDeepStrictEqual } from "node:util";
import type { ActuatorError } from "../common/error.ts";
import type { AuthRequest } from "./auth-request.ts";
import type { Caller } from "./caller.ts";
import { askApplication } from "./custom.ts";
import type { Authorize } from "./options.ts";
import { RateLimit } from "./rate-limit.ts";

/** How often the function is asked again, unless the option says otherwise. */
const AGAIN_SECONDS = 60;

/** For how many times as long its answer counts while it fails: a failure that passes ends nothing. */
const PATIENCE = 5;

/** How many callers it is asked about again at a time: thousands of watches must not be thousands of queries at once. */
const MAX_AT_ONCE = 16;

/** How often a failure is told of, since strangers can make it fail as often as they like. */
const FAILURES_TOLD_PER_MINUTE = 10;

interface Known {
  readonly caller: Caller;
  readonly request: AuthRequest;
  /** Times of `performance.now()`: when the function said so last, and when it is to be asked again. */
  saidAt: number;
  askAt: number;
  ended: boolean;
}

/**
 * Those whom the application's own function knows. It is asked for each call, and again for as long as a call goes on: it alone
 * can tell when somebody's rights end.
 */
export class ApplicationCallers {
  readonly #authorize: Authorize;
  readonly #againMs: number;
  readonly #onError: (error: unknown) => void;
  /** Those of calls that are over go by themselves. */
  readonly #known = new WeakMap<Caller, Known>();
  readonly #due: Known[] = [];
  readonly #failures = new RateLimit(FAILURES_TOLD_PER_MINUTE);
  #asking = 0;

  /** @param onError hears why the function failed */
  constructor(authorize: Authorize, againSeconds: number | undefined, onError: (error: unknown) => void) {
    this.#authorize = authorize;
    this.#againMs = (againSeconds ?? AGAIN_SECONDS) * 1_000;
    this.#onError = onError;
  }

  /** Who this is; throws as `askApplication` does. */
  async find(request: AuthRequest): Promise<Caller> {
    const caller = await this.#answerTo(request);
    const now = performance.now();
    this.#known.set(caller, { caller, request, saidAt: now, askAt: now + this.#againMs, ended: false });
    return caller;
  }

  /**
   * Whether somebody who was found would still be, as far as is known; what is not known lately is asked for. Whoever has other
   * rights by now is no longer who they were.
   */
  holds(caller: Caller): boolean {
    const known = this.#known.get(caller);
    const now = performance.now();
    if (known === undefined || known.ended || now - known.saidAt >= PATIENCE * this.#againMs) return false;
    if (now >= known.askAt) {
      known.askAt = Number.POSITIVE_INFINITY;
      this.#due.push(known);
      this.#askOn();
    }
    return true;
  }

  #askOn(): void {
    while (this.#asking < MAX_AT_ONCE && this.#due.length > 0) {
      this.#asking++;
      void this.#ask(this.#due.shift()!).then(() => {
        this.#asking--;
        this.#askOn();
      });
    }
  }

  async #ask(known: Known): Promise<void> {
    const askedAt = performance.now();
    try {
      if (isDeepStrictEqual(await this.#answerTo(known.request), known.caller)) known.saidAt = askedAt;
      else known.ended = true;
      known.askAt = performance.now() + this.#againMs;
    } catch (error) {
      known.ended = (error as ActuatorError).code === "UNAUTHENTICATED";
      // That it failed says nothing of them; without a newer answer they end when the last one is too old.
      known.askAt = performance.now() + this.#againMs / PATIENCE;
    }
  }

  #answerTo(request: AuthRequest): Promise<Caller> {
    return askApplication(this.#authorize, request, (error) => {
      if (this.#failures.waitSeconds("") > 0) return;
      this.#failures.count("");
      this.#onError(error);
    });
  }
}

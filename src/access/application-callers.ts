import { isDeepStrictEqual } from "node:util";
import { ActuatorError } from "../common/error.ts";
import { checkOptions } from "../common/options.ts";
import { withTimeout } from "../common/timeout.ts";
import type { AuthRequest } from "./auth-request.ts";
import type { Caller } from "./caller.ts";
import { CREDENTIALS_MISSING, unauthenticated } from "./credentials.ts";
import { type Authorize, type CallerDescription, DESCRIPTION } from "./options.ts";
import { permissionsFrom } from "./permission.ts";
import { RateLimit } from "./rate-limit.ts";

/** How long one call of the function may take. */
const TIMEOUT_MS = 10_000;

/** Default interval between two calls of the function for the same long-lived call. */
const AGAIN_MS = 60_000;

/** While the function fails, its last answer stays valid for this many intervals: a short outage ends no watch. */
const PATIENCE = 5;

/** The maximum of repeated calls under way: thousands of watches must not become thousands of simultaneous queries. */
const MAX_CONCURRENT = 16;

/** The maximum of reported failures, since clients can cause as many as they like. */
const REPORTS_PER_MINUTE = 10;

interface KnownCaller {
  readonly caller: Caller;
  readonly request: AuthRequest;
  /** When the function confirmed the caller last, and when to ask it again: times of `performance.now()`. */
  confirmedAt: number;
  askAt: number;
  ended: boolean;
}

/**
 * Authenticates callers by the application's own function, `access.authorize`. It is asked for each call, and again while a long-lived
 * call goes on, because only the application knows when a caller's permissions end.
 */
export class ApplicationCallers {
  readonly #authorize: Authorize;
  readonly #againMs: number;
  readonly #onError: (error: unknown) => void;
  /** Weak: the entry of a call that has ended is collected with its caller. */
  readonly #known = new WeakMap<Caller, KnownCaller>();
  readonly #due: KnownCaller[] = [];
  readonly #reports = new RateLimit(REPORTS_PER_MINUTE);
  #asking = 0;

  /** @param onError receives the errors of the function */
  constructor(authorize: Authorize, againMs: number | undefined, onError: (error: unknown) => void) {
    this.#authorize = authorize;
    this.#againMs = againMs ?? AGAIN_MS;
    this.#onError = onError;
  }

  /**
   * Asks the function who makes a request.
   *
   * @throws ActuatorError UNAUTHENTICATED if it returns undefined, with the reason CREDENTIALS_MISSING if the request has none of the
   *   headers that it read; UNAVAILABLE if it throws, returns something invalid or takes too long
   */
  async find(request: AuthRequest): Promise<Caller> {
    const caller = await this.#ask(request);
    const now = performance.now();
    this.#known.set(caller, { caller, request, confirmedAt: now, askAt: now + this.#againMs, ended: false });
    return caller;
  }

  /**
   * Whether a caller of a long-lived call still has the same permissions, according to the last answer of the function. Asks the
   * function again in the background when that answer is due.
   */
  isStillValid(caller: Caller): boolean {
    const known = this.#known.get(caller);
    const now = performance.now();
    if (known === undefined || known.ended || now - known.confirmedAt >= PATIENCE * this.#againMs) return false;
    if (now >= known.askAt) {
      known.askAt = Number.POSITIVE_INFINITY;
      this.#due.push(known);
      this.#askDue();
    }
    return true;
  }

  #askDue(): void {
    while (this.#asking < MAX_CONCURRENT && this.#due.length > 0) {
      this.#asking++;
      void this.#askAgain(this.#due.shift()!).then(() => {
        this.#asking--;
        this.#askDue();
      });
    }
  }

  async #askAgain(known: KnownCaller): Promise<void> {
    const askedAt = performance.now();
    try {
      if (isDeepStrictEqual(await this.#ask(known.request), known.caller)) known.confirmedAt = askedAt;
      else known.ended = true;
      known.askAt = performance.now() + this.#againMs;
    } catch (error) {
      known.ended = (error as ActuatorError).code === "UNAUTHENTICATED";
      // A failure says nothing about the caller, who ends only when the last answer is too old.
      known.askAt = performance.now() + this.#againMs / PATIENCE;
    }
  }

  async #ask(request: AuthRequest): Promise<Caller> {
    let presentedCredentials = request.authorization !== undefined || request.certificate !== undefined;
    const header = (name: string) => {
      const value = request.header(name);
      presentedCredentials ||= value !== undefined;
      return value;
    };
    let caller: Caller | undefined;
    try {
      const late = () => new Error(`authorize took more than ${TIMEOUT_MS} ms`);
      caller = callerFrom(await withTimeout(() => this.#authorize({ ...request, header }), TIMEOUT_MS, late));
    } catch (error) {
      this.#report(error);
      throw new ActuatorError("UNAVAILABLE", "AUTHORIZE_FAILED", "Access cannot be decided at the moment.");
    }
    if (caller !== undefined) return caller;
    throw presentedCredentials
      ? unauthenticated("The application refused the credentials.")
      : unauthenticated("Authentication required.", CREDENTIALS_MISSING);
  }

  #report(error: unknown): void {
    if (this.#reports.waitSeconds("") > 0) return;
    this.#reports.count("");
    this.#onError(error);
  }
}

function callerFrom(description: CallerDescription | undefined): Caller | undefined {
  if (description === undefined) return undefined;
  checkOptions("the caller that authorize returned", description, DESCRIPTION);
  const { name, permissions, loggers } = description;
  if (name === undefined || permissions === undefined) {
    throw new Error("the caller that authorize returned must have a name and permissions");
  }
  return { name, authentication: "custom", permissions: permissionsFrom(permissions), loggers };
}

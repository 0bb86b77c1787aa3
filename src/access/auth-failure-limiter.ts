import type { ActuatorError } from "../common/error.ts";
import { addressBlock } from "../common/ip-address.ts";
import { MAX_DEBT_MINUTES, RateLimit, tooMany } from "./rate-limit.ts";

/**
 * How many times the limit of an IPv6 /64 applies to a /48. Providers give a customer a /48, which has 65,536 networks with a limit
 * each.
 */
const CUSTOMER_FACTOR = 16;

const WHAT = "failed authentications from this address";

/** Limits failed authentications by address: one IPv4 address or IPv6 /64, and {@link CUSTOMER_FACTOR} times as many of one IPv6 /48. */
export class AuthFailureLimiter {
  readonly #failures: RateLimit;
  readonly #failuresOfCustomer: RateLimit;
  readonly #maxPending: number;
  readonly #pending = new Map<string, number>();

  constructor(maxPerMinute: number) {
    this.#failures = new RateLimit(maxPerMinute);
    this.#failuresOfCustomer = new RateLimit(CUSTOMER_FACTOR * maxPerMinute);
    // The debt is limited: more simultaneous attempts than that would be free guesses.
    this.#maxPending = Math.ceil(MAX_DEBT_MINUTES * maxPerMinute);
  }

  /**
   * Runs a check of credentials that can be guessed, such as a password.
   *
   * @throws ActuatorError RESOURCE_EXHAUSTED if the address failed too often or has too many checks under way
   */
  async guard<T>(address: string | undefined, check: () => Promise<T>): Promise<T> {
    const block = addressBlock(address);
    const wait = this.#waitSeconds(address);
    const pending = this.#pending.get(block) ?? 0;
    if (wait > 0 || pending >= this.#maxPending) throw tooMany(WHAT, Math.max(1, wait));
    this.#pending.set(block, pending + 1);
    try {
      return await check();
    } finally {
      const left = this.#pending.get(block)! - 1;
      if (left === 0) this.#pending.delete(block);
      else this.#pending.set(block, left);
    }
  }

  /** Records a failure. Returns the error to answer with: `error`, or RESOURCE_EXHAUSTED if the address had already failed too often. */
  recordFailure(address: string | undefined, error: ActuatorError): ActuatorError {
    const wait = this.#waitSeconds(address);
    this.#failures.count(addressBlock(address));
    this.#failuresOfCustomer.count(addressBlock(address, 48));
    return wait > 0 ? tooMany(WHAT, wait) : error;
  }

  #waitSeconds(address: string | undefined): number {
    const ofCustomer = this.#failuresOfCustomer.waitSeconds(addressBlock(address, 48));
    return Math.max(this.#failures.waitSeconds(addressBlock(address)), ofCustomer);
  }
}

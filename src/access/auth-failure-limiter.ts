import type { ActuatorError } from "../common/error.ts";
import { addressBlock } from "../common/ip-address/address-block.ts";
import { MAX_DEBT_MINUTES, RateLimit, tooMany } from "./rate-limit.ts";

/**
 * How many times as much may be wrong from one IPv6 /48 as from one /64. Providers give a customer a /48, and with it 65,536
 * networks that have a limit each.
 */
const CUSTOMER = 16;

/** The wrong credentials of each address, and what follows from too many. */
export class AuthFailureLimiter {
  readonly #wrong: RateLimit;
  readonly #wrongOfCustomer: RateLimit;
  readonly #maxPending: number;
  readonly #pending = new Map<string, number>();

  /** @param perMinute how many may be wrong, of one IPv4 address or IPv6 /64 */
  constructor(perMinute: number) {
    this.#wrong = new RateLimit(perMinute);
    this.#wrongOfCustomer = new RateLimit(CUSTOMER * perMinute);
    // More at once than can be paid for afterwards would be guesses that cost nothing.
    this.#maxPending = Math.ceil(MAX_DEBT_MINUTES * perMinute);
  }

  /**
   * Judges what an address shows that can be guessed.
   *
   * @throws ActuatorError RESOURCE_EXHAUSTED for an address that was wrong too often, or asks too much at once
   */
  async guard<T>(address: string | undefined, judge: () => Promise<T>): Promise<T> {
    const block = addressBlock(address);
    const wait = this.#waitSeconds(address);
    const pending = this.#pending.get(block) ?? 0;
    if (wait > 0 || pending >= this.#maxPending) throw tooMany(WHAT, Math.max(1, wait));
    this.#pending.set(block, pending + 1);
    try {
      return await judge();
    } finally {
      const left = this.#pending.get(block)! - 1;
      if (left === 0) this.#pending.delete(block);
      else this.#pending.set(block, left);
    }
  }

  /** Counts what was wrong; the answer to it is `refusal`, or after too many that there were too many. */
  recordFailure(address: string | undefined, refusal: ActuatorError): ActuatorError {
    const wait = this.#waitSeconds(address);
    this.#wrong.count(addressBlock(address));
    this.#wrongOfCustomer.count(addressBlock(address, 48));
    return wait > 0 ? tooMany(WHAT, wait) : refusal;
  }

  #waitSeconds(address: string | undefined): number {
    const ofCustomer = this.#wrongOfCustomer.waitSeconds(addressBlock(address, 48));
    return Math.max(this.#wrong.waitSeconds(addressBlock(address)), ofCustomer);
  }
}

const WHAT = "wrong credentials from this address";

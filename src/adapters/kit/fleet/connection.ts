import { withTimeout } from "../../../common/timeout.ts";
import { FleetRefusal } from "../../../fleet/engine.ts";

const MAX_RETRY_MS = 2_000;
const LEAVE_WITHIN_MS = 500;
const PING_EVERY_MS = 4_000;
const PING_WITHIN_MS = 4_000;

/** What a connection is made for, and how it reports. */
export interface LinkUse {
  onHint(hint?: string): void;
  onLost(error: Error): void;
  /** Aborted: the connection is to be closed at once, also one that is being made. */
  readonly signal: AbortSignal;
}

/** How connections to a server are made. */
export interface ConnectionOptions<Link> {
  /** What errors begin with while there is no connection, such as "There is no connection to Redis". */
  readonly unready: string;
  /** After it a connection that is being made is given up, in milliseconds. Default: what the client does. */
  readonly openWithinMs?: number | undefined;
  /** Connects and subscribes. Rejects if that fails; does not try again. */
  readonly make: (use: LinkUse) => Promise<Link>;
  /** Whether an error of `make` is an answer of the server, such as one to a wrong password. */
  readonly isRefusal: (error: Error) => boolean;
}

/**
 * The connection of a fleet's engine to its server. It is never repaired: whatever fails, another one is made, after a pause that grows
 * to 2 seconds.
 */
export class ReplacedConnection<Link> {
  readonly #options: ConnectionOptions<Link>;
  #listener: (hint?: string) => void = () => {};
  #current = new AbortController();
  #link: Link | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #fault: Error | undefined;
  #isClosed = false;

  /** Does not connect yet. */
  constructor(options: ConnectionOptions<Link>) {
    this.#options = options;
  }

  /** The connection in use; undefined while there is none. */
  get link(): Link | undefined {
    return this.#link;
  }

  /** Says that there is no connection, and why. */
  get unready(): string {
    const { unready } = this.#options;
    const fault = this.#fault as (Error & { readonly code?: string }) | undefined;
    // Node.js leaves the message empty if a host has several addresses and none answers.
    return fault === undefined ? `${unready} yet` : `${unready}: ${fault.message || fault.code}`;
  }

  /** Calls `listener` with each hint, and without one when a connection was made: some may have been missed. */
  onHint(listener: (hint?: string) => void): void {
    this.#listener = listener;
  }

  /** Connects, after throwing away the connection that there may be. */
  connect(): void {
    if (this.#isClosed) return;
    this.#drop();
    const { signal } = this.#current;
    const { make, openWithinMs = Number.POSITIVE_INFINITY } = this.#options;
    const use: LinkUse = {
      signal,
      onHint: (hint) => {
        if (!signal.aborted && !this.#isClosed) this.#listener(hint);
      },
      onLost: (error) => {
        if (!signal.aborted) this.#lost(error);
      },
    };
    const ready = (link: Link) => {
      if (signal.aborted || this.#isClosed) return;
      this.#link = link;
      use.onHint();
    };
    withTimeout(make(use), openWithinMs, noAnswer, { background: true }).then(ready, use.onLost);
  }

  /**
   * Makes a call over the connection.
   *
   * @param isBroken whether its error shows that the connection must be replaced. Default: only `onLost` does
   * @throws FleetRefusal if the server refuses a connection, Error if there is none, and what the call throws.
   */
  async ask<T>(call: (link: Link) => Promise<T>, isBroken: (error: Error) => boolean = () => false): Promise<T> {
    const link = this.#link;
    if (this.#isClosed) throw new Error("The fleet was closed.");
    if (link === undefined) {
      const isRefused = this.#fault !== undefined && this.#options.isRefusal(this.#fault);
      throw new (isRefused ? FleetRefusal : Error)(this.unready, { cause: this.#fault });
    }
    try {
      const answer = await call(link);
      this.#failures = 0;
      return answer;
    } catch (error) {
      if (link === this.#link && isBroken(error as Error)) this.#lost(error as Error);
      throw error;
    }
  }

  /** Ends for good. If there is a connection, `leave` is called first, and awaited for half a second. */
  async close(leave?: (link: Link) => Promise<unknown>): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#retry);
    if (leave !== undefined && this.#link !== undefined) {
      // Not in the background, unlike the socket: the application may have more to do after it has ended the fleet.
      await withTimeout(leave(this.#link), LEAVE_WITHIN_MS, noAnswer).catch(() => {});
    }
    this.#drop();
  }

  #lost(fault: Error): void {
    this.#drop();
    this.#fault = fault;
    if (this.#isClosed) return;
    // Spread: a server that is back would meet all instances at once.
    const pause = Math.min(100 * 2 ** this.#failures++, MAX_RETRY_MS) + Math.random() * 200;
    this.#retry = setTimeout(() => this.connect(), pause).unref();
  }

  #drop(): void {
    clearTimeout(this.#retry);
    this.#link = undefined;
    this.#current.abort();
    this.#current = new AbortController();
  }
}

/** Pings the server until it does not answer in time, or the connection ends. */
export function keepAsking(ping: () => Promise<unknown>, { signal, onLost }: LinkUse): void {
  const timer = setTimeout(() => {
    const answer = withTimeout(ping(), PING_WITHIN_MS, noAnswer, { background: true });
    answer.then(() => timer.refresh(), onLost);
  }, PING_EVERY_MS).unref();
  endWith(signal, () => clearTimeout(timer));
}

/** The error for a server that says nothing. */
export function noAnswer(): Error {
  return new Error("The server does not answer.");
}

/** Calls `end` as soon as the signal is aborted, or now if it was. Errors of clients that are closed already do not matter. */
export function endWith(signal: AbortSignal, end: () => void): void {
  const quietly = () => {
    try {
      end();
    } catch {}
  };
  if (signal.aborted) quietly();
  else signal.addEventListener("abort", quietly, { once: true });
}

import { type Checks, callable, count, lapse } from "../common/options.ts";

/** How an in-memory store behaves. */
export interface MemorySessionsOptions {
  /** The most sessions kept at once, expired ones included. Default: 100,000. */
  readonly maxSessions?: number | undefined;
  /** Whole seconds of inactivity until a session expires that says nothing else; negative: never. Default: 1800. */
  readonly maxInactiveInterval?: number | undefined;
  /** Milliseconds for which an expired session is still shown by lists. Default: 300,000. */
  readonly expiredRetention?: number | undefined;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

/** The checks of {@link MemorySessionsOptions}. */
export const MEMORY_SESSIONS: Checks<MemorySessionsOptions> = {
  maxSessions: count,
  maxInactiveInterval: (value) => (Number.isSafeInteger(value) ? undefined : "must be a whole number of seconds"),
  expiredRetention: lapse,
  clock: callable,
};

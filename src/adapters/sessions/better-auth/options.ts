import { type Checks, checkOptions, count, lapse, objectOf, text, timeLimit } from "../../../common/options.ts";
import type { BetterAuthUsername } from "./users.ts";

/** How sessions of better-auth are read. */
export interface BetterAuthSessionsOptions {
  /** What a user is called. Default: "email". */
  readonly username?: BetterAuthUsername | undefined;
  /** Milliseconds that one operation may take. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
  /** How far a search goes that has no index: where `username` is a function, or one user has very many sessions. */
  readonly scan?:
    | {
        /** Sessions. Default: 50,000. */
        readonly maxSessions?: number | undefined;
        /** Milliseconds. Default: 500. */
        readonly maxMs?: number | undefined;
      }
    | undefined;
}

const OPTIONS: Checks<BetterAuthSessionsOptions> = {
  username: (value) => (typeof value === "function" ? undefined : text(value) && "must be a column or a function"),
  timeoutMs: timeLimit,
  scan: objectOf({ maxSessions: count, maxMs: lapse }),
};

/** The options with their defaults. */
export interface BetterAuthSessionsSettings {
  readonly username: BetterAuthUsername;
  readonly timeoutMs: number;
  readonly scan: { readonly maxSessions: number; readonly maxMs: number };
}

/**
 * Puts the defaults in.
 *
 * @throws ActuatorError INVALID_ARGUMENT for an option that does not exist or does not fit.
 */
export function settingsOf(options: BetterAuthSessionsOptions): BetterAuthSessionsSettings {
  checkOptions("betterAuthSessions", options, OPTIONS);
  const { username, timeoutMs: timeout, scan } = options;
  return {
    username: username ?? "email",
    timeoutMs: timeout ?? 5_000,
    scan: { maxSessions: scan?.maxSessions ?? 50_000, maxMs: scan?.maxMs ?? 500 },
  };
}

import type { BetterAuthUsername } from "./users.ts";

/** How sessions of better-auth are read. */
export interface BetterAuthSessionsOptions {
  /** What a user is called. Default: "email". */
  readonly username?: BetterAuthUsername | undefined;
  /** Milliseconds that one operation may take. Default: 5,000. */
  readonly timeout?: number | undefined;
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

/** The options with their defaults. */
export interface BetterAuthSessionsSettings {
  readonly username: BetterAuthUsername;
  readonly timeout: number;
  readonly scan: { readonly maxSessions: number; readonly maxMs: number };
}

/** Puts the defaults in. */
export function settingsOf({ username, timeout, scan }: BetterAuthSessionsOptions): BetterAuthSessionsSettings {
  return {
    username: username ?? "email",
    timeout: timeout ?? 5_000,
    scan: { maxSessions: scan?.maxSessions ?? 50_000, maxMs: scan?.maxMs ?? 500 },
  };
}

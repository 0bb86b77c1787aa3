import type { Commands } from "./commands.ts";
import type { Subscribers } from "./subscribers.ts";

/** What of one Redis watches a client. */
export interface Parts {
  readonly commands: Commands;
  readonly subscribers: Subscribers;
}

/** A client that is watched. */
export interface WatchedClient {
  /** Whether it has a connection. */
  readonly isReady: () => boolean;
  /** Whether it has subscriptions, and sends no other commands. */
  readonly isSubscribing: () => boolean;
  /** The database that commands go to. */
  readonly db: () => number;
  /** Sends a command as it is. */
  readonly send: (...command: readonly string[]) => Promise<unknown>;
  /** Reads anew what the client subscribes to. */
  readonly sync: () => void;
  readonly unwatch: () => void;
}

import type { SessionRecord } from "../../../sessions/principal.ts";

/**
 * What passes through a store's methods. Records are the live sessions of requests or what other code hands over: read
 * them at once and change nothing. What a method throws or rejects with never reaches the application.
 */
export interface StoreWatcher {
  /**
   * The application saves the session, which counts as a use of it; `made`: surely it did not exist before; `stored`:
   * surely the store has had it. Told before the store's own `set` is called, in the same turn, so that commands of both
   * travel together.
   */
  saved?(id: string, record: SessionRecord, made: boolean, stored: boolean): unknown;
  /** The store has answered a save, well or ill. */
  written?(id: string, made: boolean): unknown;
  /** A request used the session without changing it. Told as `saved` is, before the store's `touch`. */
  used?(id: string, record: SessionRecord): unknown;
  /** The application ended the session. Told after the store's `destroy` was called, in the same turn. */
  ended?(id: string): unknown;
  /** All sessions were ended. Told after the store's `clear` was called, in the same turn. */
  cleared?(): unknown;
  /** A request got the session out of the store: it is not new. */
  loaded?(id: string, record: SessionRecord): unknown;
}

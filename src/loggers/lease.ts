import type { LevelUpdate } from "./configured-levels.ts";
import type { Configurable, Override, SettingOwner, TemporarySetting } from "./setting.ts";
import type { LevelOutcome } from "./view.ts";

/** Why a lease is over. */
export type LeaseEnd =
  /** The caller released it. */
  | "RELEASED"
  /** Its maximum time is over. */
  | "EXPIRED"
  /** Permanent levels replaced everything that it held, set by an operator or by the application. */
  | "OVERRULED"
  /** It made more records than it may. */
  | "VOLUME"
  /** The loggers are no longer managed. */
  | "CLOSED";

/** Why the levels of a lease end, and who ended them, for the history. Default: EXPIRED. */
export type LeaseCause = Partial<Pick<LevelUpdate, "kind" | "author">>;

/**
 * A temporary level that lasts until its caller releases it, or until its maximum time is over.
 *
 * Of several temporary levels on one logger, held or timed, the latest is in force. When it ends, the latest of the others comes
 * back, and after the last of them the permanent setting from before. A new permanent level ends them all. The lease of a group
 * holds the group and each of its members, and is over when none is left.
 */
export class Lease implements SettingOwner {
  readonly #deadline: number | undefined;
  readonly #endSetting: (held: TemporarySetting, cause: LeaseCause) => void;
  readonly #held = new Set<TemporarySetting>();
  /** What has replaced its levels for good. */
  readonly #replaced = new Map<Configurable, Override | undefined>();
  readonly #listeners = new Set<() => void>();
  #end: LeaseEnd | undefined;

  /** `endSetting` ends one temporary level. */
  constructor(ttlMs: number | undefined, endSetting: (held: TemporarySetting, cause: LeaseCause) => void) {
    this.#deadline = ttlMs === undefined ? undefined : performance.now() + ttlMs;
    this.#endSetting = endSetting;
  }

  /** The reason why it is over; undefined while it lasts. */
  get end(): LeaseEnd | undefined {
    return this.#end;
  }

  /** Milliseconds until it ends by itself; undefined if it has no maximum time. */
  get timeLeft(): number | undefined {
    return this.#deadline === undefined ? undefined : Math.max(0, this.#deadline - performance.now());
  }

  /** Whether a later temporary level is in force instead of one of its own. */
  get covered(): boolean {
    for (const held of this.#held) if (held.on.temporary?.at(-1) !== held) return true;
    return false;
  }

  /** Who set the levels that apply instead of its own: for good, or for as long as they last. Undefined: the application. */
  get overriders(): readonly (Override | undefined)[] {
    const covering = [...this.#held].flatMap((held) => {
      const { temporary = [] } = held.on;
      return temporary.slice(temporary.indexOf(held) + 1).map(({ override }) => override);
    });
    return [...this.#replaced.values(), ...covering];
  }

  /** The number of loggers and groups that it holds. */
  get size(): number {
    return this.#held.size;
  }

  /** Calls `listener` once when the lease is over. Returns a function that removes the listener. */
  onEnd(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends every level that it still holds, for a cause that the history shows. Does nothing once it is over. */
  release(end: LeaseEnd = "RELEASED", cause: LeaseCause = {}): void {
    if (this.#end !== undefined) return;
    for (const held of this.#held) this.#endSetting(held, cause);
    this.#held.clear();
    this.#finish(end);
  }

  add(held: TemporarySetting): void {
    this.#held.add(held);
  }

  lost(held: TemporarySetting, end: "EXPIRED" | "OVERRULED"): void {
    if (end === "OVERRULED") this.#replaced.set(held.on, (held.on.permanent ?? held.on).override);
    if (this.#held.delete(held) && this.#held.size === 0) this.#finish(end);
  }

  #finish(end: LeaseEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}

/** The result of holding a level. */
export interface HoldOutcome extends LevelOutcome {
  readonly lease: Lease;
}

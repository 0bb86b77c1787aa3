import type { Level } from "./level.ts";
import type { Override } from "./override.ts";

/** A level and who put it there; both undefined where nothing is configured. */
export interface Setting {
  readonly level: Level | undefined;
  readonly override: Override | undefined;
}

/** A logger or a group: what levels are configured on. */
export interface Configurable {
  configured: Level | undefined;
  /** Who configured it, where it was not the application. */
  override: Override | undefined;
  /** While the level is temporary: what comes back when it ends, which is what was there before the first temporary one. */
  beneath: Setting | undefined;
  /** While the level is temporary: all that are, from the first to the one in force. */
  temporary: TemporarySetting[] | undefined;
}

/** A level that is to end by itself. */
export interface TemporarySetting extends Setting {
  readonly on: Configurable;
  /** The lease that it lasts as long as; undefined where only its time ends it. */
  readonly lease: Holder | undefined;
  /** The group that it was set through, where it is a logger's. */
  readonly group?: string | undefined;
}

/** Who holds temporary levels, as a lease does: the ledger tells it which. */
export interface Holder {
  /** A level is held from now on. */
  add(held: TemporarySetting): void;
  /** A level is no longer held: its time is over, or another one was configured for good. */
  lost(held: TemporarySetting, end: "EXPIRED" | "OVERRULED"): void;
}

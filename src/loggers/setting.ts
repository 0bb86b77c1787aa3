import type { Level } from "./level.ts";

/** Who set a level, other than the application itself, when, why and until when. */
export interface Override {
  /** Milliseconds since the epoch. */
  readonly setTime: number;
  /** When it ends by itself, in milliseconds since the epoch; undefined if it does not. */
  readonly expireTime: number | undefined;
  /** The caller, as far as it is known; may be empty. */
  readonly actor: string;
  /** The caller's reason; may be empty. */
  readonly reason: string;
  /** The process through which the level was set. */
  readonly instance: string;
  /** Whether it ends as soon as the caller releases it. */
  readonly held?: boolean | undefined;
  /** The generation of the fleet's change that set it, on other instances too; undefined if it is not a level of a fleet. */
  readonly fleetGeneration?: number | undefined;
  /** Whether it is a level of the file of levels, above which all others lie. */
  readonly ofFile?: boolean | undefined;
}

/** What an operator has set: a level, or to inherit (no level), and who set it. */
export interface Setting {
  readonly level: Level | undefined;
  readonly override: Override | undefined;
}

/** Nothing is set by an operator: the application's own level applies. */
export const APPLICATION: Setting = { level: undefined, override: undefined };

/** What levels are configured on: a logger, a group or a prefix. */
export interface Configurable {
  /** The level that an operator set. */
  configured: Level | undefined;
  /** Who configured it; undefined if no operator did. */
  override: Override | undefined;
  /** While the level is temporary: the permanent setting from before the first temporary one, which comes back at the end. */
  permanent: Setting | undefined;
  /** While the level is temporary: all temporary settings, from the oldest to the one in force. */
  temporary: TemporarySetting[] | undefined;
}

/** A level that will end. */
export interface TemporarySetting extends Setting {
  readonly on: Configurable;
  /** The lease that it lasts as long as; undefined if only its time ends it. */
  readonly lease: SettingOwner | undefined;
  /** The group through which it was set on a logger, if any. */
  readonly group?: string | undefined;
}

/** What owns temporary levels, such as a lease. */
export interface SettingOwner {
  /** A temporary level begins. */
  add(held: TemporarySetting): void;
  /** A temporary level has ended, or was not added: its time is over, or a permanent level is there instead. */
  lost(held: TemporarySetting, end: "EXPIRED" | "OVERRULED"): void;
}

import type { Wanted } from "./wanted.ts";

/** A wanted level at one instance. */
export interface Delivered {
  readonly wanted: Wanted;
  /** `overruled`: it was changed there since, which is left alone. */
  state: "set" | "overruled" | "refused";
  /** When the instance says that it was set, by which it is known again. */
  readonly setTime: number | undefined;
  /** The revision of the instance's answer: what is older tells nothing of it. */
  readonly revision: bigint;
  /**
   * When it ends there unless it is set again before, in milliseconds since the epoch on the clock here; undefined: it lasts as
   * long as it is wanted.
   */
  readonly until: number | undefined;
  renewal?: NodeJS.Timeout | undefined;
}

/** Only what was set for a while has to be ended: what has a time of its own ends there by itself. */
export function isLeft(before: Delivered | undefined): boolean {
  return before?.state === "set" && before.until !== undefined;
}

/** When it ends there by itself, on the clock here. */
export function endOf({ until, wanted }: Delivered): number {
  return Math.min(until ?? Number.POSITIVE_INFINITY, wanted.override.expireTime ?? Number.POSITIVE_INFINITY);
}

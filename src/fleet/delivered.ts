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
  /** It is set for a short time again and again, as long as this process wants it. */
  readonly isLease: boolean;
  renewal?: NodeJS.Timeout | undefined;
}

/** Only what was set for a while has to be ended: what has a time of its own ends there by itself. */
export function isLeft(before: Delivered | undefined): boolean {
  return before?.state === "set" && before.isLease;
}

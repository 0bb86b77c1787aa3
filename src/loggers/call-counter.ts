import type { CallTally } from "./adapter.ts";

/** Counts one call on a logger; one that was not discovered, undefined, counts nowhere. */
export type CallCounter<Handle> = (handle: Handle | undefined, verbosity: number, enabled: boolean) => void;

/** A logger whose calls are not wanted. */
const UNMEASURED = null;

/**
 * Counts the calls of one measurement, as an adapter's `measure` has to: `tallyOf` is asked once for each logger, at its first
 * call. `verbosity` is what `levelVerbosity` makes of a call's level; `enabled` says that it was let through.
 */
export function callCounter<Handle extends { readonly name: string }>(
  tallyOf: (name: string) => CallTally | undefined,
): CallCounter<Handle> {
  const tallies = new WeakMap<Handle, CallTally | typeof UNMEASURED>();
  return (handle, verbosity, enabled) => {
    if (handle === undefined) return;
    let tally = tallies.get(handle);
    if (tally === undefined) tallies.set(handle, (tally = tallyOf(handle.name) ?? UNMEASURED));
    if (tally !== UNMEASURED) (enabled ? tally.emitted : tally.suppressed)[verbosity]!++;
  };
}

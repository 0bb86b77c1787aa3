import type { CallTally } from "../../../loggers/adapter.ts";

/** Counts one call on a logger. A call on a logger that was not discovered (`undefined`) is not counted. */
export type CallCounter<Handle> = (handle: Handle | undefined, verbosity: number, enabled: boolean) => void;

/** Marks a logger whose calls the measurement does not want. */
const UNMEASURED = null;

/**
 * Counts the calls of one measurement for an adapter's `measure`. Asks `tallyOf` once for each logger, at its first call.
 *
 * In the returned function, `verbosity` is the `levelVerbosity` of the call's level, and `enabled` says whether the logger let
 * the call through.
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

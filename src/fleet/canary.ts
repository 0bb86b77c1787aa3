import { createHash } from "node:crypto";
import { ActuatorError } from "../common/error.ts";
import { type FleetEntry, type FleetState, isLive, lifeOf, type NewEntry } from "./entry.ts";
import type { FleetInstance } from "./instance.ts";
import { type FleetLease, leaseEnd, leaseSlot } from "./lease.ts";
import type { FleetSetRequest } from "./request.ts";

/** How a canary is run. */
export interface CanaryRequest extends FleetSetRequest {
  /** How many instances get the level first. */
  readonly instances: number;
}

/** Who finishes a canary. */
export interface FinishRequest extends Pick<FleetSetRequest, "actor" | "reason" | "reach"> {
  /** Called with the canary. Throws if the caller may not finish it. */
  readonly check?: ((canary: FleetEntry) => void) | undefined;
}

/** A level on some instances, before it is set on all. */
export interface FleetCanary {
  /** For `finishCanary`. */
  readonly id: string;
  /** Releasing it takes the canary back. */
  readonly lease: FleetLease;
  /** The ids of the instances that have it first. */
  readonly instances: readonly string[];
}

/**
 * The instances that get the level of a canary first. Their order depends on the name, so that not always the same are the first.
 *
 * @throws ActuatorError INVALID_ARGUMENT, FAILED_PRECONDITION if there are too few.
 */
export function chosen(instances: readonly FleetInstance[], name: string, count: number): readonly string[] {
  const there = instances.filter(({ isGone }) => !isGone).map(({ id }) => id);
  const gone = instances.length - there.length;
  if (!Number.isSafeInteger(count) || count < 1) {
    const message = "instances must be at least 1.";
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_INSTANCES", message, { field: "instances" });
  }
  if (there.length < count) {
    const matching = `${there.length} ${there.length === 1 ? "instance" : "instances"}`;
    const message = `The selector matches ${matching}${gone > 0 ? `, without ${gone} that are gone` : ""}; the canary needs ${count}.`;
    throw new ActuatorError("FAILED_PRECONDITION", "TOO_FEW_INSTANCES", message, { field: "instances" });
  }
  const rank = (id: string) => createHash("sha256").update(`${name} ${id}`).digest("hex");
  const ranked = there.map((id) => ({ id, rank: rank(id) })).sort((one, other) => (one.rank < other.rank ? -1 : 1));
  return ranked
    .slice(0, count)
    .map(({ id }) => id)
    .sort();
}

/**
 * The entries that end a canary, and with `isPromoted` set its level on all instances that were selected.
 *
 * @throws ActuatorError NOT_FOUND if there is no such canary, or no longer.
 */
export function finished(
  { entries }: FleetState,
  id: string,
  isPromoted: boolean,
  { actor = "", reason, reach, check, instance }: FinishRequest & { readonly instance: string },
  now: number,
): readonly NewEntry[] {
  const canary = entryOf(entries, id);
  if (canary?.canary === undefined || canary.level === null || !isLive(canary, now)) {
    const message = "There is no canary with this id, or it is over.";
    throw new ActuatorError("NOT_FOUND", "CANARY_NOT_FOUND", message, { field: "id" });
  }
  const { name, level, selector, slot, canary: goal } = canary;
  check?.(canary);
  const base = { name, actor, reason: reason ?? canary.reason, instance, ...(reach && { reach }) };
  const ended: NewEntry = { ...base, selector, slot, level: null, expireTime: leaseEnd(now) };
  return isPromoted ? [{ ...base, selector: goal.selector, ...lifeOf(goal.ttlMs, now), level }, ended] : [ended];
}

/** The level that follows a canary which was promoted. */
export function promotionOf({ entries }: FleetState, id: string): FleetEntry | undefined {
  const ended = entryOf(entries, id);
  return [...entries.values()].find(({ level, generation }) => level !== null && generation === ended?.generation);
}

function entryOf(entries: FleetState["entries"], id: string): FleetEntry | undefined {
  return [...entries.values()].find(({ slot }) => slot === leaseSlot(id));
}

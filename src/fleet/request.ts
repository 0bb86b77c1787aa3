import type { ChangeRequest } from "../loggers/change-request.ts";

/** Which instances a change concerns, who asks for it, and on what condition. */
export interface FleetRequest extends Omit<ChangeRequest, "ifRevision"> {
  /** Default: all instances. */
  readonly selector?: string | undefined;
  /** Names of loggers: a change of these and of those below them is allowed, whatever a group contains elsewhere. Default: of all. */
  readonly reach?: readonly string[] | undefined;
  /** Makes the change only if this is the generation of the fleet. */
  readonly ifGeneration?: number | undefined;
}

/** How a level of the fleet is set. */
export interface FleetSetRequest extends FleetRequest {
  /** As in `SetRequest`. */
  readonly ttlMs?: number | "default" | undefined;
}

/** How a level of the fleet is held. */
export interface FleetHoldRequest extends FleetRequest {
  /** As in `HoldRequest`. */
  readonly ttlMs?: number | undefined;
}

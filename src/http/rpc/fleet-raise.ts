import { create } from "@bufbuild/protobuf";
import { ActuatorError } from "../../common/error.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { FleetLease, FleetLeaseEnd } from "../../fleet/lease.ts";
import type { FleetHoldRequest } from "../../fleet/request.ts";
import {
  type Raise,
  WatchLogsResponse_RaiseEnded_Reason as RaiseEndReason,
  type WatchLogsResponse,
  WatchLogsResponseSchema,
} from "../../gen/actuator/v3/logs_pb.ts";
import type { Level } from "../../loggers/level.ts";
import { loggerName, ROOT } from "../../loggers/name.ts";
import { prefixOf } from "../../logs/filter.ts";
import { requestedLevel, ttlFrom } from "./level-request.ts";

/** What a raise in the fleet asks for. */
export interface FleetRaiseRequest extends FleetHoldRequest {
  readonly names: readonly string[];
  readonly level: Level;
}

/** A level in the fleet for as long as a call watches what loggers write. */
export class FleetRaise {
  readonly names: readonly string[];
  #lease: FleetLease | undefined;
  #fault: unknown;
  #isReleased = false;

  /** @param onChange called when it is in force, has failed, or has ended */
  constructor(fleet: Fleet, { names, level, ...request }: FleetRaiseRequest, onChange: () => void) {
    this.names = raisedNames(names);
    const open = (lease: FleetLease) => {
      this.#lease = lease;
      if (this.#isReleased) this.release();
      lease.onEnd(onChange);
    };
    const fail = (error: unknown) => {
      this.#fault = error;
    };
    void fleet.holdLevels(this.names, level, request).then(open, fail).then(onChange);
  }

  /**
   * Whether the engine has it.
   *
   * @throws ActuatorError if it could not be set; then it is set nowhere
   */
  get isOpen(): boolean {
    if (this.#fault !== undefined) throw this.#fault;
    return this.#lease !== undefined;
  }

  /** Why it is over on all its names; undefined while it lasts. */
  get end(): FleetLeaseEnd | undefined {
    return this.#lease?.end;
  }

  /** How long it lasts at most, in milliseconds; undefined if as long as the call. */
  get timeLeftMs(): number | undefined {
    return this.#lease?.timeLeft;
  }

  /** Gives the levels back. May be called again. */
  release(): void {
    this.#isReleased = true;
    this.#lease?.release().catch(() => undefined);
  }
}

/**
 * The names that are raised where these are watched. What is a group here may be a logger elsewhere, and a group of other members: a caller
 * must reach the names themselves.
 *
 * @throws ActuatorError INVALID_ARGUMENT for what is no name
 */
export function raisedNames(names: readonly string[]): readonly string[] {
  return names.length === 0 ? [ROOT] : [...new Set(names.map((name) => prefixOf(name) ?? loggerName(name)))];
}

/**
 * What a request asks for.
 *
 * @throws ActuatorError INVALID_ARGUMENT for what one instance alone can do
 */
export function fleetRaiseFrom(
  names: readonly string[],
  { level, ttl, onlyHere, maxPerSecond, reason, fleet }: Raise,
  { actor, reach, selector = fleet?.selector }: FleetHoldRequest,
): FleetRaiseRequest {
  for (const [field, isGiven] of Object.entries({ only_here: onlyHere, max_per_second: maxPerSecond > 0 })) {
    if (!isGiven) continue;
    const message = `${field} does not go with scope SCOPE_FLEET.`;
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_SCOPE", message, { field: `raise.${field}` });
  }
  const ifGeneration = fleet?.ifGeneration ? Number(fleet.ifGeneration) : undefined;
  return {
    ...{ names, level: requestedLevel(level), actor, reach, reason, selector, ifGeneration },
    ttlMs: ttl && ttlFrom(ttl),
  };
}

/** The last event of a raise in the fleet that did not end with its call. */
export function raiseEnded({ end }: FleetRaise): WatchLogsResponse {
  const reason = end === "EXPIRED" ? RaiseEndReason.EXPIRED : RaiseEndReason.OVERRULED;
  return create(WatchLogsResponseSchema, { event: { case: "raiseEnded", value: { reason } } });
}

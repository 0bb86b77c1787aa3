import type { HandlerContext } from "@connectrpc/connect";
import { requireLoggers } from "../../access/caller.ts";
import { ActuatorError } from "../../common/error.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { FleetRequest } from "../../fleet/request.ts";
import { FleetService } from "../../gen/actuator/v3/fleet_pb.ts";
import { type FleetTarget, Scope } from "../../gen/actuator/v3/loggers_pb.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import { loggerName } from "../../loggers/name.ts";
import type { CallSubject } from "../../operations/calls/call-record.ts";
import { visibleLogger } from "../visible-loggers.ts";
import { callerOf, requestContextOf } from "./calls/call-context.ts";
import { notServed } from "./calls/error.ts";
import { resultToProto } from "./logger-proto.ts";

/** What requests have that change a level here or in the fleet. */
interface ScopedRequest extends Scoped {
  readonly name: string;
  readonly reason: string;
  readonly ifRevision?: bigint;
}

/** What a request says of what it concerns. */
interface Scoped {
  readonly scope: Scope;
  readonly fleet?: FleetTarget | undefined;
}

/**
 * Whether a change is asked for in the fleet.
 *
 * @throws ActuatorError INVALID_ARGUMENT for an unknown scope, or a target without SCOPE_FLEET, which would otherwise be ignored
 */
export function isOfFleet(fleet: Fleet | undefined, { scope, fleet: target }: Scoped): boolean {
  if (scope === Scope.FLEET || (scope === Scope.UNSPECIFIED && fleet?.isDefault)) return true;
  if (scope !== Scope.UNSPECIFIED && scope !== Scope.INSTANCE) throw invalid("scope", "The scope is not known.");
  if (target !== undefined) throw invalid("fleet", "fleet needs scope SCOPE_FLEET.");
  return false;
}

/**
 * Returns the fleet, and what a request asks of it.
 *
 * @throws ActuatorError UNIMPLEMENTED if there is no fleet, INVALID_ARGUMENT, PERMISSION_DENIED
 */
export function fleetChangeFrom(
  fleet: Fleet | undefined,
  { name, reason, ifRevision = 0n, fleet: target }: ScopedRequest,
  { values }: Pick<HandlerContext, "values">,
): { readonly served: Fleet; readonly asked: FleetRequest } {
  if (fleet === undefined) throw notServed(FleetService);
  if (ifRevision !== 0n)
    throw invalid("if_revision", "Each instance has a revision of its own; use fleet.if_generation.");
  // What is a group here may be a logger elsewhere.
  const caller = callerOf(values);
  requireLoggers(caller, [loggerName(name)]);
  const ifGeneration = target?.ifGeneration ? Number(target.ifGeneration) : undefined;
  const context = requestContextOf(values);
  context.subject = { ...context.subject, ...fleetSubject(target?.selector) };
  return {
    served: fleet,
    asked: { actor: caller.name, reach: caller.loggers, reason, selector: target?.selector, ifGeneration },
  };
}

/** What the call log says of a change in the fleet. */
export function fleetSubject(selector: string | undefined): Pick<CallSubject, "scope" | "selector"> {
  return { scope: "fleet", selector: selector || undefined };
}

/** What an answer says of a change of the fleet: what this instance has now, and the generation. */
export function fleetOutcomeToProto(
  loggers: Loggers,
  name: string,
  generation: number,
  { values }: Pick<HandlerContext, "values">,
) {
  const found = visibleLogger(loggers, name, callerOf(values));
  return {
    ...(found !== undefined && { result: resultToProto(found) }),
    revision: BigInt(loggers.revision),
    generation: BigInt(generation),
  };
}

function invalid(field: string, message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_SCOPE", message, { field });
}

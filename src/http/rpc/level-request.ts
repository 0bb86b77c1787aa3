import { type Duration, durationMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { requireLoggers } from "../../access/caller.ts";
import { ActuatorError } from "../../common/error.ts";
import type { Level as LevelProto } from "../../gen/actuator/v3/level_pb.ts";
import type { ChangeRequest } from "../../loggers/change-request.ts";
import type { Level } from "../../loggers/level.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import { ROOT } from "../../loggers/name.ts";
import { callerOf, requestContextOf } from "./calls/call-context.ts";
import { levelFromProto } from "./logger-proto.ts";

/**
 * Returns the level that a request asks for.
 *
 * @throws ActuatorError INVALID_ARGUMENT for UNSPECIFIED or an unknown number
 */
export function requestedLevel(asked: LevelProto): Level {
  const level = levelFromProto(asked);
  if (level !== undefined) return level;
  const message = "level must be one of OFF, FATAL, ERROR, WARN, INFO, DEBUG, TRACE.";
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_LEVEL", message, { field: "level" });
}

/**
 * Notes the subject of a change for the call log, and requires that the caller may change all affected loggers.
 *
 * @param name of a logger or a group; undefined: every logger
 * @throws ActuatorError PERMISSION_DENIED, INVALID_ARGUMENT for an invalid name
 */
export function checkReach(
  loggers: Loggers,
  { values }: Pick<HandlerContext, "values">,
  name: string | undefined,
  level?: Level | null,
): void {
  requestContextOf(values).subject = { logger: name, level };
  requireLoggers(callerOf(values), name === undefined ? [ROOT] : loggers.reach(name));
}

/** Returns who makes a change, why, and on which revision. A revision of 0 is an absent field, and no condition. */
export function changeFrom(
  request: { readonly reason: string; readonly ifRevision?: bigint },
  context: HandlerContext,
): ChangeRequest {
  const ifRevision = request.ifRevision ? Number(request.ifRevision) : undefined;
  return { actor: callerOf(context.values).name, reason: request.reason, ifRevision };
}

/** Converts a time to milliseconds. Returns 0 only for 0, which means forever, and not for a time that rounds to 0. */
export function ttlFrom(ttl: Duration): number {
  const milliseconds = durationMs(ttl);
  return milliseconds === 0 && ttl.nanos !== 0 ? Math.sign(ttl.nanos) : milliseconds;
}

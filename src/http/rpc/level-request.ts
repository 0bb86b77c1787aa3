import { type Duration, durationMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { requireLoggers } from "../../access/caller.ts";
import { ActuatorError } from "../../common/error.ts";
import type { Level as LevelProto } from "../../gen/actuator/v3/level_pb.ts";
import type { ChangeRequest } from "../../loggers/change-request.ts";
import type { Level } from "../../loggers/level.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import { ROOT } from "../../loggers/name.ts";
import { callerOf, requestContextOf } from "./caller.ts";
import { levelFromProto } from "./level-proto.ts";

/**
 * The level that a request asks for.
 *
 * @throws ActuatorError INVALID_ARGUMENT for one that is none.
 */
export function requestedLevel(asked: LevelProto): Level {
  const level = levelFromProto(asked);
  if (level !== undefined) return level;
  const message = "The level is not one to set: use one of OFF, FATAL, ERROR, WARN, INFO, DEBUG and TRACE.";
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_LEVEL", message, { field: "level" });
}

/**
 * Notes what a change is about, and refuses one that reaches beyond the loggers that the caller may change.
 *
 * @param name of a logger or a group; undefined: every logger
 * @throws ActuatorError PERMISSION_DENIED, INVALID_ARGUMENT for an unfit name.
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

/** Who makes a change, why, and on what condition. A revision of 0 is what an absent field looks like: then on none. */
export function changeFrom(
  request: { readonly reason: string; readonly ifRevision?: bigint },
  context: HandlerContext,
): ChangeRequest {
  const ifRevision = request.ifRevision ? Number(request.ifRevision) : undefined;
  return { actor: callerOf(context.values).name, reason: request.reason, ifRevision };
}

/** Milliseconds; 0 only for 0, which means for ever, and not for a time that rounds to it. */
export function ttlFrom(ttl: Duration): number {
  const milliseconds = durationMs(ttl);
  return milliseconds === 0 && ttl.nanos !== 0 ? Math.sign(ttl.nanos) : milliseconds;
}

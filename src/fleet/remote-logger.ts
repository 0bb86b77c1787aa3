import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Logger } from "../gen/actuator/v3/loggers_pb.ts";
import { levelFromProto } from "../http/rpc/level-proto.ts";
import type { Level } from "../loggers/level.ts";

/** A logger as one instance says it is. */
export interface RemoteLogger {
  readonly configured: Level | undefined;
  readonly effective: Level;
  readonly baseline: Level | undefined;
  /** Who set the configured level there; undefined where its application did. */
  readonly override: RemoteOverride | undefined;
}

/** What an instance notes of a level that was set there. Times are milliseconds since the epoch, on its clock. */
export interface RemoteOverride {
  readonly setTime: number;
  readonly expireTime: number | undefined;
  readonly reason: string;
}

/** Reads a logger of an answer; a level that is none of ours, of a later release, counts as INFO. */
export function remoteLogger(logger: Logger): RemoteLogger {
  const { override } = logger;
  return {
    configured: levelFromProto(logger.configuredLevel),
    effective: levelFromProto(logger.effectiveLevel) ?? "INFO",
    baseline: levelFromProto(logger.baselineLevel),
    override: override && {
      setTime: override.setTime === undefined ? 0 : timestampMs(override.setTime),
      expireTime: override.expireTime && timestampMs(override.expireTime),
      reason: override.reason,
    },
  };
}

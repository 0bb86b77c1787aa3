import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Level as LevelProto } from "../../gen/actuator/v3/level_pb.ts";
import {
  LevelChange_Kind as Kind,
  type LevelChange as LevelChangeProto,
  LevelChangeSchema,
  type LoggerGroup as LoggerGroupProto,
  LoggerGroupSchema,
  type Logger as LoggerProto,
  LoggerSchema,
  type Override as OverrideProto,
  OverrideSchema,
  Scope,
} from "../../gen/actuator/v3/loggers_pb.ts";
import type { LevelChange } from "../../loggers/history.ts";
import { LEVELS, type Level } from "../../loggers/level.ts";
import type { Override } from "../../loggers/setting.ts";
import type { LevelOutcome, Logger, LoggerGroup } from "../../loggers/view.ts";
import { type Reach, visibleNotices } from "../visible-loggers.ts";

/** Converts a logger. */
export function loggerToProto(logger: Logger): LoggerProto {
  const override = overrideToProto(logger.override);
  return create(LoggerSchema, {
    name: logger.name,
    configuredLevel: levelToProto(logger.configuredLevel),
    effectiveLevel: levelToProto(logger.effectiveLevel),
    baselineLevel: levelToProto(logger.baselineLevel),
    ...(override !== undefined && { override }),
    kind: logger.kind,
    warnings: [...logger.warnings],
    settingOnly: !logger.exists,
  });
}

/** Converts a group. */
export function groupToProto(group: LoggerGroup): LoggerGroupProto {
  const override = overrideToProto(group.override);
  return create(LoggerGroupSchema, {
    name: group.name,
    configuredLevel: levelToProto(group.configuredLevel),
    members: [...group.members],
    ...(override !== undefined && { override }),
    mixed: group.mixed,
  });
}

/** Converts a logger or a group to the field `result` of several responses. */
export function resultToProto(result: Logger | LoggerGroup) {
  return result.type === "group"
    ? ({ case: "group", value: groupToProto(result) } as const)
    : ({ case: "logger", value: loggerToProto(result) } as const);
}

/** Converts the outcome of a change to fields of several responses. */
export function outcomeToProto({ result, previousLevel, revision, notices }: LevelOutcome, reach: Reach) {
  return {
    result: resultToProto(result),
    previousLevel: levelToProto(previousLevel),
    revision: BigInt(revision),
    notices: visibleNotices(notices, reach).map(({ code, message, nearest = "" }) => ({ code, message, nearest })),
  };
}

/** Converts an override; undefined if there is none. */
export function overrideToProto(override: Override | undefined): OverrideProto | undefined {
  if (override === undefined) return undefined;
  const { setTime, expireTime, actor, reason, instance, held = false, fleetGeneration } = override;
  return create(OverrideSchema, {
    setTime: timestampFromMs(setTime),
    ...(expireTime !== undefined && { expireTime: timestampFromMs(expireTime) }),
    actor,
    reason,
    instance,
    held,
    scope: fleetGeneration !== undefined ? Scope.FLEET : Scope.UNSPECIFIED,
  });
}

/** Converts a change of level. */
export function levelChangeToProto(change: LevelChange): LevelChangeProto {
  const override = overrideToProto(change.override);
  return create(LevelChangeSchema, {
    name: change.name,
    previousLevel: levelToProto(change.previousLevel),
    level: levelToProto(change.level),
    ...(override !== undefined && { override }),
    kind: Kind[change.kind],
    time: timestampFromMs(change.time),
    revision: BigInt(change.revision),
    group: change.group ?? "",
  });
}

const byNumber = new Map<LevelProto, Level>(LEVELS.map((level) => [LevelProto[level], level]));

/** Converts a level; UNSPECIFIED if none is configured. */
export function levelToProto(level: Level | undefined): LevelProto {
  return level === undefined ? LevelProto.UNSPECIFIED : LevelProto[level];
}

/** Converts a protobuf value to a level; undefined for UNSPECIFIED and for unknown numbers, which protobuf accepts. */
export function levelFromProto(level: LevelProto): Level | undefined {
  return byNumber.get(level);
}

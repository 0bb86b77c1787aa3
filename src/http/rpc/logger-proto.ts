import { create } from "@bufbuild/protobuf";
import {
  type LoggerGroup as LoggerGroupProto,
  LoggerGroupSchema,
  type Logger as LoggerProto,
  LoggerSchema,
} from "../../gen/actuator/v3/loggers_pb.ts";
import type { LevelOutcome, Logger, LoggerGroup } from "../../loggers/view.ts";
import { overrideToProto } from "./level-change-proto.ts";
import { levelToProto } from "./level-proto.ts";

/** A logger as RPC shows it. */
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
  });
}

/** A group as RPC shows it. */
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

/** A logger or a group, as the field `result` of several responses. */
export function resultToProto(result: Logger | LoggerGroup) {
  return result.type === "group"
    ? ({ case: "group", value: groupToProto(result) } as const)
    : ({ case: "logger", value: loggerToProto(result) } as const);
}

/** What a change led to, as the fields that several responses have. */
export function outcomeToProto({ result, previousLevel, revision }: LevelOutcome) {
  return { result: resultToProto(result), previousLevel: levelToProto(previousLevel), revision: BigInt(revision) };
}

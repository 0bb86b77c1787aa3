import { Level as LevelProto } from "../../gen/actuator/v3/level_pb.ts";
import { LEVELS, type Level } from "../../loggers/level.ts";

const byNumber = new Map<LevelProto, Level>(LEVELS.map((level) => [LevelProto[level], level]));

/** The protobuf value of a level; UNSPECIFIED where none is configured. */
export function levelToProto(level: Level | undefined): LevelProto {
  return level === undefined ? LevelProto.UNSPECIFIED : LevelProto[level];
}

/** The level of a protobuf value; undefined for UNSPECIFIED and for numbers that are no level, which protobuf lets through. */
export function levelFromProto(level: LevelProto): Level | undefined {
  return byNumber.get(level);
}

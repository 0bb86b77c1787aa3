import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  LevelChange_Kind as Kind,
  type LevelChange as LevelChangeProto,
  LevelChangeSchema,
  type Override as OverrideProto,
  OverrideSchema,
} from "../../gen/actuator/v3/loggers_pb.ts";
import type { LevelChange } from "../../loggers/history.ts";
import type { Override } from "../../loggers/setting.ts";
import { levelToProto } from "./level-proto.ts";

/** An override as RPC shows it; undefined where there is none. */
export function overrideToProto(override: Override | undefined): OverrideProto | undefined {
  if (override === undefined) return undefined;
  const { setTime, expireTime, actor, reason, instance, held = false } = override;
  return create(OverrideSchema, {
    setTime: timestampFromMs(setTime),
    ...(expireTime !== undefined && { expireTime: timestampFromMs(expireTime) }),
    actor,
    reason,
    instance,
    held,
  });
}

/** A change of level as RPC shows it. */
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

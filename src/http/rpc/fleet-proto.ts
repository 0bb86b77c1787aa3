import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { isInReach } from "../../access/caller.ts";
import { type FleetEntry, isLease } from "../../fleet/entry.ts";
import type { Fleet, FleetChange } from "../../fleet/fleet.ts";
import type { FleetInstance } from "../../fleet/instance.ts";
import { leaseIdOf } from "../../fleet/lease.ts";
import {
  type FleetChange as FleetChangeProto,
  FleetChangeSchema,
  type FleetLevel,
  FleetLevelSchema,
  InstanceSchema,
  type ListInstancesResponse,
  ListInstancesResponseSchema,
  InstanceStatus_Status as Status,
} from "../../gen/actuator/v3/fleet_pb.ts";
import type { Reach } from "../visible-loggers.ts";
import { levelToProto, overrideToProto } from "./logger-proto.ts";

/** Converts what is known of the instances. */
export function instancesToProto(fleet: Fleet, instances: readonly FleetInstance[]): ListInstancesResponse {
  const { kind, fault, notice = "" } = fleet.engine;
  return create(ListInstancesResponseSchema, {
    name: fleet.name,
    engine: { kind, isConnected: fault === undefined, notice: fault ?? notice },
    instances: instances.map(
      ({ startTime, heartbeat, generation, lagMs, labels, address = "", host: _, ...instance }) =>
        create(InstanceSchema, {
          ...instance,
          address,
          labels: { ...labels },
          startTime: timestampFromMs(startTime),
          heartbeat: timestampFromMs(heartbeat),
          generation: BigInt(generation),
          ...(lagMs > 0 && { lag: durationFromMs(Math.round(lagMs)) }),
        }),
    ),
    generation: BigInt(fleet.generation),
  });
}

/** Converts a level of the fleet. */
export function fleetLevelToProto(entry: FleetEntry): FleetLevel {
  const { name, selector, level, generation, canary, slot } = entry;
  const { setTime, expireTime, actor, reason, instance } = entry;
  const held = isLease(entry);
  const override = overrideToProto({ setTime, expireTime, actor, reason, instance, held, fleetGeneration: generation });
  return create(FleetLevelSchema, {
    name,
    selector,
    level: levelToProto(level ?? undefined),
    override: override!,
    generation: BigInt(generation),
    canaryId: canary === undefined ? "" : leaseIdOf(slot),
  });
}

/** Converts a change, and how far it has come. */
export function fleetChangeToProto({ entry, instances }: FleetChange, reach: Reach): FleetChangeProto {
  return create(FleetChangeSchema, {
    level: fleetLevelToProto(entry),
    instances: instances.map(({ status, nearest, ...instance }) => {
      return { ...instance, status: Status[status], nearest: isInReach([nearest], reach) ? nearest : "" };
    }),
  });
}

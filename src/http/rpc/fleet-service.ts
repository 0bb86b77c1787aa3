import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { isInReach, requireLoggers } from "../../access/caller.ts";
import { ActuatorError } from "../../common/error.ts";
import type { FleetEntry } from "../../fleet/entry.ts";
import type { Fleet, FleetChange } from "../../fleet/fleet.ts";
import { type FleetInstance, isSettled } from "../../fleet/instance.ts";
import {
  FinishCanaryResponseSchema,
  type FleetService,
  GetFleetChangeResponseSchema,
  ListFleetLevelsResponseSchema,
  ResetFleetResponseSchema,
  WatchFleetChangeResponseSchema,
  WatchInstancesResponseSchema,
} from "../../gen/actuator/v3/fleet_pb.ts";
import { ROOT } from "../../loggers/name.ts";
import type { Gate } from "../gate/gate.ts";
import { callerOf, reachOf, requestContextOf } from "./calls/call-context.ts";
import { getFleetGraph } from "./fleet-graph.ts";
import type { FleetPeers } from "./fleet-peers.ts";
import { fleetChangeToProto, fleetLevelToProto, instancesToProto } from "./fleet-proto.ts";
import { fleetSubject } from "./fleet-scope.ts";
import { listLoggerDifferences } from "./logger-differences.ts";
import { runCanary } from "./run-canary.ts";
import { liveEvents, type ServiceLimits } from "./streams.ts";
import { watchFleetGraph } from "./watch-fleet-graph.ts";
import { watchFleetLogs } from "./watch-fleet-logs.ts";

/** Implements `actuator.v3.FleetService`. */
export function fleetService(
  fleet: Fleet,
  peers: FleetPeers,
  gate: Pick<Gate, "require">,
  limits: ServiceLimits,
): ServiceImpl<typeof FleetService> {
  const { heartbeatMs } = limits;
  const interval = durationFromMs(heartbeatMs);

  async function entryWith(generation: bigint, reach: ReturnType<typeof reachOf>): Promise<FleetEntry> {
    const entry = await fleet.entry(Number(generation));
    if (!isInReach([entry.name], reach)) {
      const message = "This change concerns a logger for which you have no permission.";
      throw new ActuatorError("PERMISSION_DENIED", "PERMISSION_MISSING", message);
    }
    return entry;
  }

  return {
    async listInstances({ selector }) {
      return instancesToProto(fleet, await fleet.instances(selector));
    },

    watchInstances({ selector }) {
      let seen: readonly FleetInstance[] | ActuatorError | undefined;
      let isUnavailable = false;
      let stop: (() => void) | undefined;
      const tell = (event: "instances" | "unavailable") => {
        const value = seen;
        seen = undefined;
        isUnavailable = event === "unavailable";
        return create(WatchInstancesResponseSchema, {
          event: isUnavailable
            ? { case: "unavailable", value: { message: (value as ActuatorError).message } }
            : { case: "instances", value: instancesToProto(fleet, value as readonly FleetInstance[]) },
        });
      };
      return liveEvents(
        {
          open(wake) {
            stop = fleet.watchInstances(selector, (latest) => {
              seen = latest;
              wake();
            });
          },
          take() {
            if (seen === undefined) return undefined;
            if (!(seen instanceof Error)) return tell("instances");
            return isUnavailable ? undefined : tell("unavailable");
          },
          heartbeat: () => create(WatchInstancesResponseSchema, { event: { case: "heartbeat", value: { interval } } }),
          close: () => stop?.(),
        },
        heartbeatMs,
      );
    },

    async listFleetLevels(_, context) {
      const levels = await fleet.levels();
      const visible = levels.filter(({ name }) => isInReach([name], reachOf(context)));
      return create(ListFleetLevelsResponseSchema, {
        levels: visible.map(fleetLevelToProto),
        generation: BigInt(fleet.generation),
      });
    },

    async getFleetChange({ generation }, context) {
      await entryWith(generation, reachOf(context));
      const change = await fleet.change(Number(generation));
      return create(GetFleetChangeResponseSchema, { change: fleetChangeToProto(change, reachOf(context)) });
    },

    watchFleetChange({ generation }, context) {
      const reach = reachOf(context);
      let seen: FleetChange | undefined;
      let sent = "";
      let fault: unknown;
      let isEnd = false;
      let stop: (() => void) | undefined;
      let isClosed = false;
      return liveEvents(
        {
          open(wake) {
            const fail = (error: unknown) => {
              fault = error;
              wake();
            };
            entryWith(generation, reach).then((entry) => {
              if (isClosed) return;
              stop = fleet.watchChange(entry, (latest) => {
                seen = latest;
                wake();
              });
            }, fail);
          },
          take() {
            if (fault !== undefined) throw fault;
            if (isEnd) return "end";
            if (seen === undefined) return undefined;
            const signature = JSON.stringify(seen.instances);
            if (signature === sent) return undefined;
            sent = signature;
            isEnd = isSettled(seen.instances);
            return create(WatchFleetChangeResponseSchema, {
              event: { case: "change", value: fleetChangeToProto(seen, reach) },
            });
          },
          heartbeat: () =>
            create(WatchFleetChangeResponseSchema, { event: { case: "heartbeat", value: { interval } } }),
          close() {
            isClosed = true;
            stop?.();
          },
        },
        heartbeatMs,
      );
    },

    runCanary: (request, context) => runCanary(fleet, request, context, heartbeatMs),

    async finishCanary({ id, promote, reason }, { values }) {
      const caller = callerOf(values);
      const check = ({ name, level, canary: goal }: FleetEntry) => {
        requestContextOf(values).subject = { logger: name, level, ...fleetSubject(goal?.selector), promote };
        requireLoggers(caller, [name]);
      };
      const asked = { actor: caller.name, reach: caller.loggers, check, ...(reason !== "" && { reason }) };
      const generation = await fleet.finishCanary(id, promote, asked);
      return create(FinishCanaryResponseSchema, { generation: BigInt(generation ?? 0) });
    },

    listLoggerDifferences: (request, context) => listLoggerDifferences(peers, request, context),

    getFleetGraph: (request, context) => getFleetGraph(peers, request, context),

    watchFleetGraph: (request, context) => watchFleetGraph(fleet, peers, request, context, limits),

    watchFleetLogs: (request, context) => watchFleetLogs(fleet, peers, gate, request, context, heartbeatMs),

    async resetFleet({ reason }, { values }) {
      const caller = callerOf(values);
      requestContextOf(values).subject = fleetSubject(undefined);
      requireLoggers(caller, [ROOT]);
      const { ended, generation } = await fleet.reset({ actor: caller.name, reason });
      return create(ResetFleetResponseSchema, { ended, generation: BigInt(generation) });
    },
  };
}

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import type { Fleet } from "../../fleet/fleet.ts";
import type { FleetLease } from "../../fleet/lease.ts";
import {
  type HoldLoggerLevelRequest,
  type HoldLoggerLevelResponse,
  HoldLoggerLevelResponseSchema,
  HoldLoggerLevelResponse_Ended_Reason as Reason,
} from "../../gen/actuator/v3/loggers_pb.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import { fleetChangeFrom, fleetOutcomeToProto } from "./fleet-scope.ts";
import { checkReach, requestedLevel, ttlFrom } from "./level-request.ts";
import { liveEvents } from "./streams.ts";

/** Holds a level in the fleet while the stream is open, as `holdLoggerLevel` does in this instance. */
export function holdFleetLevel(
  loggers: Loggers,
  fleet: Fleet | undefined,
  request: HoldLoggerLevelRequest,
  context: HandlerContext,
  heartbeatMs: number,
): AsyncIterableIterator<HoldLoggerLevelResponse, undefined> {
  const { name } = request;
  const level = requestedLevel(request.level);
  checkReach(loggers, context, name, level);
  const { served, asked } = fleetChangeFrom(fleet, request, context);
  const ttlMs = request.ttl && ttlFrom(request.ttl);
  const interval = durationFromMs(heartbeatMs);
  let lease: FleetLease | undefined;
  let fault: unknown;
  let isClosed = false;
  let next: "held" | "ended" | "end" = "held";

  function tell(
    event: MessageInitShape<typeof HoldLoggerLevelResponseSchema>["event"] & object,
  ): HoldLoggerLevelResponse {
    const { timeLeft } = lease ?? {};
    return create(HoldLoggerLevelResponseSchema, {
      event,
      ...(timeLeft !== undefined && { timeLeft: durationFromMs(Math.ceil(timeLeft)) }),
    });
  }
  const release = () => lease?.release().catch(() => undefined);

  return liveEvents(
    {
      open(wake) {
        served.holdLevel(name, level, { ...asked, ttlMs }).then(
          (held) => {
            lease = held;
            if (isClosed) void release();
            held.onEnd(wake);
            wake();
          },
          (error) => {
            fault = error;
            wake();
          },
        );
      },
      take() {
        if (fault !== undefined) throw fault;
        if (lease === undefined) return undefined;
        if (next === "end") return "end";
        if (next === "held") {
          next = "ended";
          return tell({ case: "held", value: fleetOutcomeToProto(loggers, name, lease.generation, context) });
        }
        if (lease.end === undefined) return undefined;
        next = "end";
        return tell({
          case: "ended",
          value: { reason: lease.end === "OVERRULED" ? Reason.OVERRULED : Reason.EXPIRED },
        });
      },
      heartbeat: () => tell({ case: "heartbeat", value: { interval } }),
      close() {
        isClosed = true;
        void release();
      },
    },
    heartbeatMs,
  );
}

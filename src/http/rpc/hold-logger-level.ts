import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import {
  type HoldLoggerLevelRequest,
  type HoldLoggerLevelResponse,
  HoldLoggerLevelResponseSchema,
  HoldLoggerLevelResponse_Ended_Reason as Reason,
} from "../../gen/actuator/v3/loggers_pb.ts";
import type { HoldOutcome, LeaseEnd } from "../../loggers/lease.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import { reachOf } from "./calls/call-context.ts";
import { changeFrom, checkReach, requestedLevel, ttlFrom } from "./level-request.ts";
import { outcomeToProto } from "./logger-proto.ts";
import { liveEvents } from "./streams.ts";

const reasons: Partial<Record<LeaseEnd, Reason>> = { EXPIRED: Reason.EXPIRED, OVERRULED: Reason.OVERRULED };

/** Holds a level while the stream is open: sets it when the first event is requested, and restores it when the stream ends. */
export function holdLoggerLevel(
  loggers: Loggers,
  request: HoldLoggerLevelRequest,
  context: HandlerContext,
  heartbeatMs: number,
): AsyncIterableIterator<HoldLoggerLevelResponse, undefined> {
  const interval = durationFromMs(heartbeatMs);
  checkReach(loggers, context, request.name, requestedLevel(request.level));
  let hold: HoldOutcome;
  let next: "held" | "heartbeat" | "end" = "held";

  function tell(
    event: MessageInitShape<typeof HoldLoggerLevelResponseSchema>["event"] & object,
  ): HoldLoggerLevelResponse {
    const { timeLeft, covered } = hold.lease;
    const left = timeLeft !== undefined && { timeLeft: durationFromMs(Math.ceil(timeLeft)) };
    return create(HoldLoggerLevelResponseSchema, { event, covered, ...left });
  }

  return liveEvents(
    {
      open(wake) {
        const level = requestedLevel(request.level);
        const ttl = request.ttl && ttlFrom(request.ttl);
        hold = loggers.holdLevel(request.name, level, { ...changeFrom(request, context), ttlMs: ttl });
        hold.lease.onEnd(wake);
      },
      take() {
        const { end } = hold.lease;
        if (next === "end") return "end";
        if (next === "held") {
          next = "heartbeat";
          return tell({ case: "held", value: outcomeToProto(hold, reachOf(context)) });
        }
        if (end === undefined) return undefined;
        const reason = reasons[end];
        if (reason === undefined) throw new ConnectError("The loggers are no longer managed.", Code.Unavailable);
        next = "end";
        return tell({ case: "ended", value: { reason } });
      },
      heartbeat: () => tell({ case: "heartbeat", value: { interval } }),
      close: () => hold.lease.release(),
    },
    heartbeatMs,
  );
}

import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { requireLoggers } from "../../access/caller.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import { FleetService } from "../../gen/actuator/v3/fleet_pb.ts";
import { Level as LevelProto } from "../../gen/actuator/v3/level_pb.ts";
import {
  WatchLogsResponse_Dropped_Reason as DropReason,
  type Raise,
  WatchLogsResponse_RaiseEnded_Reason as RaiseEndReason,
  type WatchLogsRequest,
  type WatchLogsResponse,
  WatchLogsResponseSchema,
} from "../../gen/actuator/v3/logs_pb.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import { ROOT } from "../../loggers/name.ts";
import { prefixOf } from "../../logs/filter.ts";
import type { Logs } from "../../logs/logs.ts";
import type { LogQuery, RaiseRequest, RecordBatch, TailEvent } from "../../logs/query.ts";
import type { Tail } from "../../logs/tail.ts";
import type { Gate } from "../gate/gate.ts";
import { type Reach, visibleNotices } from "../visible-loggers.ts";
import { callerOf, reachOf, requestContextOf } from "./calls/call-context.ts";
import { notServed } from "./calls/error.ts";
import { FleetRaise, fleetRaiseFrom, raisedNames, raiseEnded } from "./fleet-raise.ts";
import { fleetSubject, isOfFleet } from "./fleet-scope.ts";
import { changeFrom, requestedLevel, ttlFrom } from "./level-request.ts";
import { logRecordToProto } from "./log-record-proto.ts";
import { levelToProto } from "./logger-proto.ts";
import { liveEvents } from "./streams.ts";

/** Watches what loggers write for one call, and raises their level if its request asks for that. */
export type WatchLogs = (
  request: WatchLogsRequest,
  context: HandlerContext,
) => AsyncIterableIterator<WatchLogsResponse, undefined>;

/** Makes watches of what loggers write. Those with the same conditions send the same messages. */
export function watchLogs(
  logs: Logs,
  loggers: Loggers,
  fleet: Fleet | undefined,
  gate: Pick<Gate, "require">,
  heartbeatMs: number,
): WatchLogs {
  const interval = durationFromMs(heartbeatMs);
  const messages = new WeakMap<RecordBatch, WatchLogsResponse>();

  function recordsOf(batch: RecordBatch): WatchLogsResponse {
    let message = messages.get(batch);
    if (message === undefined) {
      const value = { records: batch.records.map(logRecordToProto) };
      message = create(WatchLogsResponseSchema, { event: { case: "records", value }, after: batch.after });
      messages.set(batch, message);
    }
    return message;
  }

  return (request, context) => {
    const reach = reachOf(context);
    const { raise } = request;
    const isOfAll = raise !== undefined && isOfFleet(fleet, raise);
    if (isOfAll && fleet === undefined) throw notServed(FleetService);
    const query: LogQuery = {
      names: request.names,
      level: request.level === LevelProto.UNSPECIFIED ? undefined : requestedLevel(request.level),
      contains: request.contains,
      fields: request.fields,
      raise: isOfAll || raise === undefined ? undefined : raiseFrom(raise, context),
      recent: request.recent,
      after: request.after || undefined,
      maxPerSecond: request.maxPerSecond || undefined,
      reach,
    };
    const requestContext = requestContextOf(context.values);
    requestContext.subject = {
      logger: request.names.join(",") || undefined,
      level: raise && requestedLevel(raise.level),
      ...(isOfAll && fleetSubject(raise.fleet?.selector)),
    };
    const caller = callerOf(context.values);
    requireLoggers(caller, isOfAll ? raisedNames(request.names) : loggersOf(request, loggers));
    if (raise !== undefined) gate.require(requestContext, "loggers:write");
    const inFleet = isOfAll
      ? fleetRaiseFrom(request.names, raise, { actor: caller.name, reach: caller.loggers })
      : undefined;
    let tail: Tail;
    let level: FleetRaise | undefined;
    let isStarted = false;
    let isRaiseEnded = false;

    return liveEvents(
      {
        open(wake) {
          tail = logs.open(query);
          tail.onEvent(wake);
          level = inFleet && new FleetRaise(fleet!, inFleet, wake);
        },
        take() {
          if (tail.isClosed) throw new ConnectError("What loggers write is no longer shown.", Code.Unavailable);
          if (level?.isOpen === false) return undefined;
          if (!isStarted) {
            isStarted = true;
            return started(tail, level, reach);
          }
          if (level?.end !== undefined && !isRaiseEnded) {
            isRaiseEnded = true;
            return { ...raiseEnded(level), after: tail.after };
          }
          const event = tail.take();
          return event && (event.type === "records" ? recordsOf(event) : notice(event, tail.after));
        },
        heartbeat: () =>
          create(WatchLogsResponseSchema, {
            event: { case: "heartbeat", value: { interval } },
            after: tail.after,
          }),
        close() {
          tail.close();
          level?.release();
        },
      },
      heartbeatMs,
    );
  };
}

/** The loggers that a request names or whose level it raises. */
function loggersOf({ names, raise }: WatchLogsRequest, loggers: Loggers): readonly string[] {
  if (names.length === 0) return raise === undefined || raise.onlyHere ? [] : [ROOT];
  // A raise of `orders.*` sets the level of `orders`, which may be a group.
  return names.flatMap((name) => loggers.reach(prefixOf(name) ?? name));
}

function raiseFrom(raise: Raise, context: HandlerContext): RaiseRequest {
  return {
    ...changeFrom(raise, context),
    level: requestedLevel(raise.level),
    onlyHere: raise.onlyHere,
    ttlMs: raise.ttl && ttlFrom(raise.ttl),
    maxPerSecond: raise.maxPerSecond || undefined,
  };
}

function started({ start, after }: Tail, level: FleetRaise | undefined, reach: Reach): WatchLogsResponse {
  const left = level === undefined ? start.raiseTimeLeftMs : level.timeLeftMs;
  const raised = level === undefined ? start.raised : level.names.map((name) => ({ name, previousLevel: undefined }));
  const value = {
    loggers: start.loggers,
    unheardKinds: [...start.unheardKinds],
    raised: raised.map(({ name, previousLevel }) => ({ name, previousLevel: levelToProto(previousLevel) })),
    notices: visibleNotices(start.notices, reach).map(({ code, message, nearest = "" }) => ({
      code,
      message,
      nearest,
    })),
    ...(left !== undefined && { timeLeft: durationFromMs(Math.ceil(left)) }),
  };
  return create(WatchLogsResponseSchema, { event: { case: "started", value }, after });
}

function notice(event: Exclude<TailEvent, RecordBatch>, after: string): WatchLogsResponse {
  if (event.type === "dropped") {
    const value = { reason: DropReason[event.reason], count: BigInt(event.count ?? 0) };
    return create(WatchLogsResponseSchema, { event: { case: "dropped", value }, after });
  }
  const value = { reason: RaiseEndReason[event.reason], maxPerSecond: event.maxPerSecond ?? 0 };
  return create(WatchLogsResponseSchema, { event: { case: "raiseEnded", value }, after });
}

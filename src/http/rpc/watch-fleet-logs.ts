import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { isInReach, requireLoggers } from "../../access/caller.ts";
import { ActuatorError } from "../../common/error.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import {
  type WatchFleetLogsRequest,
  type WatchFleetLogsResponse,
  WatchFleetLogsResponseSchema,
} from "../../gen/actuator/v3/fleet_pb.ts";
import { LogsService, WatchLogsRequestSchema, type WatchLogsResponse } from "../../gen/actuator/v3/logs_pb.ts";
import type { Gate } from "../gate/gate.ts";
import type { Reach } from "../visible-loggers.ts";
import { callerOf, reachOf, requestContextOf } from "./calls/call-context.ts";
import type { FleetPeers } from "./fleet-peers.ts";
import { FleetRaise, fleetRaiseFrom, raisedNames, raiseEnded } from "./fleet-raise.ts";
import { fleetSubject } from "./fleet-scope.ts";
import { requestedLevel } from "./level-request.ts";
import { type PeerStream, PeerStreams } from "./peer-streams.ts";
import { liveEvents } from "./streams.ts";

type Event = Pick<WatchFleetLogsResponse, "instance" | "event">;

/** Watches what loggers write in all instances of the fleet. */
export function watchFleetLogs(
  fleet: Fleet,
  peers: FleetPeers,
  gate: Pick<Gate, "require">,
  { selector, logs }: WatchFleetLogsRequest,
  context: HandlerContext,
  heartbeatMs: number,
): AsyncIterableIterator<WatchFleetLogsResponse, undefined> {
  const { raise, ...request } = logs ?? create(WatchLogsRequestSchema);
  const { after, names } = request;
  if (after !== "") {
    const message = "`after` is not supported for several instances; remove it.";
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_CONDITION", message, { field: "logs.after" });
  }
  const caller = callerOf(context.values);
  const requestContext = requestContextOf(context.values);
  requestContext.subject = {
    logger: names.join(",") || undefined,
    level: raise && requestedLevel(raise.level),
    ...fleetSubject(selector),
  };
  requireLoggers(caller, names.length === 0 && raise === undefined ? [] : raisedNames(names));
  if (raise !== undefined) gate.require(requestContext, "loggers:write");
  const asked = raise && fleetRaiseFrom(names, raise, { actor: caller.name, reach: caller.loggers, selector });
  const interval = durationFromMs(heartbeatMs);
  const reach = reachOf(context);
  const waiting = new Waiting();
  let streams: PeerStreams<WatchLogsResponse> | undefined;
  let level: FleetRaise | undefined;
  let isRaiseEnded = false;

  return liveEvents(
    {
      open(wake) {
        level = asked && new FleetRaise(fleet, asked, wake);
        waiting.wake = wake;
        const listener: PeerStream<WatchLogsResponse> = {
          selector,
          ask: (clients, signal) => clients(LogsService).watchLogs(request, { signal }),
          message(instance, message) {
            const value = visible(message, reach);
            return value && waiting.give({ instance, event: { case: "logs", value } });
          },
          unread: (instance, reason) =>
            waiting.give({ instance, event: { case: "unread", value: { $typeName: UNREAD, instance, reason } } }),
          gone: (instance) => waiting.drop(instance),
          changed: wake,
        };
        streams = new PeerStreams(fleet, peers, listener, context);
      },
      take() {
        if (streams?.unavailable !== undefined) throw streams.unavailable;
        if (level !== undefined && !isRaiseEnded && level.isOpen && level.end !== undefined) {
          isRaiseEnded = true;
          return create(WatchFleetLogsResponseSchema, { event: { case: "logs", value: raiseEnded(level) } });
        }
        const event = waiting.take();
        return event && create(WatchFleetLogsResponseSchema, event);
      },
      heartbeat: () => create(WatchFleetLogsResponseSchema, { event: { case: "heartbeat", value: { interval } } }),
      close() {
        streams?.close();
        level?.release();
        waiting.clear();
      },
    },
    heartbeatMs,
  );
}

/** One event of each instance waits for the reader: the instance drops and counts what does not fit. The first to come is the first taken. */
class Waiting {
  readonly #events = new Map<string, { readonly event: Event; readonly taken: () => void }>();
  wake: (() => void) | undefined;

  /** Resolves when the event is taken or dropped. */
  give(event: Event): Promise<void> {
    this.drop(event.instance);
    return new Promise((taken) => {
      this.#events.set(event.instance, { event, taken });
      this.wake?.();
    });
  }

  take(): Event | undefined {
    for (const [instance, { event }] of this.#events) {
      this.drop(instance);
      return event;
    }
    return undefined;
  }

  drop(instance: string): void {
    this.#events.get(instance)?.taken();
    this.#events.delete(instance);
  }

  clear(): void {
    for (const instance of this.#events.keys()) this.drop(instance);
  }
}

const UNREAD = "actuator.v3.UnreadInstance";

/** The part of a message that the caller may see; undefined: nothing. The other instance knows only the token of this one. */
function visible(message: WatchLogsResponse, reach: Reach): WatchLogsResponse | undefined {
  const { event } = message;
  if (event.case === "heartbeat") return undefined;
  if (reach === undefined) return message;
  if (event.case === "started") {
    const notices = event.value.notices.map((notice) => {
      return isInReach([notice.nearest], reach) ? notice : { ...notice, nearest: "" };
    });
    return { ...message, event: { case: "started", value: { ...event.value, notices } } };
  }
  if (event.case !== "records") return message;
  const records = event.value.records.filter(({ logger }) => isInReach([logger], reach));
  if (records.length === 0) return undefined;
  return { ...message, event: { case: "records", value: { ...event.value, records } } };
}

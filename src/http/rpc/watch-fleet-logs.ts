import { setTimeout as delay } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { isInReach, requireLoggers } from "../../access/caller.ts";
import { ActuatorError } from "../../common/error.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { FleetInstance } from "../../fleet/instance.ts";
import {
  type WatchFleetLogsRequest,
  type WatchFleetLogsResponse,
  WatchFleetLogsResponseSchema,
} from "../../gen/actuator/v3/fleet_pb.ts";
import {
  LogsService,
  type WatchLogsRequest,
  WatchLogsRequestSchema,
  type WatchLogsResponse,
} from "../../gen/actuator/v3/logs_pb.ts";
import { loggerName, ROOT } from "../../loggers/name.ts";
import { prefixOf } from "../../logs/filter.ts";
import type { Gate } from "../gate/gate.ts";
import type { Reach } from "../visible-loggers.ts";
import { callerOf, reachOf, requestContextOf } from "./calls/call-context.ts";
import { type FleetPeers, MAX_ASKED, reasonOf } from "./fleet-peers.ts";
import { FleetRaise, fleetRaiseFrom, raiseEnded } from "./fleet-raise.ts";
import { liveEvents } from "./streams.ts";

const RETRY_MS = 5_000;

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
    const message = "Records of several instances cannot be continued after one of them.";
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_CONDITION", message, { field: "logs.after" });
  }
  const caller = callerOf(context.values);
  const requestContext = requestContextOf(context.values);
  requestContext.subject = { logger: names.join(",") || undefined };
  const raised = names.length === 0 && raise !== undefined ? [ROOT] : names;
  requireLoggers(
    caller,
    raised.map((name) => loggerName(prefixOf(name) ?? name)),
  );
  if (raise !== undefined) gate.require(requestContext, "loggers:write");
  const asked = raise && fleetRaiseFrom(names, raise, { actor: caller.name, selector });
  const interval = durationFromMs(heartbeatMs);
  const tails = new Map<string, InstanceTail>();
  let unavailable: ActuatorError | undefined;
  let level: FleetRaise | undefined;
  let isRaiseEnded = false;
  let stop: (() => void) | undefined;

  return liveEvents(
    {
      open(wake) {
        level = asked && new FleetRaise(fleet, asked, wake);
        stop = fleet.watchInstances(selector, (seen) => {
          if (seen instanceof Error) {
            // Those that are watched already go on.
            if (tails.size === 0) unavailable = seen;
            return wake();
          }
          const here = seen.filter(({ isGone }) => !isGone).slice(0, MAX_ASKED);
          for (const instance of here) {
            if (tails.has(instance.id)) continue;
            tails.set(instance.id, new InstanceTail(instance, peers, request, context, wake));
          }
          const ids = new Set(here.map(({ id }) => id));
          for (const [id, tail] of tails) {
            if (ids.has(id)) continue;
            tail.close();
            tails.delete(id);
          }
        });
      },
      take() {
        if (unavailable !== undefined) throw unavailable;
        if (level !== undefined && !isRaiseEnded && level.isOpen && level.end !== undefined) {
          isRaiseEnded = true;
          return create(WatchFleetLogsResponseSchema, { event: { case: "logs", value: raiseEnded(level) } });
        }
        for (const [id, tail] of tails) {
          const event = tail.take();
          if (event === undefined) continue;
          // The next time another one comes first.
          tails.delete(id);
          tails.set(id, tail);
          return create(WatchFleetLogsResponseSchema, event);
        }
        return undefined;
      },
      heartbeat: () => create(WatchFleetLogsResponseSchema, { event: { case: "heartbeat", value: { interval } } }),
      close() {
        stop?.();
        level?.release();
        for (const tail of tails.values()) tail.close();
      },
    },
    heartbeatMs,
  );
}

/** What one instance writes. One event at a time waits for the reader: the instance drops and counts what does not fit. */
class InstanceTail {
  readonly #instance: FleetInstance;
  readonly #wake: () => void;
  readonly #reach: Reach;
  readonly #end = new AbortController();
  #event: Event["event"] | undefined;
  #taken: (() => void) | undefined;

  constructor(
    instance: FleetInstance,
    peers: FleetPeers,
    request: WatchLogsRequest,
    context: HandlerContext,
    wake: () => void,
  ) {
    this.#instance = instance;
    this.#wake = wake;
    this.#reach = reachOf(context);
    void this.#follow(peers, request, context);
  }

  take(): Event | undefined {
    const event = this.#event;
    if (event === undefined) return undefined;
    this.#event = undefined;
    this.#taken?.();
    return { instance: this.#instance.id, event };
  }

  close(): void {
    this.#end.abort();
    this.#taken?.();
  }

  async #follow(peers: FleetPeers, request: WatchLogsRequest, context: HandlerContext): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      let reason = "it has ended the stream";
      try {
        const clients = await peers.clients(this.#instance, context);
        for await (const message of clients(LogsService).watchLogs(request, { signal })) {
          const value = visible(message, this.#reach);
          if (value !== undefined) await this.#give({ case: "logs", value });
        }
      } catch (error) {
        reason = reasonOf(error);
      }
      if (signal.aborted) return;
      await this.#give({ case: "unread", value: { $typeName: UNREAD, instance: this.#instance.id, reason } });
      // It rejects when the call has ended.
      await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #give(event: Event["event"]): Promise<void> {
    if (this.#end.signal.aborted) return;
    this.#event = event;
    const taken = new Promise<void>((resolve) => {
      this.#taken = resolve;
    });
    this.#wake();
    await taken;
  }
}

const UNREAD = "actuator.v3.UnreadInstance";

/** The part of a message that the caller may see; undefined: nothing. The other instance knows only the token of this one. */
function visible(message: WatchLogsResponse, reach: Reach): WatchLogsResponse | undefined {
  const { event } = message;
  if (event.case === "heartbeat") return undefined;
  if (event.case !== "records" || reach === undefined) return message;
  const records = event.value.records.filter(({ logger }) => isInReach([logger], reach));
  if (records.length === 0) return undefined;
  return { ...message, event: { case: "records", value: { ...event.value, records } } };
}

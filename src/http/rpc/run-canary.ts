import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { requireLoggers } from "../../access/caller.ts";
import { ActuatorError } from "../../common/error.ts";
import type { FleetCanary } from "../../fleet/canary.ts";
import type { Fleet, FleetChange } from "../../fleet/fleet.ts";
import { isSettled } from "../../fleet/instance.ts";
import {
  CanaryEnded_Outcome as Outcome,
  type RunCanaryRequest,
  type RunCanaryResponse,
  RunCanaryResponseSchema,
} from "../../gen/actuator/v3/fleet_pb.ts";
import { loggerName } from "../../loggers/name.ts";
import { callerOf, requestContextOf } from "./calls/call-context.ts";
import { fleetChangeToProto } from "./fleet-proto.ts";
import { requestedLevel, ttlFrom } from "./level-request.ts";
import { liveEvents } from "./streams.ts";

/** Sets a level on some instances while the stream is open, until it is promoted to all or taken back. */
export function runCanary(
  fleet: Fleet,
  request: RunCanaryRequest,
  { values }: Pick<HandlerContext, "values">,
  heartbeatMs: number,
): AsyncIterableIterator<RunCanaryResponse, undefined> {
  const { name, selector, instances, reason } = request;
  const level = requestedLevel(request.level);
  requestContextOf(values).subject = { logger: name, level };
  const { name: actor } = callerOf(values);
  requireLoggers(callerOf(values), [loggerName(name)]);
  const promoteAfter = request.promoteAfter && durationMs(request.promoteAfter);
  if (promoteAfter !== undefined && !(promoteAfter > 0)) {
    const message = "promote_after must be more than 0.";
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_DURATION", message, { field: "promote_after" });
  }

  let canary: FleetCanary | undefined;
  let change: FleetChange | undefined;
  let sent = "";
  /** The generation of the level that was promoted. */
  let promoted: number | undefined;
  let outcome: Outcome | undefined;
  let isEnd = false;
  let isClosed = false;
  let fault: unknown;
  let stopWatching = () => {};
  let timer: NodeJS.Timeout | undefined;

  const tell = (event: MessageInitShape<typeof RunCanaryResponseSchema>["event"] & object) =>
    create(RunCanaryResponseSchema, { event });
  const release = () => canary?.lease.release().catch(() => undefined);

  async function begin(wake: () => void): Promise<void> {
    const ttlMs = request.ttl === undefined ? "default" : ttlFrom(request.ttl);
    canary = await fleet.runCanary(name, level, { actor, reason, selector, instances, ttlMs });
    if (isClosed) return void release();
    canary.lease.onEnd(() => void ended(wake).catch(fail(wake)));
    await follow(canary.lease.generation, wake);
    if (promoteAfter !== undefined) timer = setTimeout(() => void decide().catch(fail(wake)), promoteAfter).unref();
  }

  /** The time of the canary is over: it is promoted if all its instances have the level. */
  async function decide(): Promise<void> {
    const { instances: statuses } = await fleet.change(canary!.lease.generation);
    const isApplied = statuses.length === instances && statuses.every(({ status }) => status === "APPLIED");
    if (!isApplied) outcome = Outcome.FAILED;
    await fleet.finishCanary(canary!.id, isApplied, { actor });
  }

  async function ended(wake: () => void): Promise<void> {
    clearTimeout(timer);
    promoted = fleet.promotion(canary!);
    if (promoted !== undefined) await follow(promoted, wake);
    else outcome ??= canary!.lease.end === "OVERRULED" ? Outcome.OVERRULED : Outcome.TAKEN_BACK;
    wake();
  }

  async function follow(generation: number, wake: () => void): Promise<void> {
    stopWatching();
    change = await fleet.change(generation);
    stopWatching = fleet.watchChange(change, (latest) => {
      if (latest instanceof Error) return fail(wake)(latest);
      change = latest;
      wake();
    });
    wake();
  }

  const fail = (wake: () => void) => (error: unknown) => {
    fault = error;
    wake();
  };

  return liveEvents(
    {
      open: (wake) => void begin(wake).catch(fail(wake)),
      take() {
        if (fault !== undefined) throw fault;
        if (isEnd) return "end";
        if (outcome !== undefined) {
          isEnd = true;
          return tell({ case: "ended", value: { outcome, generation: BigInt(promoted ?? 0) } });
        }
        if (canary === undefined || change === undefined) return undefined;
        const signature = JSON.stringify(change);
        if (signature === sent) return undefined;
        sent = signature;
        const isPromoted = change.entry.generation === promoted;
        if (isPromoted && isSettled(change.instances)) outcome = Outcome.PROMOTED;
        return tell({ case: "progress", value: { id: canary.id, isPromoted, change: fleetChangeToProto(change) } });
      },
      heartbeat: () => tell({ case: "heartbeat", value: { interval: durationFromMs(heartbeatMs) } }),
      close() {
        isClosed = true;
        clearTimeout(timer);
        stopWatching();
        void release();
      },
    },
    heartbeatMs,
  );
}

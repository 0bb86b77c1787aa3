import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { requireLoggers } from "../../access/caller.ts";
import { ActuatorError } from "../../common/error.ts";
import { LONGEST_TIMER_MS } from "../../common/timeout.ts";
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
import { fleetSubject } from "./fleet-scope.ts";
import { requestedLevel, ttlFrom } from "./level-request.ts";
import { liveEvents } from "./streams.ts";

/** Between two attempts to decide while the engine does not answer. */
const AGAIN_MS = 500;
/** By then each instance has reported to an engine that is back. */
const REPORT_MS = 6_000;

/** Sets a level on some instances while the stream is open, until it is promoted to all or taken back. */
export function runCanary(
  fleet: Fleet,
  request: RunCanaryRequest,
  { values }: Pick<HandlerContext, "values">,
  heartbeatMs: number,
): AsyncIterableIterator<RunCanaryResponse, undefined> {
  const { name, selector, instances, reason } = request;
  const level = requestedLevel(request.level);
  requestContextOf(values).subject = { logger: name, level, ...fleetSubject(selector) };
  const { name: actor, loggers: reach } = callerOf(values);
  requireLoggers(callerOf(values), [loggerName(name)]);
  const promoteAfter = request.promoteAfter && durationMs(request.promoteAfter);
  if (promoteAfter !== undefined && !(promoteAfter > 0 && promoteAfter <= LONGEST_TIMER_MS)) {
    const message = `promote_after must be more than 0 and at most ${LONGEST_TIMER_MS} milliseconds.`;
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_DURATION", message, { field: "promote_after" });
  }

  let canary: FleetCanary | undefined;
  let change: FleetChange | undefined;
  let sent = "";
  /** The generation of the level that was promoted. */
  let promoted: number | undefined;
  /** Whether the time is over, and an instance had not the level. */
  let isFailed = false;
  /** When the engine did not answer last. */
  let missed = Number.NEGATIVE_INFINITY;
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
    canary = await fleet.runCanary(name, level, { actor, reach, reason, selector, instances, ttlMs });
    if (isClosed) return void release();
    canary.lease.onEnd(() => void ended(wake).catch(fail(wake)));
    await follow(canary.lease.generation, wake);
    if (promoteAfter !== undefined) timer = setTimeout(() => void decide(wake), promoteAfter).unref();
  }

  /** The time of the canary is over: it is promoted if all its instances have the level. */
  async function decide(wake: () => void): Promise<void> {
    const { id, lease } = canary!;
    try {
      const { instances: statuses } = await fleet.change(lease.generation);
      if (isClosed) return;
      const isKnown = statuses.length === instances && isSettled(statuses);
      if (!isKnown && performance.now() - missed < REPORT_MS) return again(wake);
      const isApplied = isKnown && statuses.every(({ status }) => status === "APPLIED");
      isFailed = !isApplied;
      await fleet.finishCanary(id, isApplied, { actor, reach });
    } catch (error) {
      // Without the engine it lasts for as long as its lease, whose end is told.
      if (isClosed || lease.end !== undefined) return;
      const { code, reason } = error as ActuatorError;
      if (code !== "UNAVAILABLE" && reason !== "FLEET_ENGINE_REFUSED") return fail(wake)(error);
      missed = performance.now();
      again(wake);
    }
  }

  function again(wake: () => void): void {
    timer = setTimeout(() => void decide(wake), AGAIN_MS).unref();
  }

  async function ended(wake: () => void): Promise<void> {
    clearTimeout(timer);
    promoted = fleet.promotion(canary!);
    if (promoted !== undefined) await follow(promoted, wake);
    else if (canary!.lease.end === "OVERRULED") outcome = Outcome.OVERRULED;
    else outcome = isFailed ? Outcome.FAILED : Outcome.TAKEN_BACK;
    wake();
  }

  async function follow(generation: number, wake: () => void): Promise<void> {
    const entry = await fleet.entry(generation);
    if (isClosed) return;
    stopWatching();
    stopWatching = fleet.watchChange(entry, (latest) => {
      change = latest;
      wake();
    });
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
        return tell({
          case: "progress",
          value: { id: canary.id, isPromoted, change: fleetChangeToProto(change, reach) },
        });
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

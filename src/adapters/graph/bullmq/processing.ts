import type { EventEmitter } from "node:events";
import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphLink } from "../../../integration-graph/node.ts";
import { field } from "../../kit/interception/field.ts";
import { type Method, replaceMethods } from "../../kit/interception/replaced-method.ts";
import { placeOfKey, SYSTEM } from "./broker.ts";
import type { Queue, Queues } from "./queues.ts";
import type { Schedulers } from "./schedulers.ts";
import type { BullmqWorker, Unwatch } from "./target.ts";
import type { Handler } from "./workers.ts";

/** By these errors a processor says that the job goes on later: it has moved it itself, and it did not fail. */
const POSTPONING: ReadonlySet<unknown> = new Set(["DelayedError", "WaitingError", "WaitingChildrenError"]);
const RATE_LIMITED = "bullmq:rateLimitExceeded";

/** So many parents' queues are remembered by a worker. */
const MAX_PARENTS = 200;

/** So many jobs are remembered: of one whose end Redis does not take, the library says nothing. */
const MAX_CALLED = 10_000;

/** What of the application watches one worker. */
export interface Processing {
  readonly queues: Queues;
  readonly schedulers: Schedulers;
  readonly handler: Handler;
  /** The worker is closed. */
  readonly closed: () => void;
}

/**
 * Watches a worker. Every attempt counts once: as failed where the processor throws or rejects, else as successful. An attempt
 * that the library fails without a call of the processor counts as failed: a child failed, a job stalled too often.
 */
export function watchWorker(worker: BullmqWorker, host: GraphHost, parts: Processing): Unwatch {
  const { handler, schedulers } = parts;
  const { queue } = handler;
  const parents = new Map<string, GraphLink | undefined>();
  /** The jobs that the processor was called with, each an object of one attempt, until the library says what became of them. */
  const called = new Set<unknown>();
  let live = true;

  const measured = (processor: Method): Method =>
    async function processed(this: unknown, ...args: unknown[]): Promise<unknown> {
      const job = args[0] as object;
      if (!host.counts(SYSTEM)) return host.within(handler.node, () => Reflect.apply(processor, this, args));
      if (called.size >= MAX_CALLED) called.clear();
      called.add(job);
      const scheduler = field(job, "repeatJobKey");
      if (typeof scheduler === "string" && isFirst(job)) schedulers.fired(queue, scheduler, field(job, "name"));
      const start = performance.now();
      try {
        const result = await host.within(handler.node, () => Reflect.apply(processor, this, args));
        ended(start, false);
        countParent(job);
        return result;
      } catch (error) {
        const postponed = isPostponing(error);
        if (postponed) called.delete(job);
        ended(start, !postponed);
        throw error;
      }
    };

  function ended(start: number, failed: boolean): void {
    if (live) host.handled(handler.node, { start, end: performance.now(), failed }, handler.input);
  }

  function failedUncalled(job: unknown): void {
    if (!called.delete(job) && host.counts(SYSTEM)) ended(performance.now(), true);
  }

  /** What a child made goes to its parent. */
  function countParent(job: object): void {
    const key = field(field(job, "parent"), "queueKey");
    if (!live || typeof key !== "string") return;
    let way = parents.get(key);
    if (way === undefined || way.dormant) {
      if (parents.size >= MAX_PARENTS) parents.clear();
      way = wayToParent(host, parts.queues, queue, key);
      parents.set(key, way);
    }
    if (way !== undefined) way.count++;
  }

  const restoreProcessor = replaceMethods(worker, { processFn: measured });
  const restore = replaceMethods(worker, {
    // Whoever listens to what becomes of jobs goes on with what the processor began.
    emit: (method) =>
      function emit(this: unknown, ...args: unknown[]): unknown {
        if (args[0] === "completed") called.delete(args[1]);
        else if (args[0] === "failed") failedUncalled(args[1]);
        else if (args[0] === "closed") parts.closed();
        else return Reflect.apply(method, this, args);
        if ((this as EventEmitter).listenerCount(args[0]) === 0) return Reflect.apply(method, this, args);
        return host.within(handler.node, () => Reflect.apply(method, this, args));
      },
    // A worker without a processor is one whose jobs the application takes out itself.
    ...(field(worker, "processFn") === undefined && { getNextJob: polling(host, queue, parts.queues, () => live) }),
  });

  return () => {
    live = false;
    restoreProcessor();
    restore();
  };
}

function polling(host: GraphHost, queue: Queue, queues: Queues, isLive: () => boolean): (method: Method) => Method {
  queues.poll(queue);
  return (method) =>
    async function getNextJob(this: unknown, ...args: unknown[]): Promise<unknown> {
      const job = await Reflect.apply(method, this, args);
      if (job !== undefined && isLive() && host.counts(SYSTEM)) {
        const now = performance.now();
        host.received(queue.node, { start: now, end: now });
      }
      return job;
    };
}

function wayToParent(host: GraphHost, queues: Queues, queue: Queue, key: string): GraphLink | undefined {
  const { place, name } = placeOfKey(queue.place.broker, key);
  const parent = queues.seen(place, name);
  return parent === queue.node ? undefined : host.way(queue.node, "route", parent);
}

/** A job that is tried again, or was taken from a worker that stalled, came from its scheduler before. */
function isFirst(job: object): boolean {
  const started = field(job, "attemptsStarted");
  return field(job, "attemptsMade") === 0 && (typeof started !== "number" || started <= 1);
}

function isPostponing(error: unknown): boolean {
  return POSTPONING.has(field(error, "name")) || field(error, "message") === RATE_LIMITED;
}

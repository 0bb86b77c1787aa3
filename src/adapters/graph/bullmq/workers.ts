import type { EventEmitter } from "node:events";
import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphLink } from "../../../integration-graph/node.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import { field } from "../../kit/interception/field.ts";
import { type Method, replaceMethods } from "../../kit/interception/replaced-method.ts";
import { functionName, HandlerRegistry, type Input } from "../../kit/messaging/handlers.ts";
import type { Unwatch } from "../../kit/messaging/watching-adapter.ts";
import { type Queue, SYSTEM } from "./queues.ts";
import type { Schedulers } from "./schedulers.ts";
import type { BullmqWorker } from "./target.ts";

/** A worker that needs a name in the graph. */
export interface WorkerDescription {
  /** The name of its queue, as the graph shows it. */
  readonly queue: string;
  /** The name that the application gave to the worker, if it did. */
  readonly workerName: string | undefined;
  /** The name of its function, or "" if it has none or runs in another process. */
  readonly functionName: string;
}

/** Names a worker. */
export type WorkerNaming = ((worker: WorkerDescription) => string | undefined) | undefined;

/** The workers of one name, which take jobs from one queue. */
export type WorkerInput = Input<Queue>;

/** The functions that process jobs, as nodes of the graph. */
export class Workers {
  readonly #host: GraphHost;
  readonly #naming: WorkerNaming;
  readonly #handlers: HandlerRegistry<Queue>;

  constructor(host: GraphHost, naming: WorkerNaming) {
    this.#host = host;
    this.#naming = naming;
    this.#handlers = new HandlerRegistry(host);
  }

  /** `worker` processes the jobs of `queue`. */
  add(worker: BullmqWorker, queue: Queue): WorkerInput {
    const description = { name: this.#nameOf(worker, queue), componentType: "bullmq:worker", scope: queue.place.scope };
    const input = this.#handlers.add(description, queue, worker);
    this.#handlers.describe(input.handler, propertiesOf(input.users));
    return input;
  }

  /** A worker is closed. Its node stays until it is pruned. */
  end(input: WorkerInput, worker: BullmqWorker): void {
    this.#handlers.end(input, worker);
    if (input.users.size > 0) this.#handlers.describe(input.handler, propertiesOf(input.users));
  }

  /** Removes what has no worker any more, and reads again what can change at run time. */
  prune(): void {
    this.#handlers.prune();
    for (const handler of this.#handlers) this.#handlers.describe(handler, propertiesOf(handler.active));
  }

  #nameOf(worker: BullmqWorker, { name: queue }: Queue): string {
    const given = field(field(worker, "opts"), "name");
    const called = isSandboxed(worker) ? "" : functionName(field(worker, "processFn"));
    const workerName = typeof given === "string" && given !== "" ? this.#host.shownName(given) : undefined;
    const name = this.#naming?.({ queue, workerName, functionName: called });
    return name ?? `${queue}.${workerName || called || "worker"}`;
  }
}

/** Whether a worker's function runs in a process or thread of its own. */
function isSandboxed(worker: unknown): boolean {
  return field(worker, "childPool") !== undefined;
}

function propertiesOf(workers: ReadonlySet<unknown>): Properties {
  let concurrency = 0;
  let limiter: unknown;
  let sandboxed = false;
  for (const worker of workers) {
    const own = Number(field(worker, "concurrency"));
    concurrency += Number.isFinite(own) ? own : 1;
    limiter ??= field(field(worker, "opts"), "limiter");
    sandboxed ||= isSandboxed(worker);
  }
  const [max, duration] = [Number(field(limiter, "max")), Number(field(limiter, "duration"))];
  return {
    workers: workers.size,
    concurrency,
    ...(Number.isFinite(max) && Number.isFinite(duration) && { limiter: { max, duration } }),
    ...(sandboxed && { sandboxed }),
  };
}

/** Errors by which a processor postpones a job that it has moved itself: it did not fail. */
const POSTPONING: ReadonlySet<unknown> = new Set(["DelayedError", "WaitingError", "WaitingChildrenError"]);
const RATE_LIMITED = "bullmq:rateLimitExceeded";

/** How many parents' queues a worker remembers. */
const MAX_PARENTS = 200;

/** How many jobs are remembered. The library does not report one whose end Redis refuses. */
const MAX_CALLED = 10_000;

interface Processing {
  readonly schedulers: Schedulers;
  readonly handler: WorkerInput;
  /** Called when the worker is closed. */
  readonly closed: () => void;
}

/**
 * Watches a worker. Every attempt counts once: as failed where the processor throws or rejects, else as successful. An attempt
 * that the library fails without a call of the processor counts as failed: a child failed, a job stalled too often.
 */
export function watchWorker(worker: BullmqWorker, host: GraphHost, parts: Processing): Unwatch {
  const { handler, schedulers } = parts;
  const queue = handler.from;
  const parents = new Map<string, GraphLink | undefined>();
  /** The jobs that the processor was called with, each an object of one attempt, until the library reports how they ended. */
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

  /** The result of a child goes to its parent. */
  function countParent(job: object): void {
    const key = field(field(job, "parent"), "queueKey");
    if (!live || typeof key !== "string") return;
    let way = parents.get(key);
    if (way === undefined || way.dormant) {
      if (parents.size >= MAX_PARENTS) parents.clear();
      way = wayToParent(host, queue, key);
      parents.set(key, way);
    }
    if (way !== undefined) way.tally.count++;
  }

  const restoreProcessor = replaceMethods(worker, { processFn: measured });
  const restore = replaceMethods(worker, {
    // Listeners to the end of a job continue what the processor began.
    emit: (method) =>
      function emit(this: unknown, ...args: unknown[]): unknown {
        if (args[0] === "completed") called.delete(args[1]);
        else if (args[0] === "failed") failedUncalled(args[1]);
        else if (args[0] === "closed") parts.closed();
        else return Reflect.apply(method, this, args);
        if ((this as EventEmitter).listenerCount(args[0]) === 0) return Reflect.apply(method, this, args);
        return host.within(handler.node, () => Reflect.apply(method, this, args));
      },
    // The application takes the jobs of a worker without a processor out itself.
    ...(field(worker, "processFn") === undefined && { getNextJob: polling(host, queue, () => live) }),
  });

  return () => {
    live = false;
    restoreProcessor();
    restore();
  };
}

function polling(host: GraphHost, queue: Queue, isLive: () => boolean): (method: Method) => Method {
  queue.place.poll(queue);
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

function wayToParent(host: GraphHost, queue: Queue, key: string): GraphLink | undefined {
  const parent = queue.place.nodeOfKey(key);
  return parent === queue.node ? undefined : host.way(queue.node, "route", parent);
}

/** A job that is retried, or was taken from a stalled worker, was counted at its scheduler before. */
function isFirst(job: object): boolean {
  const started = field(job, "attemptsStarted");
  return field(job, "attemptsMade") === 0 && (typeof started !== "number" || started <= 1);
}

function isPostponing(error: unknown): boolean {
  return POSTPONING.has(field(error, "name")) || field(error, "message") === RATE_LIMITED;
}

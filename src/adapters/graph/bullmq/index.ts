import { callable, checkOptions, flag } from "../../../common/options.ts";
import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import type { Topology } from "../../../integration-graph/source.ts";
import { field } from "../../kit/interception/field.ts";
import { replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { requireVersion } from "../../kit/library-version.ts";
import {
  type Unwatch,
  WatchedObjects,
  type Watcher,
  type WatchingAdapter,
  type WatchSet,
  watchingAdapter,
} from "../../kit/messaging/watching-adapter.ts";
import { discover } from "./discovery.ts";
import { watchFlowProducer, watchQueue } from "./producing.ts";
import { watchQueueEvents } from "./queue-events.ts";
import { Places, type Queues, SYSTEM } from "./queues.ts";
import { Schedulers } from "./schedulers.ts";
import {
  type BullmqFlowProducer,
  type BullmqQueue,
  type BullmqQueueEvents,
  type BullmqTarget,
  type BullmqWorker,
  kindOf,
} from "./target.ts";
import { type WorkerNaming, Workers, watchWorker } from "./workers.ts";

export type { BullmqFlowProducer, BullmqQueue, BullmqQueueEvents, BullmqTarget, BullmqWorker } from "./target.ts";
export type { WorkerDescription } from "./workers.ts";

/** Options of {@link bullmqSource}. */
export interface BullmqOptions {
  /**
   * Names a worker in the graph. By default, and if this returns undefined, `<queue>.<worker's name>`, or else
   * `<queue>.<function's name>`, or else `<queue>.worker`. Workers of one name are one node.
   */
  readonly name?: WorkerNaming;
  /**
   * Whether to read from Redis, at first and at every rebuild, all queues under the prefixes of what is watched, their job
   * schedulers and their workers in any process; false by default. Uses SCAN, CLIENT LIST, ZRANGE and HMGET on the
   * connection of a watched queue or worker, at most 200 queues. Not on a cluster.
   */
  readonly discover?: boolean | undefined;
}

const watched = new WatchedObjects("object of BullMQ");

/** How many objects that were closed are shown until the graph is rebuilt: queues may be made for each user. */
const MAX_CLOSED = 250;

/** Feeds the graph with the queues, workers and flows of BullMQ. */
export type BullmqAdapter = WatchingAdapter<BullmqTarget>;

/**
 * Shows the queues of BullMQ that an application adds jobs to, and the workers that process them. For BullMQ 5 and 6, beside its
 * own telemetry.
 *
 * - Queues and workers are in the graph before any job, with concurrency and limiter; so are the job schedulers that the
 *   application makes. With `discover`, all queues in Redis are, with their schedulers and the number of their workers anywhere.
 * - A job is sent when Redis has taken it; it fails if Redis or the library refuses it. A job that BullMQ drops as a duplicate
 *   counts as sent. What a processor adds, directly or after awaits, is sent by that worker, and so is what the listeners to a
 *   worker's `completed` and `failed` add.
 * - Every attempt counts once, as failed if the processor throws or rejects, in a sandbox too, or a child failed or the job
 *   stalled too often. A processor that postpones its job (`DelayedError`, `WaitingError`, `WaitingChildrenError`, a rate limit)
 *   did not fail. What a sandboxed processor adds is not seen.
 * - A flow's jobs count at their queues. The queue of children leads to that of their parent (`route`), with their results; it
 *   counts the children that succeeded here.
 * - A scheduler's job counts at the scheduler when a worker first takes it out of the queue.
 * - `QueueEvents` are a channel beside the queue, and one endpoint for all listeners.
 * - A broker is one database of one Redis: "host:port/db" unless the graph's `brokers` name it, as `bullmq://host:port/db` or
 *   `redis://host:port`. A queue is known there by its prefix and name.
 *
 * - What is closed is forgotten; its node goes with the next rebuild. Methods are replaced on the objects themselves.
 *
 * @example
 * ```ts
 * const jobs = bullmqSource(new Queue("orders", { connection }));
 * flow.attach(jobs);
 * jobs.watch(new Worker("orders", charge, { connection }));
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if a target is not an object of BullMQ.
 */
export function bullmqSource(
  targets: BullmqTarget | readonly BullmqTarget[] = [],
  options: BullmqOptions = {},
): BullmqAdapter {
  checkOptions("bullmqSource", options, { name: callable, discover: flag });
  return watchingAdapter<BullmqTarget>({
    name: "bullmq",
    source: "bullmqSource",
    expected: "a queue, worker, flow producer or queue events of BullMQ",
    checkVersion: () => requireVersion({ subpath: "bullmq", library: "bullmq", versions: "5 to 6" }),
    accepts: (target) => kindOf(target) !== undefined,
    targets,
    watched,
    begin: (host, objects) => watchTargets(host, objects, options),
  });
}

function watchTargets(host: GraphHost, objects: WatchSet<BullmqTarget>, options: BullmqOptions): Watcher<BullmqTarget> {
  const places = new Places(host);
  const schedulers = new Schedulers(host);
  const workers = new Workers(host, options.name);
  const placeOf = new Map<BullmqTarget, Queues>();
  let closed = 0;

  function prune(): void {
    closed = 0;
    workers.prune();
    for (const queues of places) queues.prune();
  }

  function watchTarget(target: BullmqTarget, queues: Queues): Unwatch {
    const kind = kindOf(target);
    if (kind === "flow producer") return watchFlowProducer(target as BullmqFlowProducer, host, queues);
    const queue = queues.hold("queue", (target as BullmqQueue).name, target, propertiesOf(target));
    const release = () => queue.release(target);
    if (kind === "queue") return undoing([release, watchQueue(target as BullmqQueue, host, queue, schedulers)]);
    if (kind === "queue events") return undoing([release, watchQueueEvents(target as BullmqQueueEvents, host, queue)]);
    const worker = target as BullmqWorker;
    const handler = workers.add(worker, queue);
    const unwatch = watchWorker(worker, host, { schedulers, handler, closed: () => objects.remove(worker) });
    return undoing([release, () => workers.end(handler, worker), unwatch]);
  }

  async function discoverAll(signal: AbortSignal): Promise<Topology> {
    const asked = new Map(Array.from(placeOf, ([target, queues]) => [queues, target]));
    const found = await Promise.all(Array.from(asked, ([queues, target]) => discover(target, queues, host, signal)));
    return { nodes: found.flatMap(({ nodes }) => nodes), links: found.flatMap(({ links }) => links) };
  }

  return {
    watch(target) {
      // Found by itself, it has all queues, and flows besides, which the adapter of NestJS has not: it is the one to count.
      if (host.yields) host.counts(SYSTEM);
      const queues = places.of(target);
      const unwatch = watchTarget(target, queues);
      const restore = replaceMethod(
        target,
        "close",
        (method) =>
          async function close(this: unknown, ...args) {
            const result = await Reflect.apply(method, this, args);
            objects.remove(target);
            return result;
          },
      );
      placeOf.set(target, queues);
      return () => {
        restore();
        unwatch();
        placeOf.delete(target);
        if (++closed >= MAX_CLOSED) prune();
      };
    },
    prune,
    // A source of its own: what the application has stays right while Redis is unreachable.
    started() {
      if (options.discover) host.read({ name: "the queues of bullmq in Redis", read: discoverAll });
    },
  };
}

function propertiesOf(target: BullmqTarget): Properties | undefined {
  const attempts = field(field(field(target, "opts"), "defaultJobOptions"), "attempts");
  return typeof attempts === "number" && Number.isFinite(attempts) ? { attempts } : undefined;
}

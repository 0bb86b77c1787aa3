import { type WatchingAdapter, watchAll, watchingAdapter } from "../../../integration-graph/watching-adapter.ts";
import { requireVersion } from "../../kit/library-version.ts";
import type { BullmqOptions } from "./options.ts";
import { type BullmqTarget, kindOf } from "./target.ts";
import { Watch } from "./watch.ts";

/** Feeds the graph with the queues, workers and flows of BullMQ. */
export interface BullmqAdapter extends WatchingAdapter<BullmqTarget> {
  /**
   * Watches another queue, worker, flow producer or queue events, and gives it back:
   * `jobs.watch(new Worker("orders", charge, options))`. What is closed is forgotten by itself; its node goes with the next
   * rebuild.
   *
   * Throws a TypeError where it is none of these, or is watched already.
   */
  watch<T extends BullmqTarget>(target: T): T;
}

/**
 * The queues of BullMQ that an application adds jobs to, and the workers that process them:
 * `flow.attach(bullmq([orders, new Worker("orders", charge, options)]))`.
 *
 * - Queues and workers are in the graph before any job, with concurrency and limiter; so are the job schedulers that the
 *   application makes. With `discover`, all queues in Redis are, with their schedulers and the number of their workers anywhere.
 * - A job is sent when Redis has taken it; it fails where Redis or the library refuses it. A job that BullMQ drops as a double
 *   counts as sent. What a processor adds, directly or after awaits, is sent by that worker, and so is what the listeners to a
 *   worker's `completed` and `failed` add.
 * - Every attempt counts once, as failed where the processor throws or rejects, in a sandbox too, or a child failed or the job
 *   stalled too often. A processor that puts its job off (`DelayedError`, `WaitingError`, `WaitingChildrenError`, a rate limit)
 *   did not fail. What a sandboxed processor adds is not seen.
 * - A flow's jobs count at their queues. The queue of children leads to that of their parent (`route`), as Redis tells the parent
 *   what they made; it counts the children that succeeded here.
 * - A scheduler's job counts at the scheduler when a worker first takes it out of the queue.
 * - `QueueEvents` are a channel beside the queue, and one endpoint for all listeners.
 * - A broker is one database of one Redis: "host:port/db" unless the graph's `brokers` name it, as `bullmq://host:port/db` or
 *   `redis://host:port`. A queue is known there by its prefix and name.
 *
 * Methods are replaced on the objects themselves. For BullMQ 5 and 6, beside its own telemetry.
 *
 * Throws a TypeError where a target is nothing of BullMQ's.
 */
export function bullmq(
  targets: BullmqTarget | readonly BullmqTarget[] = [],
  options: BullmqOptions = {},
): BullmqAdapter {
  return watchingAdapter<BullmqTarget>({
    name: "bullmq",
    title: "this adapter of bullmq",
    targets,
    check(target) {
      requireVersion({ subpath: "bullmq", library: "bullmq", versions: "5 to 6" });
      if (kindOf(target) !== undefined) return;
      throw new TypeError("bullmq() watches queues, workers, flow producers and queue events, and got something else");
    },
    begin(host, targets) {
      const watch = watchAll(new Watch(host, options), targets);
      if (options.discover) watch.discover();
      return watch;
    },
  });
}

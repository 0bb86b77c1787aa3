import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { field } from "../../kit/interception/field.ts";
import { whenSettled } from "../../kit/interception/plain-promise.ts";
import { type Method, replaceMethods } from "../../kit/interception/replaced-method.ts";
import type { Unwatch } from "../../kit/messaging/watching-adapter.ts";
import { type Queue, type Queues, SYSTEM } from "./queues.ts";
import type { Schedulers } from "./schedulers.ts";
import type { BullmqFlowProducer, BullmqQueue } from "./target.ts";

/** Watches what an application adds to a queue. */
export function watchQueue(target: BullmqQueue, host: GraphHost, queue: Queue, schedulers: Schedulers): Unwatch {
  const sending = (countOf: (args: readonly unknown[]) => number) => (method: Method) =>
    function add(this: unknown, ...args: unknown[]): unknown {
      const count = countOf(args);
      if (count === 0 || !host.counts(SYSTEM)) return Reflect.apply(method, this, args);
      return sent(host, [[queue.node, count]], () => Reflect.apply(method, this, args));
    };
  const add = sending(() => 1);
  const restore = replaceMethods(target, {
    // A repeatable job of BullMQ 5 is a scheduler: its jobs come later.
    add: (method) => {
      const [once, repeated] = [add(method), agreed(method, ([, , options], job) => declared(options, job))];
      return function (this: unknown, ...args) {
        return Reflect.apply(field(args[2], "repeat") ? repeated : once, this, args);
      };
    },
    addBulk: sending(([jobs]) => (Array.isArray(jobs) ? jobs.length : 0)),
    upsertJobScheduler: (method) => agreed(method, ([id, repeat], job) => schedulers.declare(queue, id, repeat, job)),
    removeJobScheduler: (method) => agreed(method, ([id]) => schedulers.remove(queue, id)),
  });

  function declared(options: unknown, job: unknown): void {
    schedulers.declare(queue, undefined, field(options, "repeat"), job);
  }

  return restore;
}

/**
 * Calls `add`, which puts so many jobs into each of these queues once its promise is fulfilled, and into none if that is rejected.
 * The promise that is returned settles the same way.
 */
function sent(host: GraphHost, to: Iterable<readonly [node: GraphNode, count: number]>, add: () => unknown): unknown {
  const start = performance.now();
  const ended = (failed: boolean) => {
    const end = performance.now();
    for (const [node, count] of to) host.sent(node, { start, end, failed, count });
  };
  return whenSettled(
    add(),
    // A producer that is closed adds nothing, and returns undefined.
    (job) => job !== undefined && ended(false),
    () => ended(true),
  );
}

/** Calls `done` when a request to Redis is fulfilled, with the arguments and the answer. */
function agreed(method: Method, done: (args: readonly unknown[], answer: unknown) => void): Method {
  return function (this: unknown, ...args) {
    return whenSettled(Reflect.apply(method, this, args), (answer) => done(args, answer));
  };
}

/** How many jobs of a flow are read. A larger one would exceed what Redis takes. */
const MAX_JOBS = 100_000;

/**
 * Watches what an application adds as flows. Every job of a flow counts as sent to its queue. A job with children waits for them
 * in Redis for their results, so the queue of the children leads to that of the parent.
 */
export function watchFlowProducer(target: BullmqFlowProducer, host: GraphHost, queues: Queues): Unwatch {
  let live = true;
  const adding = (method: Method) =>
    function add(this: unknown, ...args: unknown[]): unknown {
      const { counts, ways } = read(args[0]);
      if (counts.size === 0) return Reflect.apply(method, this, args);
      const call = () => Reflect.apply(method, this, args);
      const result = host.counts(SYSTEM) ? sent(host, counts, call) : call();
      return whenSettled(result, (added) => {
        if (!live || added === undefined) return;
        for (const [child, parents] of ways) for (const parent of parents) host.way(child, "route", parent);
      });
    };
  const restore = replaceMethods(target, { add: adding, addBulk: adding });

  /** How many jobs go to each queue, and which queues lead to which. */
  function read(flow: unknown) {
    const counts = new Map<GraphNode, number>();
    const ways = new Map<GraphNode, Set<GraphNode>>();
    const open: { readonly job: unknown; readonly parent: GraphNode | undefined }[] = [];
    const push = (jobs: readonly unknown[], parent: GraphNode | undefined) => {
      for (const job of jobs) if (open.length < MAX_JOBS) open.push({ job, parent });
    };
    push(Array.isArray(flow) ? flow : [flow], undefined);
    // It grows during the loop.
    for (const { job, parent } of open) {
      const name = field(job, "queueName");
      if (typeof name !== "string") continue;
      const node = queues.under(field(job, "prefix")).sentTo("queue", name);
      counts.set(node, (counts.get(node) ?? 0) + 1);
      if (parent !== undefined && parent !== node) ways.set(node, (ways.get(node) ?? new Set()).add(parent));
      const children = field(job, "children");
      if (Array.isArray(children)) push(children, node);
    }
    return { counts, ways };
  }

  return () => {
    live = false;
    restore();
  };
}

import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { field } from "../../kit/interception/field.ts";
import { type Method, replaceMethods } from "../../kit/interception/replaced-method.ts";
import { SYSTEM } from "./broker.ts";
import type { Queue } from "./queues.ts";
import type { Schedulers } from "./schedulers.ts";
import type { BullmqQueue, Unwatch } from "./target.ts";

/** Watches what an application adds to a queue. */
export function watchQueue(target: BullmqQueue, host: GraphHost, queue: Queue, schedulers: Schedulers): Unwatch {
  let live = true;
  const sending = (countOf: (args: readonly unknown[]) => number) => (method: Method) =>
    function add(this: unknown, ...args: unknown[]): unknown {
      const count = countOf(args);
      if (count === 0 || !host.counts(SYSTEM)) return Reflect.apply(method, this, args);
      return sent(host, [[queue.node, count]], () => Reflect.apply(method, this, args), isLive);
    };
  const isLive = () => live;
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

  return () => {
    live = false;
    restore();
  };
}

/**
 * Calls `add`, which puts so many jobs into each of these queues once its promise is fulfilled, and into none where that is
 * rejected. The promise that comes back settles the same way.
 */
export function sent(
  host: GraphHost,
  to: Iterable<readonly [node: GraphNode, count: number]>,
  add: () => unknown,
  isLive: () => boolean,
): unknown {
  const start = performance.now();
  const ended = (failed: boolean) => {
    if (!isLive()) return;
    const end = performance.now();
    for (const [node, count] of to) host.sent(node, { start, end, failed, count });
  };
  const result = add();
  if (!(result instanceof Promise)) return result;
  return result.then(
    (job) => {
      // A producer that is closed adds nothing, and says so by nothing.
      if (job !== undefined) ended(false);
      return job;
    },
    (error) => {
      ended(true);
      throw error;
    },
  );
}

/** A request to Redis, of which `done` hears once it is fulfilled: with the arguments, and with the answer. */
function agreed(method: Method, done: (args: readonly unknown[], answer: unknown) => void): Method {
  return function (this: unknown, ...args) {
    const result = Reflect.apply(method, this, args);
    if (!(result instanceof Promise)) return result;
    return result.then((answer) => {
      done(args, answer);
      return answer;
    });
  };
}

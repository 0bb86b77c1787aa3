import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { field } from "../../kit/interception/field.ts";
import { type Method, replaceMethods } from "../../kit/interception/replaced-method.ts";
import { type Place, SYSTEM } from "./broker.ts";
import { sent } from "./producing.ts";
import type { Queues } from "./queues.ts";
import type { BullmqFlowProducer, Unwatch } from "./target.ts";

/** A deeper tree would not fit into what Redis takes. */
const MAX_JOBS = 100_000;

/**
 * Watches what an application adds as flows. Every job of a flow counts as sent to its queue. A job with children waits for them
 * in Redis, which tells it what they made: so the queue of the children leads to that of the parent.
 */
export function watchFlowProducer(target: BullmqFlowProducer, host: GraphHost, place: Place, queues: Queues): Unwatch {
  let live = true;
  const isLive = () => live;
  const adding = (method: Method) =>
    function add(this: unknown, ...args: unknown[]): unknown {
      const { counts, ways } = read(args[0]);
      if (counts.size === 0) return Reflect.apply(method, this, args);
      const call = () => Reflect.apply(method, this, args);
      const result = host.counts(SYSTEM) ? sent(host, counts, call, isLive) : call();
      if (!(result instanceof Promise)) return result;
      return result.then((added) => {
        if (live && added !== undefined) {
          for (const [child, parents] of ways) for (const parent of parents) host.way(child, "route", parent);
        }
        return added;
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
    // It grows while it is walked through.
    for (const { job, parent } of open) {
      const name = field(job, "queueName");
      if (typeof name !== "string") continue;
      const prefix = field(job, "prefix");
      const node = queues.seen(typeof prefix === "string" && prefix !== "" ? { ...place, prefix } : place, name);
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

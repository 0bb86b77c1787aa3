import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { channelKey, endpointKey } from "../../../integration-graph/node-id.ts";
import { replaceMethods } from "../../kit/interception/replaced-method.ts";
import type { Unwatch } from "../../kit/messaging/watching-adapter.ts";
import { type Queue, SYSTEM } from "./queues.ts";
import type { BullmqQueueEvents } from "./target.ts";

/** The position of an event in its stream: what is emitted for other reasons has none. */
const PLACE_IN_STREAM = /^\d+-\d+$/;

/**
 * Watches the listeners to the events of a queue's jobs, in every process. BullMQ sends them by a stream beside the queue, which is
 * a channel of its own. The library does not report whether a listener threw, so none fails here.
 */
export function watchQueueEvents(target: BullmqQueueEvents, host: GraphHost, queue: Queue): Unwatch {
  const { name, place } = queue;
  const { broker, prefix } = place;
  const events = host.declare({
    name: `${name}:events`,
    pattern: "publish_subscribe_channel",
    componentType: "bullmq:events",
    key: channelKey(SYSTEM, broker, "events", `${prefix}:${name}`),
  });
  const listener = `${name}.events`;
  const node = host.declare({
    name: listener,
    pattern: "service_activator",
    componentType: "bullmq:queue-events",
    key: endpointKey(host.app, "service_activator", `${place.scope}${listener}`),
  });
  host.link(queue.node, "route", events);
  const input = host.link(events, "input", node);
  queue.listeners.add(target);

  const restore = replaceMethods(target, {
    emit: (method) =>
      function emit(this: unknown, ...args: unknown[]): unknown {
        if (!isEvent(args) || !host.counts(SYSTEM)) return Reflect.apply(method, this, args);
        const start = performance.now();
        const heard = host.within(node, () => Reflect.apply(method, this, args));
        if (heard) host.handled(node, { start, end: performance.now() }, input);
        return heard;
      },
  });
  return () => {
    restore();
    if (!queue.listeners.delete(target) || queue.listeners.size > 0) return;
    host.withdraw(node);
    host.withdraw(events);
  };
}

/** Events of single jobs are emitted again as `completed:1`: those are the same events. */
function isEvent(args: readonly unknown[]): boolean {
  const [event, , id = args[1]] = args;
  return typeof event === "string" && !event.includes(":") && typeof id === "string" && PLACE_IN_STREAM.test(id);
}

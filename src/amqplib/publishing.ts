import type { GraphHost } from "../integration-graph/adapter.ts";
import type { GraphNode } from "../integration-graph/node.ts";
import { endpointKey } from "../integration-graph/node-id.ts";
import { SYSTEM } from "./broker.ts";
import type { Method } from "./replaced-method.ts";
import type { Topology } from "./topology.ts";

/**
 * `publish` of a channel without confirms: a message is sent when the library takes it, also where its buffer is full. It fails
 * where the library throws, as on a closed channel.
 */
export function measuredPublish(host: GraphHost, topology: Topology): (method: Method) => Method {
  return (method) =>
    function publish(this: unknown, ...args: unknown[]): unknown {
      if (!host.counts(SYSTEM)) return Reflect.apply(method, this, args);
      const start = performance.now();
      let failed = true;
      try {
        const result = Reflect.apply(method, this, args);
        failed = false;
        return result;
      } finally {
        host.sent(topology.published(args[0], args[1]), { start, end: performance.now(), failed });
      }
    };
}

/** The same with confirms: a message is sent when the broker says so, and fails where it refuses it or the channel ends before. */
export function measuredConfirmedPublish(
  host: GraphHost,
  topology: Topology,
  isLive: () => boolean,
): (method: Method) => Method {
  let producer: GraphNode | undefined;
  return (method) =>
    function publish(this: unknown, ...args: unknown[]): unknown {
      if (!host.counts(SYSTEM)) return Reflect.apply(method, this, args);
      const start = performance.now();
      const channel = topology.published(args[0], args[1]);
      // The broker's answer comes in another context.
      const from = host.current ?? (producer?.attached ? producer : (producer = producerOf(host)));
      const callback = args[4];
      while (args.length < 4) args.push(undefined);
      args[4] = function (this: unknown, ...results: unknown[]) {
        if (isLive()) host.sent(channel, { start, end: performance.now(), failed: Boolean(results[0]) }, from);
        return typeof callback === "function" ? Reflect.apply(callback, this, results) : undefined;
      };
      try {
        return Reflect.apply(method, this, args);
      } catch (error) {
        host.sent(channel, { start, end: performance.now(), failed: true }, from);
        throw error;
      }
    };
}

/** The node of whoever sends outside of any handler, as the host names it. */
function producerOf(host: GraphHost): GraphNode {
  const name = `${host.app}.producer`;
  return host.declare({
    name,
    pattern: "inbound_gateway",
    key: endpointKey(host.app, "inbound_gateway", name),
  });
}

import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import { outcome } from "../../../integration-graph/outcome.ts";
import type { Making } from "../../kit/interception/replaced-method.ts";
import { SYSTEM } from "./broker.ts";
import type { Topology } from "./topology.ts";
import type { Watching } from "./watched-method.ts";

// Runs for every message: no rest parameters, which would make an array of each call's arguments.

/**
 * `publish` of a channel without confirms: a message is sent when the library takes it, also where its buffer is full. It fails
 * where the library throws, as on a closed channel.
 */
export function measuredPublish(host: GraphHost, topology: Topology, watching: Watching): Making {
  return (method) =>
    function publish(this: unknown, exchange, routingKey, content, options): unknown {
      if (!watching.live || !host.counts(SYSTEM)) return method.call(this, exchange, routingKey, content, options);
      const start = performance.now();
      let failed = true;
      try {
        const result = method.call(this, exchange, routingKey, content, options);
        failed = false;
        return result;
      } finally {
        host.sent(topology.published(exchange, routingKey), outcome(start, failed));
      }
    };
}

/** The same with confirms: a message is sent when the broker says so, and fails where it refuses it or the channel ends before. */
export function measuredConfirmedPublish(host: GraphHost, topology: Topology, watching: Watching): Making {
  let producer: GraphNode | undefined;
  return (method) =>
    function publish(this: unknown, exchange, routingKey, content, options, callback): unknown {
      if (!watching.live || !host.counts(SYSTEM)) {
        return method.call(this, exchange, routingKey, content, options, callback);
      }
      const start = performance.now();
      const channel = topology.published(exchange, routingKey);
      // The broker's answer comes in another context.
      if (host.current === undefined && !producer?.attached) producer = producerOf(host);
      const from = host.current ?? producer;
      function answered(this: unknown, ...results: unknown[]): unknown {
        if (watching.live) host.sent(channel, outcome(start, Boolean(results[0])), from);
        return typeof callback === "function" ? Reflect.apply(callback, this, results) : undefined;
      }
      try {
        return method.call(this, exchange, routingKey, content, options, answered);
      } catch (error) {
        host.sent(channel, outcome(start, true), from);
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

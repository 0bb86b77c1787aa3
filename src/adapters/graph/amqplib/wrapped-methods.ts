import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { whenSettled } from "../../kit/interception/plain-promise.ts";
import type { Live, Making } from "../../kit/interception/replaced-method.ts";
import { outcome } from "../../kit/messaging/delivery.ts";
import { SYSTEM, type Topology } from "./topology.ts";

// `publish` runs for every message: no rest parameters, which would make an array of each call's arguments.

/**
 * Measures `publish` of a channel without confirms: a message is sent when the library takes it, even if its buffer is full. It
 * fails if the library throws, as on a closed channel.
 */
export function measuredPublish(host: GraphHost, topology: Topology, live: Live): Making {
  return (method) =>
    function publish(this: unknown, exchange, routingKey, content, options): unknown {
      if (!live.live || !host.counts(SYSTEM)) return method.call(this, exchange, routingKey, content, options);
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

/** The same with confirms: a message is sent when the broker confirms it, and fails if it is refused or the channel ends first. */
export function measuredConfirmedPublish(host: GraphHost, topology: Topology, live: Live): Making {
  return (method) =>
    function publish(this: unknown, exchange, routingKey, content, options, callback): unknown {
      if (!live.live || !host.counts(SYSTEM)) {
        return method.call(this, exchange, routingKey, content, options, callback);
      }
      const start = performance.now();
      const channel = topology.published(exchange, routingKey);
      // The broker's answer comes in another context.
      const from = host.currentSender;
      function answered(this: unknown, ...results: unknown[]): unknown {
        host.sent(channel, outcome(start, Boolean(results[0])), from);
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

/** Called with a request that the broker has agreed to. */
export type Agreement = (args: readonly unknown[], reply: unknown) => void;

/** Wraps methods that send requests to the broker. The promise interface ignores the callback, which the other takes at `slot`. */
export function requests(live: Live): (slot: number, agreed: Agreement) => Making {
  return (slot, agreed) => (method) =>
    function (this: unknown, ...args) {
      if (!live.live) return Reflect.apply(method, this, args);
      const tell = (reply: unknown) => {
        if (live.live) agreed(given, reply);
      };
      const given = args.slice();
      const callback = args[slot];
      while (args.length < slot) args.push(undefined);
      args[slot] = function (this: unknown, ...results: unknown[]) {
        if (!results[0]) tell(results[1]);
        return typeof callback === "function" ? Reflect.apply(callback, this, results) : undefined;
      };
      return whenSettled(Reflect.apply(method, this, args), tell);
    };
}

/** Wraps methods that settle messages at once. They have three arguments at most. */
export function settlements(live: Live): (settle: (...args: unknown[]) => void) => Making {
  return (settle) => (method) =>
    function (this: unknown, first, second, third) {
      const result = method.call(this, first, second, third);
      if (live.live) settle(first, second, third);
      return result;
    };
}

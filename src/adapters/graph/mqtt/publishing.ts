import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { outcome } from "../../../integration-graph/outcome.ts";
import { senders } from "../../../integration-graph/senders.ts";
import { field } from "../../kit/interception/field.ts";
import { replaceMethod } from "../../kit/interception/replaced-method.ts";
import { SYSTEM } from "./broker.ts";
import type { MqttClient, Unwatch } from "./target.ts";
import type { Topics } from "./topics.ts";

/**
 * Measures what a client publishes, `publishAsync` too, which calls `publish`: a message is sent when the library says so, that is
 * when it is written, and with a quality of service of 1 or 2 when the broker has it.
 */
export function watchPublishing(client: MqttClient, host: GraphHost, topics: Topics): Unwatch {
  const sender = senders(host);
  return replaceMethod(
    client,
    "publish",
    (method) =>
      function (this: unknown, ...args) {
        if (!host.counts(SYSTEM)) return Reflect.apply(method, this, args);
        const [topic, , options] = args;
        const start = performance.now();
        const from = sender();
        if (field(options, "retain") && typeof topic === "string") topics.retain(topic);
        const node = topics.sentTo(topic);
        const sent = (failed: boolean) => host.sent(node, outcome(start, failed), from);
        const at = typeof options === "function" ? 2 : 3;
        const callback = args[at];
        // A client that is ending tells those who gave no callback by an event, and must go on to do so.
        if (typeof callback !== "function" && field(client, "disconnecting")) {
          sent(true);
          return Reflect.apply(method, this, args);
        }
        while (args.length < at) args.push(undefined);
        args[at] = function (this: unknown, ...results: unknown[]) {
          sent(Boolean(results[0]));
          return typeof callback === "function" ? Reflect.apply(callback, this, results) : undefined;
        };
        try {
          return Reflect.apply(method, this, args);
        } catch (error) {
          sent(true);
          throw error;
        }
      },
  );
}

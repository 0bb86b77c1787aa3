import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { outcome } from "../../../integration-graph/outcome.ts";
import { senders } from "../../../integration-graph/senders.ts";
import { field } from "../../kit/interception/field.ts";
import { replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { SYSTEM } from "./broker.ts";
import type { Place } from "./connection.ts";
import { JetStreamConsumers } from "./jetstream-consumer.ts";
import { counted } from "./sending.ts";
import { isControl } from "./subject.ts";
import type { NatsJetStream, Unwatch } from "./target.ts";

/** Watches what a client of JetStream publishes, and the consumers that it hands out. */
export function watchJetStream(jetStream: NatsJetStream, host: GraphHost, place: Place): Unwatch {
  const { subjects } = place;
  const sender = senders(host);
  const consumers = new JetStreamConsumers(host, place);

  /** A message is sent when its stream has taken it, however often that was tried. */
  function publishing(method: (...args: unknown[]) => unknown) {
    return function (this: unknown, ...args: unknown[]): unknown {
      const [subject] = args;
      if (typeof subject !== "string" || isControl(subject) || !host.counts(SYSTEM)) {
        return Reflect.apply(method, this, args);
      }
      const start = performance.now();
      const from = sender();
      const node = subjects.sentTo(subject);
      const published = counted.run(true, () => Reflect.apply(method, this, args) as Promise<unknown>);
      return published.then(
        (ack) => {
          host.sent(node, outcome(start, false), from);
          const stream = field(ack, "stream");
          if (typeof stream === "string" && !field(ack, "duplicate")) subjects.came(subject, subjects.stream(stream));
          return ack;
        },
        (error) => {
          host.sent(node, outcome(start, true), from);
          throw error;
        },
      );
    };
  }

  const handingOut = (method: (...args: unknown[]) => unknown) =>
    function (this: unknown, ...args: unknown[]): unknown {
      const result = Reflect.apply(method, this, args);
      if (!(result instanceof Promise)) return consumers.watch(result);
      return result.then((consumer) => consumers.watch(consumer));
    };
  const giving = ["get", "getPushConsumer", "getBoundPushConsumer", "getConsumerFromInfo"];
  const restore = undoing([
    replaceMethod(jetStream, "publish", publishing),
    ...giving.map((name) => replaceMethod(jetStream.consumers, name, handingOut)),
  ]);
  return () => {
    restore();
    consumers.end();
  };
}

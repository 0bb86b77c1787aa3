import type { GraphHost } from "../../../../integration-graph/adapter.ts";
import { field } from "../../../kit/interception/field.ts";
import type { Method } from "../../../kit/interception/replaced-method.ts";
import { replaceListed, type Watching } from "./replaced-method.ts";
import type { KafkajsProducer } from "./target.ts";
import { SYSTEM, type Topics } from "./topics.ts";

/** Watches what a producer, or a transaction of one, sends. */
export function watchProducer(
  producer: KafkajsProducer,
  host: GraphHost,
  topics: Topics,
  watching: Watching,
): (() => void)[] {
  const transaction = (method: Method): Method =>
    function (this: unknown, ...args) {
      const begun = Reflect.apply(method, this, args);
      if (!(begun instanceof Promise)) return begun;
      return begun.then((sender) => {
        // A transaction ends by itself: there is nothing to put back.
        if (watching.live) watchSends(sender, host, topics, watching);
        return sender;
      });
    };
  return [...watchSends(producer, host, topics, watching), replaceListed(producer, "transaction", transaction)];
}

function watchSends(sender: object, host: GraphHost, topics: Topics, watching: Watching): (() => void)[] {
  const told = (entries: (request: unknown) => readonly unknown[]) => (method: Method) =>
    function (this: unknown, ...args: unknown[]) {
      if (!watching.live || !host.counts(SYSTEM)) return Reflect.apply(method, this, args);
      const start = performance.now();
      // Read before the library has it: the application may use the object again.
      const sent = entries(args[0]).map((entry) => [field(entry, "topic"), countOf(entry)] as const);
      const tell = (failed: boolean) => {
        if (!watching.live) return;
        const end = performance.now();
        for (const [topic, count] of sent) {
          if (typeof topic !== "string" || topic === "" || count === 0) continue;
          host.sent(topics.sentTo(topic), { start, end, failed, count });
        }
      };
      const result = Reflect.apply(method, this, args);
      if (!(result instanceof Promise)) return result;
      return result.then(
        (metadata) => {
          tell(false);
          return metadata;
        },
        (error) => {
          tell(true);
          throw error;
        },
      );
    };
  return [
    replaceListed(
      sender,
      "send",
      told((request) => [request]),
    ),
    replaceListed(
      sender,
      "sendBatch",
      told((request) => {
        const list = field(request, "topicMessages");
        return Array.isArray(list) ? list : [];
      }),
    ),
  ];
}

function countOf(entry: unknown): number {
  const messages = field(entry, "messages");
  return Array.isArray(messages) ? messages.length : 0;
}

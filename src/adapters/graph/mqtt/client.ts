import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { senders } from "../../../integration-graph/senders.ts";
import { field } from "../../kit/interception/field.ts";
import { replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import type { Handlers } from "./handlers.ts";
import { Messages } from "./messages.ts";
import { watchPublishing } from "./publishing.ts";
import { Subscriptions } from "./subscriptions.ts";
import type { MqttClient, Unwatch } from "./target.ts";
import type { Topics } from "./topics.ts";

/** A client that is watched. */
export interface WatchedClient {
  /** Drops the listeners that do not listen any more. */
  prune(): void;
  readonly unwatch: Unwatch;
}

/** Watches what an application does with a client. `ended` is told when that has ended. */
export function watchClient(
  client: MqttClient,
  host: GraphHost,
  { topics, handlers, ended }: { readonly topics: Topics; readonly handlers: Handlers; readonly ended: () => void },
): WatchedClient {
  const subscriptions: Subscriptions = new Subscriptions(topics, () => refresh());
  const messages = new Messages(client, host, topics, { handlers, subscriptions });

  /** Every function that takes messages takes those of all subscriptions. */
  function refresh(listener?: unknown): void {
    handlers.set(client, messages.names(listener), [...subscriptions.topics]);
    messages.forget();
  }

  const onListener = (event: unknown, listener: unknown) => {
    if (event === "message") refresh(listener);
  };
  const restore = undoing([
    watchPublishing(client, host, topics),
    subscriptions.watch(client),
    replaceMethod(client, "emit", (method) => messages.emitting(method)),
    ...(messages.handlesMessages
      ? [replaceMethod(client, "handleMessage", (method) => messages.handling(method))]
      : []),
  ]);
  const onEnd = () => {
    unwatch();
    subscriptions.clear();
    handlers.set(client, new Set(), []);
    ended();
  };
  client.on("newListener", onListener);
  client.on("end", onEnd);
  declareWill(client, host, topics);
  refresh();

  function unwatch(): void {
    restore();
    client.removeListener("newListener", onListener);
    client.removeListener("end", onEnd);
  }
  return { prune: () => refresh(), unwatch };
}

/** What the broker sends on behalf of the application when that is gone without a word. */
function declareWill(client: MqttClient, host: GraphHost, topics: Topics): void {
  const will = field(client.options, "will");
  const topic = field(will, "topic");
  if (typeof topic !== "string" || topic === "") return;
  const { node } = topics.hold(topic, { will: true, ...(field(will, "retain") ? { retained: true } : {}) });
  host.link(senders(host)(), "output", node);
}

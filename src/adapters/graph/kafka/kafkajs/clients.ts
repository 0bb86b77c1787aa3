import type { GraphHost } from "../../../../integration-graph/adapter.ts";
import { field } from "../../../kit/interception/field.ts";
import { whenSettled } from "../../../kit/interception/plain-promise.ts";
import { type Live, type Method, replaceMethod } from "../../../kit/interception/replaced-method.ts";
import type { Unwatch } from "../../../kit/messaging/watching-adapter.ts";
import { type Cluster, type Reading, SYSTEM } from "../cluster.ts";
import type { KafkajsConsumer, KafkajsProducer } from "./target.ts";

/** Watches what a consumer subscribes to, and how its functions fare. An unknown group is learnt when it is joined. */
export function watchConsumer(
  consumer: KafkajsConsumer,
  groupId: string | undefined,
  host: GraphHost,
  cluster: Cluster,
  live: Live,
): Unwatch[] {
  let group = groupId;
  const reader = {};
  const readings = new Map<string, Reading>();
  /** What was subscribed to before the group was known. */
  const early = new Set<string>();

  function read(topic: string): Reading | undefined {
    if (group === undefined) {
      early.add(topic);
      return undefined;
    }
    let reading = readings.get(topic);
    if (reading === undefined) {
      reading = cluster.read(group, topic, reader);
      readings.set(topic, reading);
    }
    return reading;
  }

  function leave(): void {
    for (const topic of readings.keys()) early.add(topic);
    cluster.groups.endAll(reader);
    readings.clear();
  }

  const joined = consumer.on("consumer.group_join", (event: unknown) => {
    if (!live.live) return;
    const { groupId: joinedGroup, memberAssignment } = Object(field(event, "payload")) as Record<string, unknown>;
    if (typeof joinedGroup === "string") group = joinedGroup;
    for (const topic of [...early, ...Object.keys(Object(memberAssignment))]) read(topic);
    early.clear();
  });

  const subscribe = (method: Method): Method =>
    function (this: unknown, ...args) {
      const topics = namedTopics(args[0]);
      return whenSettled(Reflect.apply(method, this, args), () => {
        if (live.live) for (const topic of topics) read(topic);
      });
    };

  const run = (method: Method): Method =>
    function (this: unknown, config, ...rest) {
      const each = field(config, "eachMessage");
      const batch = field(config, "eachBatch");
      const measured = {
        ...(typeof each === "function" && { eachMessage: eachMessage(each as Method) }),
        ...(typeof batch === "function" && { eachBatch: eachBatch(batch as Method) }),
      };
      const ours = typeof config === "object" && config !== null ? { ...config, ...measured } : config;
      return Reflect.apply(method, this, [ours, ...rest]);
    };

  const eachMessage = (fn: Method): Method => measure(fn, () => 1);
  const eachBatch = (fn: Method): Method =>
    measure(fn, (payload) => {
      const messages = field(field(payload, "batch"), "messages");
      return Array.isArray(messages) ? messages.length : 1;
    });

  function measure(fn: Method, countOf: (payload: unknown) => number): Method {
    return function (this: unknown, payload, ...rest) {
      const call = () => Reflect.apply(fn, this, [payload, ...rest]);
      if (!live.live) return call();
      const topic = field(payload, "topic") ?? field(field(payload, "batch"), "topic");
      const reading = typeof topic === "string" ? read(topic) : undefined;
      if (reading === undefined) return call();
      if (!host.counts(SYSTEM)) return host.within(reading.node, call);
      const start = performance.now();
      // The function may take messages out of the array.
      const count = countOf(payload);
      const tell = (failed: boolean) => {
        if (live.live) host.handled(reading.node, { start, end: performance.now(), failed, count }, reading.input);
      };
      return host.within(reading.node, () => settling(call, tell));
    };
  }

  const leaving = (method: Method): Method =>
    function (this: unknown, ...args) {
      const result = Reflect.apply(method, this, args);
      return live.live ? whenSettled(result, leave) : result;
    };

  return [
    ...(typeof joined === "function" ? [joined as Unwatch] : []),
    replaceMethod(consumer, "subscribe", subscribe),
    replaceMethod(consumer, "run", run),
    replaceMethod(consumer, "stop", leaving),
    replaceMethod(consumer, "disconnect", leaving),
  ];
}

/** Returns the result of `call`, and reports whether it threw or rejected. The library awaits any thenable. */
function settling(call: () => unknown, tell: (failed: boolean) => void): unknown {
  let result: unknown;
  try {
    result = call();
  } catch (error) {
    tell(true);
    throw error;
  }
  if (typeof field(result, "then") !== "function") {
    tell(false);
    return result;
  }
  return (result as Promise<unknown>).then(
    (value) => {
      tell(false);
      return value;
    },
    (error) => {
      tell(true);
      throw error;
    },
  );
}

/** The topics of a subscription that have a name. What a pattern stands for is known when the group is joined. */
function namedTopics(subscription: unknown): readonly string[] {
  const topics = field(subscription, "topics");
  const all: readonly unknown[] = Array.isArray(topics) ? topics : [field(subscription, "topic")];
  return all.filter((topic) => typeof topic === "string" && topic !== "") as string[];
}

/** Watches what a producer, or a transaction of one, sends. */
export function watchProducer(
  producer: KafkajsProducer,
  host: GraphHost,
  topics: Cluster["topics"],
  live: Live,
): Unwatch[] {
  const transaction = (method: Method): Method =>
    function (this: unknown, ...args) {
      return whenSettled(Reflect.apply(method, this, args), (sender) => {
        // A transaction ends by itself: there is nothing to restore.
        if (live.live) watchSends(sender as object, host, topics, live);
      });
    };
  return [...watchSends(producer, host, topics, live), replaceMethod(producer, "transaction", transaction)];
}

function watchSends(sender: object, host: GraphHost, topics: Cluster["topics"], live: Live): Unwatch[] {
  const told = (entries: (request: unknown) => readonly unknown[]) => (method: Method) =>
    function (this: unknown, ...args: unknown[]) {
      if (!live.live || !host.counts(SYSTEM)) return Reflect.apply(method, this, args);
      const start = performance.now();
      // Read before the call: the application may use the object again.
      const sent = entries(args[0]).map((entry) => [field(entry, "topic"), countOf(entry)] as const);
      const tell = (failed: boolean) => {
        if (!live.live) return;
        const end = performance.now();
        for (const [topic, count] of sent) {
          if (typeof topic !== "string" || topic === "" || count === 0) continue;
          host.sent(topics.sentTo("topic", topic), { start, end, failed, count });
        }
      };
      return whenSettled(
        Reflect.apply(method, this, args),
        () => tell(false),
        () => tell(true),
      );
    };
  return [
    replaceMethod(
      sender,
      "send",
      told((request) => [request]),
    ),
    replaceMethod(
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

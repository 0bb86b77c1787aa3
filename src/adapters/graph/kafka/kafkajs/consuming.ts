import type { GraphHost } from "../../../../integration-graph/adapter.ts";
import { field } from "../../../kit/interception/field.ts";
import type { Method } from "../../../kit/interception/replaced-method.ts";
import type { Groups, Reading } from "./groups.ts";
import { replaceListed, type Watching } from "./replaced-method.ts";
import type { KafkajsConsumer } from "./target.ts";
import { SYSTEM } from "./topics.ts";

/** Watches what a consumer subscribes to, and how its functions fare. A group that is not known is learnt when it is joined. */
export function watchConsumer(
  consumer: KafkajsConsumer,
  groupId: string | undefined,
  host: GraphHost,
  groups: Groups,
  watching: Watching,
): (() => void)[] {
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
      reading = groups.read(group, topic, reader);
      readings.set(topic, reading);
    }
    return reading;
  }

  function leave(): void {
    for (const topic of readings.keys()) early.add(topic);
    groups.leave(reader);
    readings.clear();
  }

  const joined = consumer.on("consumer.group_join", (event: unknown) => {
    if (!watching.live) return;
    const { groupId: told, memberAssignment } = Object(field(event, "payload")) as Record<string, unknown>;
    if (typeof told === "string") group = told;
    for (const topic of [...early, ...Object.keys(Object(memberAssignment))]) read(topic);
    early.clear();
  });

  const subscribe = (method: Method): Method =>
    function (this: unknown, ...args) {
      const topics = namedTopics(args[0]);
      const result = Reflect.apply(method, this, args);
      if (!(result instanceof Promise)) return result;
      return result.then((value) => {
        if (watching.live) for (const topic of topics) read(topic);
        return value;
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
      if (!watching.live) return call();
      const topic = field(payload, "topic") ?? field(field(payload, "batch"), "topic");
      const reading = typeof topic === "string" ? read(topic) : undefined;
      if (reading === undefined) return call();
      if (!host.counts(SYSTEM)) return host.within(reading.node, call);
      const start = performance.now();
      // The function may take messages out of the array.
      const count = countOf(payload);
      const tell = (failed: boolean) => {
        if (watching.live) host.handled(reading.node, { start, end: performance.now(), failed, count }, reading.input);
      };
      return host.within(reading.node, () => settling(call, tell));
    };
  }

  const leaving = (method: Method): Method =>
    function (this: unknown, ...args) {
      const result = Reflect.apply(method, this, args);
      if (!(result instanceof Promise) || !watching.live) return result;
      // Not aside: a rejection that nobody handles would be marked as handled.
      return result.then((value) => {
        leave();
        return value;
      });
    };

  return [
    ...(typeof joined === "function" ? [joined as () => void] : []),
    replaceListed(consumer, "subscribe", subscribe),
    replaceListed(consumer, "run", run),
    replaceListed(consumer, "stop", leaving),
    replaceListed(consumer, "disconnect", leaving),
  ];
}

/** The result of `call`, and how it fared, thrown or rejected. */
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

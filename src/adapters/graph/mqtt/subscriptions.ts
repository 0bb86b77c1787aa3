import { field } from "../../kit/interception/field.ts";
import { replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { type Filter, filterOf, matches } from "./filter.ts";
import type { MqttClient, Unwatch } from "./target.ts";
import type { Topic, Topics } from "./topics.ts";

/** So many topics of messages are remembered with the subscription that they came by. */
const MAX_REMEMBERED = 1_000;

/** The subscriptions of one client, in the order in which it made them. */
export class Subscriptions {
  readonly #topics: Topics;
  readonly #changed: () => void;
  readonly #subscribed = new Map<string, Topic>();
  readonly #by = new Map<string, Topic | undefined>();

  /** `changed` is told when subscriptions come or go. */
  constructor(topics: Topics, changed: () => void) {
    this.#topics = topics;
    this.#changed = changed;
  }

  get topics(): Iterable<Topic> {
    return new Set(this.#subscribed.values());
  }

  /** By which subscription a message came: brokers give a message out once though several fit, and do not say for which. */
  of(topic: string): Topic | undefined {
    if (this.#by.has(topic)) return this.#by.get(topic);
    const filters = [...this.#subscribed].map(([subscription, to]) => ({ ...filterOf(subscription), to }));
    const exact = filters.find(({ filter }) => filter === topic);
    const found = (exact ?? filters.find(({ filter }) => matches(filter, topic)))?.to;
    if (this.#by.size >= MAX_REMEMBERED) this.#by.clear();
    this.#by.set(topic, found);
    return found;
  }

  watch(client: MqttClient): Unwatch {
    const early = field(client, "_resubscribeTopics");
    if (typeof early === "object" && early !== null)
      this.#add(Object.entries(early).map(([topic, { qos }]) => ({ topic, qos })));
    return undoing([
      this.#replace(client, "subscribe", (_, granted) => this.#add(granted)),
      this.#replace(client, "unsubscribe", (topics) => this.#remove(topics)),
    ]);
  }

  /** All of them are gone. */
  clear(): void {
    this.#remove([...this.#subscribed.keys()]);
  }

  #add(granted: unknown): void {
    if (!Array.isArray(granted)) return;
    for (const grant of granted) {
      const [topic, qos] = [field(grant, "topic"), field(grant, "qos")];
      if (typeof topic !== "string" || (typeof qos === "number" && qos >= 128)) continue;
      const before = this.#subscribed.get(topic);
      this.#subscribed.set(topic, this.#hold(filterOf(topic), qos));
      if (before !== undefined) this.#topics.release(before);
    }
    this.#by.clear();
    this.#changed();
  }

  #hold({ filter, group }: Filter, qos: unknown): Topic {
    const shared = group === undefined ? {} : { sharedGroup: group };
    return this.#topics.hold(filter, { ...(typeof qos === "number" ? { qos } : {}), ...shared });
  }

  #remove(topics: unknown): void {
    const gone = [topics].flat().filter((topic) => typeof topic === "string");
    const released = gone.map((topic) => this.#subscribed.get(topic));
    for (const topic of gone) this.#subscribed.delete(topic);
    this.#by.clear();
    this.#changed();
    for (const topic of released) if (topic !== undefined) this.#topics.release(topic);
  }

  /** Tells of a request that the broker has agreed to. Both have their callback last. */
  #replace(client: MqttClient, name: string, agreed: (topics: unknown, reply: unknown) => void): Unwatch {
    return replaceMethod(
      client,
      name,
      (method) =>
        function (this: unknown, ...args) {
          const given = args[0];
          const at = typeof args[1] === "function" ? 1 : 2;
          const callback = args[at];
          // As with `publish`: it tells of this by an event.
          if (typeof callback !== "function" && field(client, "disconnecting"))
            return Reflect.apply(method, this, args);
          while (args.length < at) args.push(undefined);
          args[at] = function (this: unknown, ...results: unknown[]) {
            if (!results[0]) agreed(given, results[1]);
            return typeof callback === "function" ? Reflect.apply(callback, this, results) : undefined;
          };
          return Reflect.apply(method, this, args);
        },
    );
  }
}

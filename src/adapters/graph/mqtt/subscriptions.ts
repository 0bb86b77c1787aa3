import { field } from "../../kit/interception/field.ts";
import { replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import type { Unwatch } from "../../kit/messaging/watching-adapter.ts";
import { filterOf, matches, type Topic, type Topics } from "./topics.ts";

/** How many topics of messages are remembered with the subscription that they came by. */
const MAX_REMEMBERED = 1_000;

/** The subscriptions of one client, in the order in which it made them. */
export class Subscriptions {
  readonly #topics: Topics;
  readonly #changed: () => void;
  /** Each holds its topic. */
  readonly #subscribed = new Map<string, { readonly topic: Topic }>();
  readonly #by = new Map<string, Topic | undefined>();

  /** @param changed called when subscriptions are added or removed */
  constructor(topics: Topics, changed: () => void) {
    this.#topics = topics;
    this.#changed = changed;
  }

  get topics(): ReadonlySet<Topic> {
    return new Set(Array.from(this.#subscribed.values(), ({ topic }) => topic));
  }

  /** The subscription that a message came by. Brokers deliver a message once even if several match, and do not say for which. */
  of(name: string): Topic | undefined {
    if (this.#by.has(name)) return this.#by.get(name);
    const filters = [...this.#subscribed].map(([subscription, { topic }]) => ({ ...filterOf(subscription), topic }));
    const exact = filters.find(({ filter }) => filter === name);
    const found = (exact ?? filters.find(({ filter }) => matches(filter, name)))?.topic;
    if (this.#by.size >= MAX_REMEMBERED) this.#by.clear();
    this.#by.set(name, found);
    return found;
  }

  watch(client: object): Unwatch {
    const early = field(client, "_resubscribeTopics");
    if (typeof early === "object" && early !== null) {
      this.#add(Object.entries(early).map(([topic, { qos }]) => ({ topic, qos })));
    }
    return undoing([
      replaceRequest(client, "subscribe", (_, granted) => this.#add(granted)),
      replaceRequest(client, "unsubscribe", (topics) => this.#remove(topics)),
    ]);
  }

  /** The client has ended. */
  clear(): void {
    this.#remove([...this.#subscribed.keys()]);
  }

  #add(granted: unknown): void {
    if (!Array.isArray(granted)) return;
    for (const grant of granted) {
      const [subscription, qos] = [field(grant, "topic"), field(grant, "qos")];
      if (typeof subscription !== "string" || (typeof qos === "number" && qos >= 128)) continue;
      const { filter, group } = filterOf(subscription);
      const shared = group === undefined ? {} : { sharedGroup: group };
      const holder = this.#subscribed.get(subscription) ?? {};
      const topic = this.#topics.hold("topic", filter, holder, {
        ...(typeof qos === "number" ? { qos } : {}),
        ...shared,
      });
      this.#subscribed.set(subscription, Object.assign(holder, { topic }));
    }
    this.#by.clear();
    this.#changed();
  }

  #remove(subscriptions: unknown): void {
    const gone = [subscriptions].flat().filter((each) => typeof each === "string");
    const held = gone.map((each) => this.#subscribed.get(each));
    for (const each of gone) this.#subscribed.delete(each);
    this.#by.clear();
    this.#changed();
    for (const holder of held) holder?.topic.release(holder);
  }
}

/** Calls `agreed` when the broker has agreed to a request. Both methods take their callback last. */
function replaceRequest(client: object, name: string, agreed: (topics: unknown, reply: unknown) => void): Unwatch {
  return replaceMethod(
    client,
    name,
    (method) =>
      function (this: unknown, ...args) {
        const given = args[0];
        const at = typeof args[1] === "function" ? 1 : 2;
        const callback = args[at];
        // A client that is ending reports this by an event if there is no callback, and must continue to do so.
        if (typeof callback !== "function" && field(client, "disconnecting")) return Reflect.apply(method, this, args);
        while (args.length < at) args.push(undefined);
        args[at] = function (this: unknown, ...results: unknown[]) {
          if (!results[0]) agreed(given, results[1]);
          return typeof callback === "function" ? Reflect.apply(callback, this, results) : undefined;
        };
        return Reflect.apply(method, this, args);
      },
  );
}

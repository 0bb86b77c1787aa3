import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { field, hasMethods } from "../../kit/interception/field.ts";
import { whenSettled } from "../../kit/interception/plain-promise.ts";
import { type Method, replaceMethod, replaceMethods, undoing } from "../../kit/interception/replaced-method.ts";
import { Delivery, deliver, outcome } from "../../kit/messaging/delivery.ts";
import { type Unwatch, WatchedObjects, WatchSet } from "../../kit/messaging/watching-adapter.ts";
import type { Place } from "./connection.ts";
import { counted } from "./sending.ts";
import { isControl, type NatsDestination, SYSTEM } from "./subjects.ts";
import { type Use, watchLoops } from "./subscribers.ts";
import type { NatsConnection, NatsJetStream } from "./target.ts";

/** What is watched of a connection's JetStream. */
interface Watched {
  readonly place: Place;
  readonly consumers: JetStreamConsumers;
}

/** The clients of JetStream. */
export class JetStreamClients {
  readonly #host: GraphHost;
  readonly #placeOf: ReadonlyMap<NatsConnection, Place>;
  readonly #connections = new Used<unknown, Watched>();
  /** The prototypes whose methods are replaced, once for all connections. */
  readonly #prototypes = new Used<object, NatsJetStream>();

  constructor(host: GraphHost, placeOf: ReadonlyMap<NatsConnection, Place>) {
    this.#host = host;
    this.#placeOf = placeOf;
  }

  /** Watches a client or manager, and all other clients of its connection: libraries and applications make many of them. */
  watch(given: NatsJetStream & { readonly nc: NatsConnection }): Unwatch {
    const { nc } = given;
    const client = clientOf(given);
    return undoing([
      this.#prototypes.use(Object.getPrototypeOf(client) as object, () => {
        return {
          value: client,
          end: replaceOfAll(client, this.#host, (connection) => this.#connections.get(connection)),
        };
      }),
      this.#connections.use(nc, () => {
        const place = this.#placeOf.get(nc)!;
        const consumers = new JetStreamConsumers(this.#host, place);
        return { value: { place, consumers }, end: () => consumers.end() };
      }),
    ]);
  }
}

/** Values that begin with the first use of their key, and end with the last. */
class Used<Key, Value> {
  readonly #values = new Map<Key, { readonly value: Value; readonly end: Unwatch; users: number }>();

  get(key: Key): Value | undefined {
    return this.#values.get(key)?.value;
  }

  /** Returns what ends this use, which is to be called once. */
  use(key: Key, begin: () => { readonly value: Value; readonly end: Unwatch }): Unwatch {
    const known = this.#values.get(key) ?? { ...begin(), users: 0 };
    this.#values.set(key, known);
    known.users++;
    return () => {
      if (--known.users > 0) return;
      this.#values.delete(key);
      known.end();
    };
  }
}

/** A manager makes clients of its own connection. */
function clientOf(given: NatsJetStream): NatsJetStream {
  const make = field(given, "jetstream");
  return hasMethods(given, "publish") || typeof make !== "function"
    ? given
    : (Reflect.apply(make, given, []) as NatsJetStream);
}

/** The connection of a client, or of the consumers of a client. */
function connectionOf(object: unknown): unknown {
  return field(object, "nc") ?? field(field(object, "api"), "nc");
}

/** Watches what the clients of connections publish, and the consumers that they return. */
function replaceOfAll(
  client: NatsJetStream,
  host: GraphHost,
  watchedOf: (connection: unknown) => Watched | undefined,
): Unwatch {
  /** A message is sent when its stream has taken it, after however many attempts. */
  function publishing(method: Method): Method {
    return function (this: unknown, ...args) {
      const [subject] = args;
      const watched = watchedOf(connectionOf(this));
      if (watched === undefined || typeof subject !== "string" || isControl(subject) || !host.counts(SYSTEM)) {
        return Reflect.apply(method, this, args);
      }
      const { subjects } = watched.place;
      const start = performance.now();
      const from = host.currentSender;
      const node = subjects.sentTo("subject", subject);
      const published = counted.run(true, () => Reflect.apply(method, this, args));
      return whenSettled(
        published,
        (ack) => {
          host.sent(node, outcome(start, false), from);
          const stream = field(ack, "stream");
          if (typeof stream !== "string" || field(ack, "duplicate")) return;
          subjects.came("subject", subject, subjects.stream(stream));
        },
        () => host.sent(node, outcome(start, true), from),
      );
    };
  }

  const returning = (method: Method): Method =>
    function (this: unknown, ...args) {
      const result = Reflect.apply(method, this, args);
      const watched = watchedOf(connectionOf(this));
      if (watched === undefined) return result;
      const { consumers } = watched;
      if (!(result instanceof Promise)) return consumers.watch(result);
      return whenSettled(result, (consumer) => consumers.watch(consumer));
    };
  const getters = ["get", "getPushConsumer", "getBoundPushConsumer", "getConsumerFromInfo"];
  return undoing([
    replaceMethod(Object.getPrototypeOf(client), "publish", publishing),
    ...getters.map((name) => replaceMethod(Object.getPrototypeOf(client.consumers), name, returning)),
  ]);
}

/** A consumer as JetStream describes it. */
interface Described {
  readonly stream: string;
  /** Undefined for one that lives as long as its reader, whose name is generated. */
  readonly durable: string | undefined;
  /** Whether its messages have to be settled one by one. */
  readonly explicit: boolean;
}

/** One call of `consume`, or all fetches from one consumer: what a subscriber is used by. */
interface Reading {
  readonly use: Use;
  readonly explicit: boolean;
}

/** The consumers that a client of JetStream returns. */
class JetStreamConsumers {
  readonly #host: GraphHost;
  readonly #place: Place;
  readonly #objects = new WatchSet<object>(new WatchedObjects("consumer of JetStream", { weak: true }), (consumer) =>
    this.#watch(consumer),
  );
  readonly #readings = new Set<Reading>();
  /** Fetches do not end in between. */
  readonly #fetching = new Map<string, Reading>();
  readonly #sources = new Map<string, NatsDestination>();
  #live = true;

  constructor(host: GraphHost, place: Place) {
    this.#host = host;
    this.#place = place;
  }

  /** Watches a consumer and returns it. */
  watch<T>(consumer: T): T {
    const watchable = this.#live && describe(consumer) !== undefined && !this.#objects.has(consumer as object);
    if (watchable) this.#objects.add(consumer as object);
    return consumer;
  }

  end(): void {
    this.#live = false;
    this.#objects.end();
    for (const reading of this.#readings) this.#done(reading);
    this.#fetching.clear();
  }

  #watch(consumer: object): Unwatch {
    const described = describe(consumer)!;
    this.#source(described);
    // `next` calls `fetch`.
    let inside = false;
    const unlessInside = (wrapped: Method, method: Method): Method =>
      function (this: unknown, ...args) {
        return Reflect.apply(inside ? method : wrapped, this, args);
      };
    const next = (method: Method): Method =>
      function (this: unknown, ...args) {
        inside = true;
        try {
          return Reflect.apply(method, this, args);
        } finally {
          inside = false;
        }
      };
    return replaceMethods(consumer, {
      consume: (method) => unlessInside(this.#reading(method, described, true), method),
      fetch: (method) => unlessInside(this.#reading(method, described, false), method),
      next: (method) => this.#next(next(method), described),
    });
  }

  /** Measures `consume` and `fetch`: messages go to a callback, or to a loop over what the method returns. */
  #reading(method: Method, described: Described, lasting: boolean): Method {
    const self = this;
    return async function (this: unknown, ...args: unknown[]): Promise<unknown> {
      const options = args[0];
      const callback = field(options, "callback");
      const functionName = typeof callback === "function" ? callback.name : "";
      const reading = lasting ? self.#begin(described, functionName) : self.#fetches(described);
      try {
        if (typeof callback === "function") {
          args[0] = Object.assign({}, options, { callback: self.#measured(callback as Method, reading) });
        }
        // A push consumer subscribes to a subject: that subscription is not the application's.
        const messages = await counted.run(true, () => Reflect.apply(method, this, args));
        if (typeof callback !== "function") self.#watchMessages(messages as AsyncIterable<object>, reading);
        if (lasting) self.#endWith(messages, reading);
        return messages;
      } catch (error) {
        if (lasting) self.#done(reading);
        throw error;
      }
    };
  }

  #next(method: Method, described: Described): Method {
    const self = this;
    return async function (this: unknown, ...args: unknown[]): Promise<unknown> {
      const reading = self.#fetches(described);
      const message = await Reflect.apply(method, this, args);
      if (message) self.#delivery(message as object, reading)?.returned();
      return message;
    };
  }

  #watchMessages(messages: AsyncIterable<object>, reading: Reading): void {
    const unwatch = watchLoops(messages, () => {
      let delivery: Delivery | undefined;
      return {
        took: (message) => {
          delivery = this.#delivery(message, reading);
        },
        done: (left) => (left ? delivery?.abandoned() : delivery?.returned()),
      };
    });
    this.#objects.keep(messages, unwatch);
  }

  #measured(callback: Method, reading: Reading): Method {
    const self = this;
    return function (this: unknown, ...args) {
      const handle = () => Reflect.apply(callback, this, args);
      const delivery = self.#delivery(args[0] as object, reading);
      return delivery === undefined ? handle() : deliver(self.#host, delivery, handle);
    };
  }

  /** A message came; undefined if it is not counted here. */
  #delivery(message: object, { use, explicit }: Reading): Delivery | undefined {
    if (!this.#live || !this.#host.counts(SYSTEM)) return undefined;
    if (use.from.feed !== undefined) use.from.feed.tally.count++;
    const delivery = new Delivery(this.#host, use, !explicit);
    if (explicit) watchSettling(message, delivery);
    return delivery;
  }

  #begin(described: Described, functionName: string): Reading {
    const { stream, durable, explicit } = described;
    const consumption = { subject: undefined, queue: undefined, stream, consumer: durable, functionName };
    const user = {};
    const use = this.#place.subscribers.subscribe(consumption, this.#source(described), user);
    const reading = Object.assign(user, { use, explicit });
    this.#readings.add(reading);
    return reading;
  }

  #fetches(described: Described): Reading {
    const id = `${described.stream} ${described.durable ?? ""}`;
    let reading = this.#fetching.get(id);
    if (reading === undefined) {
      reading = this.#begin(described, "");
      this.#fetching.set(id, reading);
    }
    return reading;
  }

  /** Where messages come from: a durable consumer, which receives them from its stream, or the stream itself. */
  #source({ stream, durable }: Described): NatsDestination {
    const { subjects } = this.#place;
    const [kind, name] =
      durable === undefined ? (["stream", stream] as const) : (["consumer", `${stream}.${durable}`] as const);
    const id = `${kind} ${name}`;
    let source = this.#sources.get(id);
    if (source === undefined) {
      source = subjects.hold(kind, name, this);
      this.#sources.set(id, source);
      if (kind === "consumer") {
        source.feed = this.#host.link(subjects.hold("stream", stream, this).node, "route", source.node);
      }
    }
    return source;
  }

  #endWith(messages: unknown, reading: Reading): void {
    if (!hasMethods(messages, "closed")) return;
    const done = () => this.#done(reading);
    (Reflect.apply(Reflect.get(messages, "closed"), messages, []) as Promise<unknown>).then(done, done);
  }

  #done(reading: Reading): void {
    this.#place.subscribers.end(reading.use, reading);
    this.#readings.delete(reading);
  }
}

function describe(consumer: unknown): Described | undefined {
  const info = field(consumer, "_info");
  const config = field(info, "config");
  const stream = field(info, "stream_name") ?? field(consumer, "stream");
  if (typeof stream !== "string" || !hasMethods(consumer, "consume")) return undefined;
  const durable = field(config, "durable_name");
  const policy = field(config, "ack_policy");
  return {
    stream,
    durable: typeof durable === "string" && durable !== "" ? durable : undefined,
    explicit: policy === undefined || policy === "explicit",
  };
}

/** The methods that settle a message, and whether it failed then. */
const SETTLING = { ack: false, ackAck: false, next: false, nak: true, term: true } as const;

/** Reports to a delivery how its message is settled. Each message belongs to the application alone, so nothing is restored. */
function watchSettling(message: object, delivery: Delivery): void {
  for (const [name, failed] of Object.entries(SETTLING)) {
    const method: unknown = Reflect.get(message, name);
    if (typeof method !== "function") continue;
    const value = (...args: unknown[]) => {
      const result = Reflect.apply(method, message, args);
      delivery.settled(failed);
      return result;
    };
    Object.defineProperty(message, name, { value, configurable: true, writable: true, enumerable: false });
  }
}

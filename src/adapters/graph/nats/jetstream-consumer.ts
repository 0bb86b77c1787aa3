import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { Delivery } from "../../../integration-graph/delivery.ts";
import { field } from "../../kit/interception/field.ts";
import { settling } from "../../kit/interception/plain-promise.ts";
import { replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { SYSTEM } from "./broker.ts";
import type { Place } from "./connection.ts";
import { watchLoops } from "./loop.ts";
import { counted } from "./sending.ts";
import { watchSettling } from "./settling.ts";
import type { Destination } from "./subjects.ts";
import type { Use } from "./subscribers.ts";
import { isMethod } from "./target.ts";
import { WeakTargets } from "./weak-targets.ts";

type Call = (...args: unknown[]) => unknown;

/** A consumer as JetStream describes it. */
interface Described {
  readonly stream: string;
  /** Undefined for one that lives as long as its reader, whose name is made up. */
  readonly durable: string | undefined;
  /** Whether its messages have to be settled one by one. */
  readonly explicit: boolean;
}

/** The consumers that a client of JetStream hands out. */
export class JetStreamConsumers {
  readonly #host: GraphHost;
  readonly #place: Place;
  readonly #targets = new WeakTargets<object>();
  readonly #uses = new Set<Use>();
  /** Of those who fetch now and then: they do not end in between. */
  readonly #fetching = new Map<string, Use>();
  readonly #held = new Map<string, Destination>();
  #live = true;

  constructor(host: GraphHost, place: Place) {
    this.#host = host;
    this.#place = place;
  }

  /** Watches a consumer, and gives it back. */
  watch<T>(consumer: T): T {
    const described = describe(consumer);
    if (!this.#live || described === undefined || this.#targets.has(consumer as object)) return consumer;
    this.#source(described);
    let inside = false;
    // `next` fetches.
    const unlessInside = (wrap: (method: Call) => Call) => (method: Call) => {
      const wrapped = wrap(method);
      return function (this: unknown, ...args: unknown[]) {
        return Reflect.apply(inside ? method : wrapped, this, args);
      };
    };
    const reading = (lasting: boolean) => unlessInside((method) => this.#reading(method, described, lasting));
    const next = (method: Call): Call =>
      this.#next(function (this: unknown, ...args) {
        inside = true;
        try {
          return Reflect.apply(method, this, args);
        } finally {
          inside = false;
        }
      }, described);
    const undo = undoing([
      replaceMethod(consumer as object, "consume", reading(true)),
      replaceMethod(consumer as object, "fetch", reading(false)),
      replaceMethod(consumer as object, "next", next),
    ]);
    this.#targets.add(consumer as object, undo);
    return consumer;
  }

  end(): void {
    this.#live = false;
    this.#targets.undoAll();
    for (const use of this.#uses) use.end();
    this.#uses.clear();
    this.#fetching.clear();
  }

  /** `consume` and `fetch`: messages go to a callback, or to a loop over what they give back. */
  #reading(method: Call, described: Described, lasting: boolean): Call {
    const reader = this;
    return async function (this: unknown, ...args: unknown[]): Promise<unknown> {
      const options = args[0];
      const callback = field(options, "callback");
      const functionName = typeof callback === "function" ? callback.name : "";
      const use = lasting ? reader.#use(described, functionName) : reader.#fetchingUse(described);
      try {
        if (typeof callback === "function") {
          const measured = reader.#measured(callback as Call, use, described);
          args[0] = Object.assign({}, options, { callback: measured });
        }
        // A push consumer subscribes to a subject, which is no subscription of the application's.
        const messages = await counted.run(true, () => Reflect.apply(method, this, args));
        if (typeof callback !== "function") reader.#watchMessages(messages, use, described);
        if (lasting) reader.#endWith(messages, use);
        return messages;
      } catch (error) {
        if (lasting) reader.#done(use);
        throw error;
      }
    };
  }

  #next(method: Call, described: Described): Call {
    const reader = this;
    return async function (this: unknown, ...args: unknown[]): Promise<unknown> {
      const use = reader.#fetchingUse(described);
      const message = await Reflect.apply(method, this, args);
      if (message) reader.#begin(message, use, described)?.returned();
      return message;
    };
  }

  #watchMessages(messages: unknown, use: Use, described: Described): void {
    const undo = watchLoops(messages as AsyncIterable<object>, () => {
      let delivery: Delivery | undefined;
      return {
        took: (message) => {
          delivery = this.#begin(message, use, described);
        },
        done: (left) => (left ? delivery?.left() : delivery?.returned()),
      };
    });
    this.#targets.add(messages as object, undo);
  }

  #measured(callback: Call, use: Use, described: Described): Call {
    return (...args) => {
      const delivery = this.#begin(args[0] as object, use, described);
      if (delivery === undefined) return callback(...args);
      let result: unknown;
      try {
        result = this.#host.within(use.node, () => callback(...args));
      } catch (error) {
        delivery.threw();
        throw error;
      }
      if (!(result instanceof Promise)) {
        delivery.returned();
        return result;
      }
      return settling(result, delivery);
    };
  }

  /** A message came; undefined where nobody counts it here. */
  #begin(message: object, use: Use, { explicit }: Described): Delivery | undefined {
    if (!this.#live || !this.#host.counts(SYSTEM)) return undefined;
    if (use.from.feed !== undefined) use.from.feed.count++;
    const delivery = new Delivery(this.#host, use, !explicit);
    if (explicit) watchSettling(message, delivery);
    return delivery;
  }

  #use(described: Described, functionName: string): Use {
    const { stream, durable } = described;
    const consumption = { subject: undefined, queue: undefined, stream, consumer: durable, functionName };
    const { subjects, subscribers } = this.#place;
    const use = subscribers.add(consumption, subjects, this.#source(described, true));
    this.#uses.add(use);
    return use;
  }

  #fetchingUse(described: Described): Use {
    const id = `${described.stream} ${described.durable ?? ""}`;
    let use = this.#fetching.get(id);
    if (use === undefined) {
      use = this.#use(described, "");
      this.#fetching.set(id, use);
    }
    return use;
  }

  /** Where messages come from: the consumer, which has them from its stream, or the stream itself. */
  #source({ stream, durable }: Described, hold = false): Destination {
    const { subjects } = this.#place;
    const [kind, name] =
      durable === undefined ? (["stream", stream] as const) : (["consumer", `${stream}.${durable}`] as const);
    const id = `${kind} ${name}`;
    let source = this.#held.get(id);
    if (source === undefined) {
      source = subjects.hold(kind, name);
      this.#held.set(id, source);
      if (kind === "consumer") {
        source.feed = this.#host.link(subjects.hold("stream", stream).node, "route", source.node);
      }
    }
    return hold ? subjects.hold(kind, name) : source;
  }

  #endWith(messages: unknown, use: Use): void {
    const done = () => this.#done(use);
    if (!isMethod(messages, "closed")) return;
    const closed = Reflect.apply(Reflect.get(messages as object, "closed"), messages, []) as Promise<unknown>;
    closed.then(done, done);
  }

  #done(use: Use): void {
    use.end();
    this.#uses.delete(use);
  }
}

function describe(consumer: unknown): Described | undefined {
  const info = field(consumer, "_info");
  const config = field(info, "config");
  const stream = field(info, "stream_name") ?? field(consumer, "stream");
  if (typeof stream !== "string" || !isMethod(consumer, "consume")) return undefined;
  const durable = field(config, "durable_name");
  const policy = field(config, "ack_policy");
  return {
    stream,
    durable: typeof durable === "string" && durable !== "" ? durable : undefined,
    explicit: policy === undefined || policy === "explicit",
  };
}

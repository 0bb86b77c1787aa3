import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import type { Topology } from "../../../integration-graph/source.ts";
import { field } from "../../kit/interception/field.ts";
import { type Method, replaceMethods } from "../../kit/interception/replaced-method.ts";
import { type Place, placeOf } from "./broker.ts";
import { discover } from "./discovery.ts";
import { watchFlowProducer } from "./flows.ts";
import type { BullmqOptions } from "./options.ts";
import { watchWorker } from "./processing.ts";
import { watchQueue } from "./producing.ts";
import { watchQueueEvents } from "./queue-events.ts";
import { Queues } from "./queues.ts";
import { Schedulers } from "./schedulers.ts";
import {
  type BullmqFlowProducer,
  type BullmqQueue,
  type BullmqQueueEvents,
  type BullmqTarget,
  type BullmqWorker,
  kindOf,
  type Unwatch,
} from "./target.ts";
import { Workers } from "./workers.ts";

/** What any adapter watches: a job must not count twice. */
const watched = new WeakSet<BullmqTarget>();

/** So many that were closed are shown until somebody rebuilds the graph. */
const MAX_CLOSED = 250;

/** What of BullMQ one adapter watches for one graph. */
export class Watch {
  readonly #host: GraphHost;
  readonly #queues: Queues;
  readonly #schedulers: Schedulers;
  readonly #workers: Workers;
  #closed = 0;
  readonly #targets = new Map<BullmqTarget, { readonly place: Place; readonly unwatch: Unwatch }>();

  constructor(host: GraphHost, options: BullmqOptions) {
    this.#host = host;
    this.#queues = new Queues(host);
    this.#schedulers = new Schedulers(host);
    this.#workers = new Workers(host, options.name);
    host.read({ name: "bullmq", read: () => this.#prune() });
  }

  /** Asks Redis for what else is there. A source of its own: what the application has stays right while Redis is out of reach. */
  discover(): void {
    this.#host.read({ name: "the queues of bullmq in Redis", read: (signal) => this.#discover(signal) });
  }

  /** Throws a TypeError where it is watched already. */
  add(target: BullmqTarget): void {
    if (watched.has(target)) throw new TypeError("this object of BullMQ is watched by an adapter already");
    const place = placeOf(target, this.#host);
    const unwatch = this.#watch(target, place);
    const restore = replaceMethods(target, {
      close: (method) => closing(method, () => this.remove(target)),
    });
    watched.add(target);
    this.#targets.set(target, {
      place,
      unwatch: () => {
        restore();
        unwatch();
      },
    });
  }

  remove(target: BullmqTarget): void {
    this.#targets.get(target)?.unwatch();
    if (!this.#targets.delete(target)) return;
    watched.delete(target);
    // Queues may be made up for each user, and the graph need never be rebuilt.
    if (++this.#closed >= MAX_CLOSED) this.#prune();
  }

  end(): void {
    for (const target of this.#targets.keys()) this.remove(target);
  }

  #watch(target: BullmqTarget, place: Place): Unwatch {
    const kind = kindOf(target);
    const [host, queues, schedulers] = [this.#host, this.#queues, this.#schedulers];
    if (kind === "flow producer") return watchFlowProducer(target as BullmqFlowProducer, host, place, queues);
    const queue = queues.hold(place, (target as BullmqQueue).name, target, propertiesOf(target));
    const release = (unwatch: Unwatch) => () => {
      unwatch();
      queues.release(queue, target);
    };
    if (kind === "queue") return release(watchQueue(target as BullmqQueue, host, queue, schedulers));
    if (kind === "queue events") return release(watchQueueEvents(target as BullmqQueueEvents, host, queue));
    const worker = target as BullmqWorker;
    const handler = this.#workers.add(worker, queue);
    const unwatch = watchWorker(worker, host, { queues, schedulers, handler, closed: () => this.remove(worker) });
    return release(() => {
      unwatch();
      this.#workers.end(handler, worker);
    });
  }

  #prune(): Topology {
    this.#closed = 0;
    this.#workers.prune();
    this.#queues.prune();
    return { nodes: [], links: [] };
  }

  async #discover(signal: AbortSignal): Promise<Topology> {
    const asked = new Map<string, { readonly place: Place; readonly target: BullmqTarget }>();
    for (const [target, { place }] of this.#targets) asked.set(`${place.broker} ${place.prefix}`, { place, target });
    const found = await Promise.all(
      Array.from(asked.values(), ({ place, target }) => discover(target, place, this.#host, signal)),
    );
    return { nodes: found.flatMap(({ nodes }) => nodes), links: found.flatMap(({ links }) => links) };
  }
}

function closing(method: Method, closed: () => void): Method {
  return async function close(this: unknown, ...args) {
    const result = await Reflect.apply(method, this, args);
    closed();
    return result;
  };
}

/** What an operator is told of a queue. */
function propertiesOf(target: BullmqTarget): Properties | undefined {
  const attempts = field(field(field(target, "opts"), "defaultJobOptions"), "attempts");
  return typeof attempts === "number" && Number.isFinite(attempts) ? { attempts } : undefined;
}

import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { MAX_NAME_LENGTH } from "../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import type { NatsConsumption, NatsOptions } from "./options.ts";
import type { Destination, Subjects } from "./subjects.ts";

interface Input {
  readonly subjects: Subjects;
  readonly link: GraphLink | undefined;
  /** How many subscriptions take from it now. */
  active: number;
}

interface Subscriber {
  readonly name: string;
  readonly node: GraphNode;
  readonly inputs: Map<Destination, Input>;
}

/** One subscription of a subscriber. */
export interface Use {
  readonly node: GraphNode;
  readonly input: GraphLink | undefined;
  readonly from: Destination;
  end(): void;
}

/** What a name says nothing about: that of the property that the library takes a callback by. */
const PROPERTY_NAMES = new Set(["", "callback", "handler", "anonymous"]);

/** The queue group that the endpoints of all services have unless somebody names another one. */
const SERVICES = "q";

/** So many subscriptions that have ended are shown until somebody rebuilds the graph. */
const MAX_ENDED = 250;

/** The functions and loops of an application that take messages, as nodes of the graph. */
export class Subscribers {
  readonly #host: GraphHost;
  readonly #naming: NatsOptions["name"];
  readonly #subscribers = new Map<string, Subscriber>();
  /** How many inputs nobody takes from. */
  #ended = 0;

  constructor(host: GraphHost, naming: NatsOptions["name"]) {
    this.#host = host;
    this.#naming = naming;
  }

  /** `consumption` begins. Its messages come from `from`, which is held for it. */
  add(consumption: NatsConsumption, subjects: Subjects, from: Destination, properties?: Properties): Use {
    // Subjects may be made up for each user, and the graph need never be rebuilt.
    if (this.#ended >= MAX_ENDED) this.prune();
    const subscriber = this.#subscriber(this.#nameOf(consumption, from.name), properties);
    let input = subscriber.inputs.get(from);
    if (input === undefined) {
      input = { subjects, link: this.#host.link(from.node, "input", subscriber.node), active: 0 };
      subscriber.inputs.set(from, input);
    } else {
      subjects.release(from);
      if (input.active === 0) this.#ended--;
    }
    input.active++;
    let ended = false;
    const use = input;
    return {
      node: subscriber.node,
      input: use.link,
      from,
      end: () => {
        if (ended) return;
        ended = true;
        if (--use.active === 0) this.#ended++;
      },
    };
  }

  /** Drops what nobody subscribes to any more. */
  prune(): void {
    this.#ended = 0;
    for (const subscriber of this.#subscribers.values()) {
      for (const [from, { subjects, link, active }] of subscriber.inputs) {
        if (active > 0) continue;
        subscriber.inputs.delete(from);
        if (link !== undefined) this.#host.withdraw(link);
        subjects.release(from);
      }
      if (subscriber.inputs.size > 0) continue;
      this.#subscribers.delete(subscriber.name);
      this.#host.withdraw(subscriber.node);
    }
  }

  #subscriber(name: string, properties?: Properties): Subscriber {
    let subscriber = this.#subscribers.get(name);
    if (subscriber !== undefined && properties === undefined) return subscriber;
    const key = endpointKey(this.#host.app, "service_activator", name);
    const what = { name, pattern: "service_activator", componentType: "nats:subscriber", properties, key } as const;
    const node = this.#host.declare(what);
    if (subscriber === undefined) {
      subscriber = { name, node, inputs: new Map() };
      this.#subscribers.set(name, subscriber);
    }
    return subscriber;
  }

  #nameOf(consumption: NatsConsumption, from: string): string {
    const { queue, stream, consumer } = consumption;
    const functionName = PROPERTY_NAMES.has(consumption.functionName) ? "" : consumption.functionName;
    const given = this.#naming?.({ ...consumption, functionName });
    if (given !== undefined) return given;
    if (functionName !== "") return fit(functionName);
    if (stream !== undefined) return fit(`${consumer ?? stream}.consumer`);
    return fit(`${queue === undefined || queue === "" || queue === SERVICES ? from : queue}.subscriber`);
  }
}

/** A name that the graph takes: the end of it says what it is. */
function fit(name: string): string {
  return name.length <= MAX_NAME_LENGTH ? name : name.slice(-MAX_NAME_LENGTH).toWellFormed();
}

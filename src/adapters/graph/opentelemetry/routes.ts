import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { channelKey, endpointKey } from "../../../integration-graph/node-id.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import type { Components } from "./components.ts";
import { fit } from "./span.ts";
import {
  componentTypeOf,
  type Destination,
  type Dialect,
  handlerWord,
  type Operation,
  patternOf,
  type Reading,
  type Traffic,
} from "./traffic.ts";

/** How many readings are remembered before they are read again. */
const MAX_REMEMBERED = 1_000;

/** Where spans come from, and the graph that shows them. */
export interface Scene {
  readonly host: GraphHost;
  readonly components: Components;
  /** The application that its endpoints belong to. */
  readonly app: string;
  /** Whether messages of the system are counted here, not by another adapter. */
  counts(system: string): boolean;
  /** The brokers of systems whose spans do not name one. */
  readonly brokers: { readonly [system: string]: string };
  /** Properties of every node. */
  readonly properties: Properties | undefined;
  /** Further properties of every endpoint. */
  readonly endpointProperties: Properties | undefined;
  readonly handlers: WeakMap<GraphNode, HandlerState>;
  readonly kinds: Kinds;
  /** Called with every endpoint that becomes known here. */
  seen?(node: GraphNode, declaration: NodeDeclaration): void;
}

/** The handler of a destination's messages. */
export interface Handler {
  readonly node: GraphNode;
  readonly input: GraphLink | undefined;
  /** From the exchange that a message was published to. */
  readonly way: GraphLink | undefined;
  /** Shared by all routes to it. */
  readonly state: HandlerState;
}

export interface HandlerState {
  /** Whether each message has a span of its own, so that the span that received them must not count again. */
  processes: boolean;
}

/** What a reading means for the graph. */
export interface Route {
  readonly reading: Reading;
  readonly traffic: Traffic;
  /** Whether its messages are counted here. */
  readonly counted: boolean;
  /** Undefined if it is not shown. */
  readonly channel: GraphNode | undefined;
  /** Of messages that are counted here and were not sent. */
  readonly handler: Handler | undefined;
}

/** How many destinations of certain and of likely kind are remembered. */
const MAX_KINDS = 5_000;

/** What is known of destinations whose kind not all spans tell. */
export class Kinds {
  readonly #certain = new Set<string>();
  readonly #delivered = new Set<string>();

  /** A span told what a destination is. */
  certain(key: string): void {
    if (this.#certain.size < MAX_KINDS) this.#certain.add(key);
  }

  /**
   * Whether a destination is `other` and not `likely`, the two reversed for a delivery: what something else knows, or else what a
   * delivery takes it for.
   */
  choose(likely: string, other: string, operation: Operation, isKnown: (key: string) => boolean): boolean {
    const known = (key: string) => this.#certain.has(key) || isKnown(key);
    if (known(likely)) return false;
    if (known(other)) return true;
    if (operation === "send") return this.#delivered.has(other);
    if (this.#delivered.size < MAX_KINDS) this.#delivered.add(likely);
    return false;
  }
}

/** Finds what readings of one dialect mean, and remembers it. */
export class Routes {
  readonly #scene: Scene;
  readonly #dialect: Dialect;
  readonly #known = new Map<string, Route[]>();
  #size = 0;

  constructor(scene: Scene, dialect: Dialect) {
    this.#scene = scene;
    this.#dialect = dialect;
  }

  find(reading: Reading): Route {
    const known = this.#known.get(reading.destination);
    if (known !== undefined) {
      for (let index = 0; index < known.length; index++) {
        const route = known[index]!;
        if (!isSame(route.reading, reading)) continue;
        const counts = route.counted === this.#scene.counts(route.traffic.system);
        if (counts && isCurrent(route) && route.traffic.alternative === undefined) return route;
        known.splice(index, 1);
        this.#size--;
        break;
      }
    }
    return this.#learn(reading);
  }

  #learn(reading: Reading): Route {
    if (this.#size >= MAX_REMEMBERED) {
      this.#known.clear();
      this.#size = 0;
    }
    const route = this.#routeOf(reading);
    const list = this.#known.get(reading.destination);
    if (list === undefined) this.#known.set(reading.destination, [route]);
    else list.push(route);
    this.#size++;
    return route;
  }

  #routeOf(reading: Reading): Route {
    const traffic = this.#dialect.understand(reading);
    const counted = this.#scene.counts(traffic.system);
    const isSend = traffic.operation === "send";
    const broker = this.#brokerOf(traffic);
    // The adapter that counts has nodes for it; if the broker is not known they cannot be found.
    if (!counted && (!isSend || broker === UNKNOWN)) {
      return { reading, traffic, counted, channel: undefined, handler: undefined };
    }
    const channel = this.#channelOf(traffic, broker);
    const handler = isSend ? undefined : this.#handler(traffic, broker, channel);
    return { reading, traffic, counted, channel, handler };
  }

  #handler(traffic: Traffic, broker: string, channel: GraphNode | undefined): Handler | undefined {
    const { host, components, app, properties, endpointProperties } = this.#scene;
    const { system, group, exchange } = traffic;
    const shown = fit(host.shownName(traffic.destination.name));
    const word = handlerWord(system);
    const own = host.shownName(group ?? traffic.handler ?? word);
    const { task } = traffic;
    const named = group === undefined ? `${shown}.${own}` : `${own}@${shown}`;
    const name = fit(task === undefined ? named : host.shownName(task));
    const declaration: NodeDeclaration = {
      name,
      pattern: "service_activator",
      componentType: componentTypeOf(system, word),
      properties: { ...properties, ...endpointProperties, ...(group !== undefined && { group: fit(group) }) },
      key: endpointKey(app, "service_activator", name),
    };
    const node = components.node(declaration);
    if (node === undefined) return undefined;
    this.#scene.seen?.(node, declaration);
    const from = exchange && this.#channel(traffic, broker, exchange);
    return {
      node,
      input: channel && host.way(channel, "input", node),
      way: from && channel && host.way(from, "route", channel),
      state: this.#stateOf(node),
    };
  }

  /** The node of the destination, of which another span may have told more than this one. */
  #channelOf(traffic: Traffic, broker: string): GraphNode | undefined {
    const { destination, alternative } = traffic;
    const { kinds, host } = this.#scene;
    const [key, other] = [destination, alternative].map((each) => each && this.#declaration(traffic, broker, each).key);
    if (other === undefined) {
      kinds.certain(key!);
      return this.#channel(traffic, broker, destination);
    }
    const isOther = kinds.choose(key!, other, traffic.operation, (each) => isElsewhere(host.find(each), host));
    const node = this.#channel(traffic, broker, isOther ? alternative! : destination);
    const before = host.find(isOther ? key! : other);
    if (node !== undefined && before !== undefined && !isElsewhere(before, host)) host.unite(before, node);
    return node;
  }

  #stateOf(node: GraphNode): HandlerState {
    const { handlers } = this.#scene;
    let state = handlers.get(node);
    if (state === undefined) handlers.set(node, (state = { processes: false }));
    return state;
  }

  #channel(traffic: Traffic, broker: string, destination: Destination): GraphNode | undefined {
    return this.#scene.components.node(this.#declaration(traffic, broker, destination));
  }

  #declaration({ system }: Traffic, broker: string, { kind, name, scope = "" }: Destination): NodeDeclaration {
    const { host, properties } = this.#scene;
    const shown = fit(host.shownName(name));
    return {
      name: shown,
      pattern: patternOf(system, kind),
      componentType: componentTypeOf(system, kind),
      properties,
      key: channelKey(system, broker, kind, scope + shown),
    };
  }

  #brokerOf({ system, address, cluster }: Traffic): string {
    const { host, brokers } = this.#scene;
    const configured = Object.hasOwn(brokers, system) ? brokers[system] : undefined;
    const at = address ?? configured ?? UNKNOWN;
    const known = host.broker(system, at);
    if (cluster === undefined) return known;
    // The id of a cluster is learnt once for each address; otherwise two clusters would alternate.
    if (isLike(known, at)) host.nameBroker(system, at, cluster);
    const named = host.broker(system, cluster);
    return isLike(named, cluster) ? cluster : named;
  }
}

const UNKNOWN = "unknown";

function isLike(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function isSame(one: Reading, other: Reading): boolean {
  return (
    one.operation === other.operation &&
    one.detail === other.detail &&
    one.address === other.address &&
    one.group === other.group &&
    one.cluster === other.cluster &&
    one.port === other.port &&
    one.system === other.system
  );
}

/** Whether the application or another adapter declares a node. */
function isElsewhere(node: GraphNode | undefined, host: GraphHost): boolean {
  return node !== undefined && [...node.declarers].some((declarer) => declarer !== host);
}

/** Whether its nodes are still in the graph: not if they were withdrawn, or merged with others. */
function isCurrent({ channel, handler }: Route): boolean {
  return (channel === undefined || isHere(channel)) && (handler === undefined || isHere(handler.node));
}

/** Whether a node is still in the graph, or hidden until there is room for it. */
export function isHere(node: GraphNode): boolean {
  return node.attached || node.dormant;
}

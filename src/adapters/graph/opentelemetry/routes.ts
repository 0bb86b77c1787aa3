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
        if (isCurrent(route) && route.counted === this.#scene.counts(route.traffic.system)) return route;
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
    const channel = this.#channel(traffic, broker, traffic.destination);
    const handler = isSend ? undefined : this.#handler(traffic, broker, channel);
    return { reading, traffic, counted, channel, handler };
  }

  #handler(traffic: Traffic, broker: string, channel: GraphNode | undefined): Handler | undefined {
    const { host, components, app, properties, endpointProperties } = this.#scene;
    const { system, group, exchange } = traffic;
    const shown = fit(host.shownName(traffic.destination.name));
    const word = handlerWord(system);
    const own = host.shownName(group ?? traffic.handler ?? word);
    const name = fit(group === undefined ? `${shown}.${own}` : `${own}@${shown}`);
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

  #stateOf(node: GraphNode): HandlerState {
    const { handlers } = this.#scene;
    let state = handlers.get(node);
    if (state === undefined) handlers.set(node, (state = { processes: false }));
    return state;
  }

  #channel({ system }: Traffic, broker: string, { kind, name, scope = "" }: Destination): GraphNode | undefined {
    const { host, components, properties } = this.#scene;
    const shown = fit(host.shownName(name));
    const declaration: NodeDeclaration = {
      name: shown,
      pattern: patternOf(system, kind),
      componentType: componentTypeOf(system, kind),
      properties,
      key: channelKey(system, broker, kind, scope + shown),
    };
    return components.node(declaration);
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

/** Whether its nodes are still in the graph: not if they were withdrawn, or merged with others. */
function isCurrent({ channel, handler }: Route): boolean {
  return (channel === undefined || isHere(channel)) && (handler === undefined || isHere(handler.node));
}

/** Whether a node is still in the graph, or hidden until there is room for it. */
export function isHere(node: GraphNode): boolean {
  return node.attached || node.dormant;
}

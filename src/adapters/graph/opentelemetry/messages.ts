import type { Outcome } from "../../../integration-graph/adapter.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import type { EndpointPattern } from "../../../integration-graph/pattern.ts";
import { dialectOf } from "./dialects.ts";
import { isHere, type Route, Routes, type Scene } from "./routes.ts";
import { endpointOf, mayBeRenamed, type Span, SpanKind } from "./span.ts";
import { type Dialect, isPolled } from "./traffic.ts";

/** How many endpoints are named for requests and other root work: further names would probably be generated. */
const MAX_ENDPOINTS = 200;

/** The endpoints of one application that spans mention, and what they sent. */
class Endpoints {
  readonly #scene: Scene;
  readonly #routeOf: (span: Span) => Route | undefined;
  readonly #names = new Map<string, GraphNode>();
  #producer: GraphNode | undefined;

  /** @param routeOf reads what a span says about messages */
  constructor(scene: Scene, routeOf: (span: Span) => Route | undefined) {
    this.#scene = scene;
    this.#routeOf = routeOf;
  }

  /** The node of a span; undefined if it has none, so that only the application is known as the sender. */
  nodeOf(span: Span): GraphNode | undefined {
    const route = span.kind === SpanKind.CONSUMER || span.kind === SpanKind.CLIENT ? this.#routeOf(span) : undefined;
    if (route !== undefined) return route.handler?.node;
    const { name, pattern } = endpointOf(span);
    return this.#endpoint(this.#scene.host.shownName(name), pattern);
  }

  /** Counts a message if it is counted here, and shows the way it went otherwise. */
  sent({ channel, counted }: Route, outcome: Outcome, from: GraphNode | undefined): void {
    if (channel === undefined) return;
    const { host } = this.#scene;
    if (counted) host.sent(channel, outcome, from ?? this.#ownProducer());
    else if (from !== undefined) host.way(from, "output", channel);
  }

  /** The same if the sender is a node of another adapter, which has its links, too. */
  sentBy(current: GraphNode, { channel, counted }: Route, outcome: Outcome): void {
    if (channel !== undefined && counted) this.#scene.host.sent(channel, outcome, current);
  }

  /** The sender outside of any span that could own the message. An application of another process has its own. */
  #ownProducer(): GraphNode | undefined {
    if (this.#producer === undefined || !isHere(this.#producer)) {
      this.#producer = this.#declare(`${this.#scene.app}.producer`, "inbound_gateway");
    }
    return this.#producer;
  }

  #endpoint(name: string, pattern: EndpointPattern): GraphNode | undefined {
    const id = `${pattern} ${name}`;
    const known = this.#names.get(id);
    if (known !== undefined && isHere(known)) return known;
    if (known === undefined && this.#names.size >= MAX_ENDPOINTS) this.#forget();
    if (this.#names.size >= MAX_ENDPOINTS) {
      this.#scene.host.collapsed(name);
      return undefined;
    }
    const node = this.#declare(name, pattern);
    if (node !== undefined) this.#names.set(id, node);
    return node;
  }

  #declare(name: string, pattern: EndpointPattern): GraphNode | undefined {
    const { app, components, properties, endpointProperties, seen } = this.#scene;
    const key = endpointKey(app, pattern, name);
    const declaration = { name, pattern, properties: { ...properties, ...endpointProperties }, key };
    const node = components.node(declaration);
    if (node !== undefined) seen?.(node, declaration);
    return node;
  }

  /** Forgets those that have left the graph. */
  #forget(): void {
    for (const [id, node] of this.#names) if (!isHere(node)) this.#names.delete(id);
  }
}

/** How many instrumentation scopes are remembered. */
const MAX_SCOPES = 200;

interface Speaker {
  readonly dialect: Dialect;
  readonly routes: Routes;
}

/** Counts the messages in the spans of one application. */
export class Messages {
  readonly endpoints: Endpoints;
  readonly #scene: Scene;
  readonly #scopes = new Map<string, Speaker>();
  readonly #speakers = new Map<Dialect, Speaker>();

  constructor(scene: Scene) {
    this.#scene = scene;
    this.endpoints = new Endpoints(scene, (span) => this.routeOf(span));
  }

  /** The messages of a span; undefined if it has none. */
  routeOf(span: Span): Route | undefined {
    const scope = span.instrumentationScope.name;
    const { dialect, routes } = this.#scopes.get(scope) ?? this.#learn(scope);
    const reading = dialect.read(span);
    return reading === undefined ? undefined : routes.find(reading);
  }

  /** Messages were processed. Either each message of a batch has a span of its own, or none has. */
  processed({ handler }: Route, outcome: Outcome): void {
    if (handler === undefined) return;
    handler.state.processes = true;
    this.#scene.host.handled(handler.node, outcome, handler.input);
    if (handler.way !== undefined) handler.way.count += outcome.count ?? 1;
  }

  /** Messages were received. If no span shows how they were processed, nothing else is known of them. */
  received({ handler, channel, traffic }: Route, outcome: Outcome): void {
    if (handler === undefined || handler.state.processes) return;
    const { host } = this.#scene;
    if (!isPolled(traffic.system)) {
      host.handled(handler.node, outcome, handler.input);
      return;
    }
    if (channel !== undefined) host.received(channel, outcome);
    if (handler.input !== undefined) handler.input.count += outcome.count ?? 1;
  }

  #learn(scope: string): Speaker {
    const dialect = dialectOf(scope);
    let speaker = this.#speakers.get(dialect);
    if (speaker === undefined) {
      speaker = { dialect, routes: new Routes(this.#scene, dialect) };
      this.#speakers.set(dialect, speaker);
    }
    if (this.#scopes.size >= MAX_SCOPES) this.#scopes.clear();
    this.#scopes.set(scope, speaker);
    return speaker;
  }
}

/** How many messages wait for the name of the request that they were sent in. */
const MAX_WAITING = 100;

/** One message that was sent. */
interface Sending {
  readonly route: Route;
  readonly outcome: Outcome;
}

/** A span on whose behalf messages are sent: by itself, and by the local spans under it. */
export class Owner {
  readonly span: Span;
  /** Whether it received messages that have spans of their own below it. */
  processed = false;
  #node: GraphNode | undefined;
  #waiting: Sending[] | undefined;
  #over = false;

  constructor(span: Span) {
    this.span = span;
  }

  /** The node, once the span is shown in the graph. */
  get node(): GraphNode | undefined {
    return this.#node;
  }

  /** A message was sent on its behalf. One that was sent in a request is counted when the request has its name. */
  sent(route: Route, outcome: Outcome, endpoints: Endpoints): void {
    if (this.#node === undefined && !this.#over && mayBeRenamed(this.span)) {
      this.#waiting ??= [];
      if (this.#waiting.length < MAX_WAITING) {
        this.#waiting.push({ route, outcome });
        return;
      }
    }
    this.#node ??= endpoints.nodeOf(this.span);
    endpoints.sent(route, outcome, this.#node);
  }

  /** The span has ended. */
  end(endpoints: Endpoints): void {
    this.#over = true;
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    for (const { route, outcome } of waiting) this.sent(route, outcome, endpoints);
  }
}

import type { Outcome } from "../../../integration-graph/adapter.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import type { EndpointPattern } from "../../../integration-graph/pattern.ts";
import { endpointOf } from "./endpoint.ts";
import { isHere, type Route, type Scene } from "./routes.ts";
import { type Span, SpanKind } from "./span.ts";

/** So many endpoints of an application are named after requests and work that begins by itself; more would be names made up. */
const MAX_ENDPOINTS = 200;

/** The endpoints of one application that spans tell of, and how they are told of what they sent. */
export class Endpoints {
  readonly #scene: Scene;
  readonly #routeOf: (span: Span) => Route | undefined;
  readonly #names = new Map<string, GraphNode>();
  #producer: GraphNode | undefined;

  /** `routeOf` gives what a span says of messages. */
  constructor(scene: Scene, routeOf: (span: Span) => Route | undefined) {
    this.#scene = scene;
    this.#routeOf = routeOf;
  }

  /** The node of a span; undefined where it has none, and the application itself is all that is known to have sent. */
  nodeOf(span: Span): GraphNode | undefined {
    const route = span.kind === SpanKind.CONSUMER || span.kind === SpanKind.CLIENT ? this.#routeOf(span) : undefined;
    if (route !== undefined) return route.handler?.node;
    const { name, pattern } = endpointOf(span);
    return this.#endpoint(this.#scene.host.shownName(name), pattern);
  }

  /** Counts a message where it is counted here; where not, shows which way it went. */
  sent({ channel, counted }: Route, outcome: Outcome, from: GraphNode | undefined): void {
    if (channel === undefined) return;
    const { host } = this.#scene;
    if (counted) host.sent(channel, outcome, from ?? this.#nobody());
    else if (from !== undefined) host.way(from, "output", channel);
  }

  /** The same, where the sender is known to be what another adapter put into the graph, which has its links too. */
  sentBy(current: GraphNode, { channel, counted }: Route, outcome: Outcome): void {
    if (channel !== undefined && counted) this.#scene.host.sent(channel, outcome, current);
  }

  /** Whoever sends outside of any span that could own it, as every adapter calls it. */
  #nobody(): GraphNode | undefined {
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
    if (this.#names.size >= MAX_ENDPOINTS) return undefined;
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

  /** Those that have left the graph make room. */
  #forget(): void {
    for (const [id, node] of this.#names) if (!isHere(node)) this.#names.delete(id);
  }
}

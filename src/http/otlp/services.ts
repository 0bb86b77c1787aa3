import { Components } from "../../adapters/graph/opentelemetry/components.ts";
import { Messages, Owner } from "../../adapters/graph/opentelemetry/messages.ts";
import { type HandlerState, Kinds, type Route } from "../../adapters/graph/opentelemetry/routes.ts";
import { hasFailed, SpanKind } from "../../adapters/graph/opentelemetry/span.ts";
import { countOf } from "../../adapters/graph/opentelemetry/traffic.ts";
import type { GraphHost, Outcome } from "../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../integration-graph/declaration.ts";
import type { GraphNode } from "../../integration-graph/node.ts";
import type { OtlpSettings } from "./options.ts";
import { PendingSpans, RecentSpans } from "./pending-spans.ts";
import type { ReceivedSpan, SpanSource } from "./span.ts";

/** How many instances of one service are counted. */
const MAX_COUNTED = 1_000;

/** In how many instances of its service each endpoint was seen: fewer than there are show a rollout that is half done. */
export class Instances {
  readonly #components: Components;
  readonly #seen = new WeakMap<GraphNode, Set<string>>();

  constructor(components: Components) {
    this.#components = components;
  }

  saw(node: GraphNode, declaration: NodeDeclaration, instance: string): void {
    let instances = this.#seen.get(node);
    if (instances === undefined) this.#seen.set(node, (instances = new Set()));
    if (instance === "" || instances.has(instance) || instances.size >= MAX_COUNTED) return;
    instances.add(instance);
    this.#components.describe(node, declaration, { ...declaration.properties, instances: instances.size });
  }
}

/** Some minutes of a busy service, at a few hundred bytes each. */
const RECENT = { maxSpans: 50_000, maxAgeMs: 300_000 };
/** SDKs send every five seconds, and a parent is sent when it has ended. */
const PENDING = { maxItems: 10_000, maxWaitMs: 30_000 };
/** How many instances have the readings of their spans remembered. */
const MAX_INSTANCES = 500;

/** One instance of a service. */
interface Service {
  readonly app: string;
  readonly messages: Messages;
  /** When it last sent spans, as a reading of `performance.now()`. */
  seen: number;
}

/** A message whose sender's span is still to come. */
interface Sending {
  readonly service: Service;
  readonly route: Route;
  readonly outcome: Outcome;
}

/** The services that spans come from, and their messages. */
export class Services {
  readonly #host: GraphHost;
  readonly #settings: OtlpSettings;
  readonly #components: Components;
  readonly #instances: Instances;
  readonly #handlers = new WeakMap<GraphNode, HandlerState>();
  readonly #kinds = new Kinds();
  /** By application, then by instance. */
  readonly #services = new Map<string, Map<string, Service>>();
  readonly #recent = new RecentSpans<Owner>(RECENT);
  readonly #pending = new PendingSpans<Sending>(PENDING, (sending) => this.#send(sending, null));

  constructor(host: GraphHost, settings: OtlpSettings) {
    this.#host = host;
    this.#settings = settings;
    this.#components = new Components(host, "otlp", settings);
    this.#instances = new Instances(this.#components);
  }

  /** The service that spans come from; undefined where there are too many. */
  of({ app, instance }: SpanSource): Service | undefined {
    let instances = this.#services.get(app);
    if (instances === undefined) {
      if (this.#services.size >= this.#settings.maxServices) this.#removeSilent();
      if (this.#services.size >= this.#settings.maxServices) return undefined;
      this.#services.set(app, (instances = new Map()));
    }
    let service = instances.get(instance);
    if (service === undefined) {
      if (instances.size >= MAX_INSTANCES) instances.delete(instances.keys().next().value!);
      service = { app, messages: new Messages(this.#scene(app, instance)), seen: 0 };
      instances.set(instance, service);
    }
    service.seen = performance.now();
    return service;
  }

  /** Takes spans that came together, in whatever order. */
  take(service: Service, spans: readonly ReceivedSpan[]): void {
    for (const span of spans) this.#remember(service, span);
    for (const span of spans) {
      this.#count(service, span);
      for (const sending of this.#pending.take(span.id)) this.#route(sending, span.id);
    }
  }

  close(): void {
    this.#pending.close();
  }

  #remember(service: Service, span: ReceivedSpan): void {
    const { id, kind, parent } = span;
    const isOwner =
      kind === SpanKind.CONSUMER ||
      kind === SpanKind.SERVER ||
      (kind === SpanKind.CLIENT && service.messages.routeOf(span)?.traffic.operation === "receive") ||
      (kind === SpanKind.INTERNAL && parent === undefined);
    const owner = isOwner ? new Owner(span) : parent === undefined ? null : undefined;
    // Its name is the final one.
    owner?.end(service.messages.endpoints);
    const route = kind === SpanKind.PRODUCER ? service.messages.routeOf(span) : undefined;
    const repeated = route?.traffic.repeated ? route.reading.destination : undefined;
    this.#recent.add(id, { owner, parent, source: service, repeated });
    if (kind !== SpanKind.CONSUMER || parent === undefined) return;
    const above = this.#recent.get(parent);
    if (above?.owner && above.source === service) above.owner.processed = true;
  }

  #count(service: Service, span: ReceivedSpan): void {
    if (span.kind === SpanKind.INTERNAL || span.kind === SpanKind.SERVER) return;
    const route = service.messages.routeOf(span);
    if (route === undefined) return;
    const count = countOf(span);
    if (count === 0) return;
    const end = performance.now();
    const outcome = { start: end - span.duration, end, failed: hasFailed(span), count };
    const { operation } = route.traffic;
    if (operation === "process") service.messages.processed(route, outcome);
    else if (operation === "send") this.#route({ service, route, outcome }, span.parent);
    else if (!this.#recent.get(span.id)?.owner?.processed) service.messages.received(route, outcome);
  }

  /** Finds whose a message is, from the span `id` upwards. */
  #route(sending: Sending, id: string | undefined): void {
    const { traffic, reading } = sending.route;
    // The span above is the same message.
    if (traffic.repeated && id !== undefined && this.#recent.get(id)?.repeated === reading.destination) return;
    const owner = id === undefined ? null : this.#recent.ownerOf(id, sending.service);
    if (typeof owner === "string") this.#pending.add(owner, sending);
    else this.#send(sending, owner);
  }

  #send({ service, route, outcome }: Sending, owner: Owner | null): void {
    const { endpoints } = service.messages;
    if (owner === null) {
      endpoints.sent(route, outcome, undefined);
      return;
    }
    const before = owner.node;
    owner.sent(route, outcome, endpoints);
    if (before !== undefined || owner.node === undefined || owner.span.kind !== SpanKind.INTERNAL) return;
    this.#host.received(owner.node, { start: outcome.end, end: outcome.end, failed: hasFailed(owner.span) });
  }

  #scene(app: string, instance: string) {
    const host = this.#host;
    const isOwn = app === host.app;
    return {
      host,
      components: this.#components,
      app,
      // No other adapter counts the messages of other services.
      counts: (system: string) => !isOwn || host.counts(system),
      brokers: this.#settings.brokers,
      properties: undefined,
      endpointProperties: { application: app },
      handlers: this.#handlers,
      kinds: this.#kinds,
      seen: (node: GraphNode, declaration: Parameters<Instances["saw"]>[1]) =>
        this.#instances.saw(node, declaration, instance),
    };
  }

  /** Services that were silent for as long as components are kept make room. */
  #removeSilent(): void {
    const oldest = performance.now() - this.#settings.maxAgeMs;
    for (const [app, instances] of this.#services) {
      for (const [name, { seen }] of instances) if (seen < oldest) instances.delete(name);
      if (instances.size === 0) this.#services.delete(app);
    }
  }
}

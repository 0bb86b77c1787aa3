import {
  type Checks,
  callable,
  checkOptions,
  count,
  countFrom,
  listOf,
  objectOf,
  positiveMs,
  text,
  textsLike,
  timeLimitMs,
  unknown,
} from "../common/options.ts";
import type { Detach, GraphAdapter } from "./adapter.ts";
import {
  Channel,
  Component,
  DiscardingEndpoint,
  Endpoint,
  Filter,
  InboundChannelAdapter,
  PollableChannel,
} from "./component.ts";
import { type ComponentKind, declareComponent } from "./declare-component.ts";
import type { GraphLimits } from "./elements.ts";
import { IntegrationGraph, type IntegrationGraphOptions } from "./graph.ts";
import type {
  AnyOptions,
  ChainOptions,
  ComponentOptions,
  DiscardingOptions,
  EndpointOptions,
  RouterOptions,
  SinkOptions,
  SourceOptions,
} from "./options.ts";
import type { PatternType } from "./pattern.ts";

const OPTIONS: Checks<IntegrationGraphOptions> = {
  app: text,
  limits: objectOf<GraphLimits>({
    maxNodes: countFrom(1),
    maxLinks: count,
    maxLinksPerNode: count,
    maxNumberedNames: count,
  }),
  brokers: textsLike('{ "redis://10.0.0.1:6379/0": "jobs" }'),
  temporaryNames: listOf(unknown),
  observedNodeMaxAgeMs: positiveMs,
  refreshMs: timeLimitMs,
  sourceTimeoutMs: timeLimitMs,
  onSourceError: callable,
};

/**
 * Makes the integration graph of an application.
 *
 * @example
 * ```ts
 * const flow = integrationGraph({ app: "orders" });
 * flow.attach(amqplibSource(connection));
 * const actuator = createActuator({ integrationGraph: flow });
 * ```
 * @throws ActuatorError INVALID_ARGUMENT without options and for an unknown or invalid one.
 */
export function integrationGraph(options: IntegrationGraphOptions): GraphBuilder {
  checkOptions<IntegrationGraphOptions>("integrationGraph", options, OPTIONS, '{ app: "orders" }');
  return new GraphBuilder(new IntegrationGraph(options));
}

/**
 * Declares the components of an application and measures them in the same gesture: what a method returns wraps the
 * functions that send, receive and handle, and gives back functions of the same type.
 *
 * There is one method for every pattern. Names are unique in an application: a second declaration of a name merges with
 * the first.
 *
 * A declaration throws an ActuatorError: INVALID_ARGUMENT if a name or property is invalid, FAILED_PRECONDITION if the name is declared
 * with another pattern.
 */
export class GraphBuilder {
  /** The graph that is built. */
  readonly graph: IntegrationGraph;

  constructor(graph: IntegrationGraph) {
    this.graph = graph;
  }

  /**
   * Lets `adapter` feed the graph with what it observes of its library: `flow.attach(amqplibSource(channel))`. Returns a function
   * that restores the library and removes what only the adapter declared.
   *
   * @throws ActuatorError if this is not an adapter, or the adapter cannot be attached. It has changed nothing then.
   */
  attach(adapter: GraphAdapter): Detach {
    return this.graph.attach(adapter);
  }

  /** Short for {@link GraphBuilder.messageChannel}. */
  channel(name: string, options?: ComponentOptions): Channel {
    return this.messageChannel(name, options);
  }

  /** A channel whose messages go to one of its subscribers. */
  messageChannel(name: string, options?: ComponentOptions): Channel {
    return this.#make(Channel, "message_channel", name, options);
  }

  /** A channel whose messages go to all of its subscribers. */
  publishSubscribeChannel(name: string, options?: ComponentOptions): Channel {
    return this.#make(Channel, "publish_subscribe_channel", name, options);
  }

  /** A channel whose subscribers run apart from the sender. */
  executorChannel(name: string, options?: ComponentOptions): Channel {
    return this.#make(Channel, "executor_channel", name, options);
  }

  /** A channel that keeps its messages until they are taken out. */
  pollableChannel(name: string, options?: ComponentOptions): PollableChannel {
    return this.#make(PollableChannel, "pollable_channel", name, options);
  }

  /** A channel whose subscribers say how much they can take. */
  reactiveChannel(name: string, options?: ComponentOptions): Channel {
    return this.#make(Channel, "reactive_channel", name, options);
  }

  /** A channel that forgets its messages; "nullChannel" unless named otherwise. */
  nullChannel(name = "nullChannel", options?: ComponentOptions): PollableChannel {
    return this.#make(PollableChannel, "null_channel", name, options);
  }

  /** An endpoint that calls a service for every message. */
  serviceActivator(name: string, options?: EndpointOptions): Endpoint {
    return this.#make(Endpoint, "service_activator", name, options);
  }

  /** An endpoint that sends messages out of the application. */
  outboundChannelAdapter(name: string, options?: SinkOptions): Endpoint {
    return this.#make(Endpoint, "outbound_channel_adapter", name, options);
  }

  /** A source that brings messages into the application. */
  inboundChannelAdapter(name: string, options?: SourceOptions): InboundChannelAdapter {
    return this.#make(InboundChannelAdapter, "inbound_channel_adapter", name, options);
  }

  /** An endpoint that calls an external system and passes the reply on. */
  outboundGateway(name: string, options?: EndpointOptions): Endpoint {
    return this.#make(Endpoint, "outbound_gateway", name, options);
  }

  /** Short for {@link GraphBuilder.inboundGateway}. */
  gateway(name: string, options?: SourceOptions): Endpoint {
    return this.inboundGateway(name, options);
  }

  /** An entrance for requests from outside, such as `POST /orders`. */
  inboundGateway(name: string, options?: SourceOptions): Endpoint {
    return this.#make(Endpoint, "inbound_gateway", name, options);
  }

  /** An endpoint that passes messages from one channel to another. */
  bridge(name: string, options?: EndpointOptions): Endpoint {
    return this.#make(Endpoint, "bridge", name, options);
  }

  /** An endpoint that makes several messages of one. */
  splitter(name: string, options?: DiscardingOptions): DiscardingEndpoint {
    return this.#make(DiscardingEndpoint, "splitter", name, options);
  }

  /** An endpoint that lets through only some messages. */
  filter(name: string, options?: DiscardingOptions): Filter {
    return this.#make(Filter, "filter", name, options);
  }

  /** An endpoint that makes one message of several. */
  aggregator(name: string, options?: DiscardingOptions): DiscardingEndpoint {
    return this.#make(DiscardingEndpoint, "aggregator", name, options);
  }

  /** An endpoint that puts messages in order. */
  resequencer(name: string, options?: DiscardingOptions): DiscardingEndpoint {
    return this.#make(DiscardingEndpoint, "resequencer", name, options);
  }

  /** An endpoint that holds a message until another one comes. */
  barrier(name: string, options?: DiscardingOptions): DiscardingEndpoint {
    return this.#make(DiscardingEndpoint, "barrier", name, options);
  }

  /** Several endpoints in a row, without channels between them. */
  chain(name: string, options?: ChainOptions): Endpoint {
    return this.#make(Endpoint, "chain", name, options);
  }

  /** An endpoint that asks many and makes one message of the answers. */
  scatterGather(name: string, options?: EndpointOptions): Endpoint {
    return this.#make(Endpoint, "scatter_gather", name, options);
  }

  /** An endpoint that passes messages on later. */
  delayer(name: string, options?: EndpointOptions): Endpoint {
    return this.#make(Endpoint, "delayer", name, options);
  }

  /** An endpoint that chooses a channel for every message. */
  router(name: string, options?: RouterOptions): Endpoint {
    return this.#make(Endpoint, "router", name, options);
  }

  /** An endpoint that sends every message to a list of channels. */
  recipientListRouter(name: string, options?: RouterOptions): Endpoint {
    return this.#make(Endpoint, "recipient_list_router", name, options);
  }

  /** An endpoint that changes messages. */
  transformer(name: string, options?: EndpointOptions): Endpoint {
    return this.#make(Endpoint, "transformer", name, options);
  }

  /** An endpoint that adds headers. */
  headerEnricher(name: string, options?: EndpointOptions): Endpoint {
    return this.#make(Endpoint, "header_enricher", name, options);
  }

  /** An endpoint that adds content. */
  contentEnricher(name: string, options?: EndpointOptions): Endpoint {
    return this.#make(Endpoint, "content_enricher", name, options);
  }

  /** An endpoint that takes headers away. */
  headerFilter(name: string, options?: EndpointOptions): Endpoint {
    return this.#make(Endpoint, "header_filter", name, options);
  }

  /** An endpoint that stores the content of a message and passes a claim check on. */
  claimCheckIn(name: string, options?: EndpointOptions): Endpoint {
    return this.#make(Endpoint, "claim_check_in", name, options);
  }

  /** An endpoint that passes on the content that a claim check stands for. */
  claimCheckOut(name: string, options?: EndpointOptions): Endpoint {
    return this.#make(Endpoint, "claim_check_out", name, options);
  }

  /** An endpoint whose messages are commands to the application's components. */
  controlBus(name: string, options?: EndpointOptions): Endpoint {
    return this.#make(Endpoint, "control_bus", name, options);
  }

  /** A store of messages. No messages flow through it, so it has neither links nor numbers. */
  messageStore(name: string, options?: ComponentOptions): Component {
    return this.#make(Component, "message_store", name, options);
  }

  #make<C extends Component>(Kind: ComponentKind<C>, pattern: PatternType, name: string, options?: AnyOptions): C {
    return declareComponent(this.graph, Kind, pattern, name, options);
  }
}

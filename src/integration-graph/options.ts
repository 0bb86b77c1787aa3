import type { Channel } from "./component.ts";
import type { ChainHandler } from "./declaration.ts";
import type { Properties } from "./properties.ts";

/** A channel, or the name of one. A name that is not declared becomes a message channel. */
export type ChannelReference = Channel | string;

/** What can be said of every component. */
export interface ComponentOptions {
  /** Lower-case, hyphenated words. Left out: follows from the pattern. */
  readonly componentType?: string | undefined;
  /** JSON values; never a payload, key, header or credential of a message. */
  readonly properties?: Properties | undefined;
}

/** What can be said of a component that begins a flow. */
export interface SourceOptions extends ComponentOptions {
  /** The channels that it sends to. The first is the node's `output`. */
  readonly output?: ChannelReference | readonly ChannelReference[] | undefined;
  /** The channel for failures. */
  readonly error?: ChannelReference | undefined;
}

/** What can be said of a component that ends a flow. */
export interface SinkOptions extends ComponentOptions {
  /** The channel that it reads. */
  readonly input?: ChannelReference | undefined;
  /** The channel for failures. */
  readonly error?: ChannelReference | undefined;
}

/** What can be said of a component in the middle of a flow. */
export interface EndpointOptions extends SinkOptions, SourceOptions {}

/** What can be said of a component that may discard. */
export interface DiscardingOptions extends EndpointOptions {
  /** The channel for discarded messages. */
  readonly discard?: ChannelReference | undefined;
}

/** What can be said of a router. */
export interface RouterOptions extends SinkOptions {
  /** The channels that it chooses from, listed or as the values of an object. */
  readonly routes?: readonly ChannelReference[] | { readonly [route: string]: ChannelReference } | undefined;
  /** The channel for messages without a route: the node's `output`. */
  readonly default?: ChannelReference | undefined;
}

/** What can be said of a chain. */
export interface ChainOptions extends EndpointOptions {
  /** Its members, in order. */
  readonly handlers?: readonly ChainHandler[] | undefined;
}

/** All that can be said of any component. */
export interface AnyOptions extends DiscardingOptions, Omit<RouterOptions, "output">, ChainOptions {}

import type { LinkType } from "./link-type.ts";

/** The families of enterprise integration patterns and the patterns in each, named as the original names them. */
export const PATTERNS = {
  messaging_channel: [
    "message_channel",
    "publish_subscribe_channel",
    "executor_channel",
    "pollable_channel",
    "reactive_channel",
    "null_channel",
  ],
  messaging_endpoint: [
    "service_activator",
    "outbound_channel_adapter",
    "inbound_channel_adapter",
    "outbound_gateway",
    "inbound_gateway",
    "bridge",
  ],
  message_routing: [
    "splitter",
    "filter",
    "aggregator",
    "resequencer",
    "barrier",
    "chain",
    "scatter_gather",
    "delayer",
    "router",
    "recipient_list_router",
  ],
  message_transformation: [
    "transformer",
    "header_enricher",
    "content_enricher",
    "header_filter",
    "claim_check_in",
    "claim_check_out",
  ],
  system_management: ["control_bus", "message_store"],
} as const;

/** A family of patterns. */
export type PatternCategory = keyof typeof PATTERNS;
/** A pattern. */
export type PatternType = (typeof PATTERNS)[PatternCategory][number];
/** A pattern of a channel. */
export type ChannelPattern = (typeof PATTERNS)["messaging_channel"][number];
/** A pattern of a component that is no channel. */
export type EndpointPattern = Exclude<PatternType, ChannelPattern>;

const categories = new Map<PatternType, PatternCategory>(
  Object.entries(PATTERNS).flatMap(([category, types]) =>
    types.map((type) => [type, category as PatternCategory] as const),
  ),
);

/** The family that a pattern belongs to. */
export function patternCategory(type: PatternType): PatternCategory {
  return categories.get(type)!;
}

/** Whether `type` names a pattern, for values that the compiler has not seen. */
export function isPattern(type: unknown): type is PatternType {
  return categories.has(type as PatternType);
}

/** Whether a pattern is one of a channel. */
export function isChannel(type: PatternType): type is ChannelPattern {
  return categories.get(type) === "messaging_channel";
}

/** Where the original's component type is not its pattern in kebab-case. */
const COMPONENT_TYPES: { readonly [P in PatternType]?: string } = {
  message_channel: "channel",
  executor_channel: "channel",
  pollable_channel: "channel",
  reactive_channel: "channel",
  inbound_gateway: "gateway",
};

/** The component type of a node that names none: as in the original, in most cases the pattern in kebab-case. */
export function defaultComponentType(type: PatternType): string {
  return COMPONENT_TYPES[type] ?? type.replaceAll("_", "-");
}

/** What can be known of a component: the numbers that its node shows, and the links that it can be declared with. */
export interface PatternTraits {
  readonly sendTimers: boolean;
  readonly receiveCounters: boolean;
  readonly links: readonly LinkType[];
}

const traits = (numbers: "send" | "receive" | "both" | "none", ...links: LinkType[]): PatternTraits => ({
  sendTimers: numbers === "send" || numbers === "both",
  receiveCounters: numbers === "receive" || numbers === "both",
  links,
});

const REPLYING = traits("send", "input", "output", "error");
const DISCARDING = traits("send", "input", "output", "error", "discard");
const ROUTING = traits("send", "input", "output", "error", "route");

/** The traits of every pattern, as the nodes of the original show them. */
export const PATTERN_TRAITS: { readonly [P in PatternType]: PatternTraits } = {
  message_channel: traits("send"),
  publish_subscribe_channel: traits("send"),
  executor_channel: traits("send"),
  pollable_channel: traits("both"),
  reactive_channel: traits("send"),
  null_channel: traits("both"),

  service_activator: REPLYING,
  outbound_channel_adapter: traits("send", "input", "error"),
  inbound_channel_adapter: traits("receive", "output", "error"),
  outbound_gateway: REPLYING,
  inbound_gateway: traits("none", "output", "error"),
  bridge: REPLYING,

  splitter: DISCARDING,
  filter: DISCARDING,
  aggregator: DISCARDING,
  resequencer: DISCARDING,
  barrier: DISCARDING,
  chain: REPLYING,
  scatter_gather: REPLYING,
  delayer: REPLYING,
  router: ROUTING,
  recipient_list_router: ROUTING,

  transformer: REPLYING,
  header_enricher: REPLYING,
  content_enricher: REPLYING,
  header_filter: REPLYING,
  claim_check_in: REPLYING,
  claim_check_out: REPLYING,

  control_bus: REPLYING,
  message_store: traits("none"),
};

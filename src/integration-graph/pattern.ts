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

const categories = new Map<PatternType, PatternCategory>(
  Object.entries(PATTERNS).flatMap(([category, types]) =>
    types.map((type) => [type, category as PatternCategory] as const),
  ),
);

/** The family that a pattern belongs to. */
export function patternCategory(type: PatternType): PatternCategory {
  return categories.get(type)!;
}

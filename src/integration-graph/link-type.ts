/** The kinds of links, as the original's: see the notes on each in `proto/actuator/v3/integration_graph.proto`. */
export const LINK_TYPES = ["input", "output", "error", "discard", "route"] as const;

/** A kind of link. */
export type LinkType = (typeof LINK_TYPES)[number];

import type { GraphNode } from "./node.ts";

/** One message on its way through an endpoint: what is sent meanwhile is sent by `owner`. */
export class Invocation {
  readonly owner: GraphNode;
  /** Whether the message was counted on the owner's discard link, or error link, already. */
  discarded = false;
  failed = false;

  constructor(owner: GraphNode) {
    this.owner = owner;
  }
}

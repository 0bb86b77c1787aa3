import type { GraphHost } from "./adapter.ts";
import type { GraphNode } from "./node.ts";
import { endpointKey } from "./node-id.ts";

/** Who sends now: the endpoint in whose handler this is called, else the application's own node, as the host names it. */
export function senders(host: GraphHost): () => GraphNode {
  let producer: GraphNode | undefined;
  return () => {
    const { current } = host;
    if (current !== undefined) return current;
    if (producer?.attached) return producer;
    const name = `${host.app}.producer`;
    producer = host.declare({ name, pattern: "inbound_gateway", key: endpointKey(host.app, "inbound_gateway", name) });
    return producer;
  };
}

import type { GraphAdapter, GraphHost } from "../../../integration-graph/adapter.ts";
import type { LinkType } from "../../../integration-graph/link-type.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { channelKey, endpointKey } from "../../../integration-graph/node-id.ts";
import { destinationOf } from "./destination.ts";
import { type DocumentChannel, type DocumentOperation, documentParts } from "./document.ts";

/**
 * Declares what an AsyncAPI 3 document describes: its channels are channels, its operations endpoints. Measures nothing. The
 * application parses the document, which may be JSON or YAML.
 *
 * A channel on a server of a protocol that an adapter watches (amqp, kafka, mqtt, nats, redis) is the adapter's node if
 * both use the same name for the broker: `integrationGraph({ brokers })` says which names mean one broker. An operation
 * that sends and expects a reply is an outbound gateway. A channel on a server of the protocol `in-process`, which the export
 * writes, is inside the application.
 *
 * @example
 * ```ts
 * flow.attach(asyncApiSource(JSON.parse(await readFile("asyncapi.json", "utf8"))));
 * ```
 * @throws ActuatorError INVALID_ARGUMENT that names the place if the document is not AsyncAPI 3 or refers to other documents.
 */
export function asyncApiSource(document: unknown): GraphAdapter {
  const { channels, operations } = documentParts(document);
  return {
    name: "asyncapi",
    attach(host) {
      const nodes = new Map(channels.map((channel) => [channel, declareChannel(host, channel)]));
      for (const operation of operations) declareOperation(host, nodes, operation);
      return () => {};
    },
  };
}

function declareChannel(host: GraphHost, channel: DocumentChannel): GraphNode {
  const { id, address, title, server } = channel;
  const properties = { ...(title !== undefined && { title }), ...(id !== address && { channel: id }) };
  if (server === undefined || server.protocol === "in-process") {
    return host.declare({ name: address, pattern: "message_channel", componentType: "asyncapi:channel", properties });
  }
  const destination = destinationOf(channel, server.protocol);
  const name = host.shownName(destination.name);
  return host.declare({
    name: destination.system === "rabbitmq" ? name.slice(name.indexOf("/", 1) + 1) : name,
    pattern: destination.shared ? "publish_subscribe_channel" : "message_channel",
    properties: { ...properties, protocol: server.protocol },
    key: channelKey(
      destination.system,
      server.broker ?? host.broker(destination.system, server.host),
      destination.kind,
      name,
    ),
  });
}

function declareOperation(
  host: GraphHost,
  nodes: ReadonlyMap<DocumentChannel, GraphNode>,
  { id, action, channel, reply }: DocumentOperation,
): void {
  const pattern = PATTERNS[action][reply === undefined ? "alone" : "replied"];
  const endpoint = host.declare({
    name: id,
    pattern,
    componentType: `asyncapi:${action}`,
    key: endpointKey(host.app, pattern, id),
  });
  const link = (type: LinkType, at: DocumentChannel) => {
    const node = nodes.get(at)!;
    if (type === "input") host.link(node, type, endpoint);
    else host.link(endpoint, type, node);
  };
  link(action === "send" ? "output" : "input", channel);
  if (reply !== undefined) link(action === "send" ? "input" : "output", reply);
}

/** An operation that only sends brings messages into the flow; one that also receives a reply calls an outside system. */
const PATTERNS = {
  send: { alone: "inbound_channel_adapter", replied: "outbound_gateway" },
  receive: { alone: "service_activator", replied: "service_activator" },
} as const;

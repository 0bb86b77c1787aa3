import { keyParts } from "../node-id.ts";
import type { BrokerSnapshot, GraphSnapshot, JsonValue, NodeSnapshot } from "../snapshot.ts";
import { leftOutText } from "./labels.ts";

/** The protocols whose names differ from those of systems. */
const PROTOCOLS: Readonly<Record<string, string>> = { rabbitmq: "amqp", node: "in-process", spring: "in-process" };

/**
 * Writes the skeleton of an AsyncAPI 3 document as JSON: brokers as servers, channels with their addresses, and an operation for
 * each link between an endpoint and a channel. It has no message schemas, which the graph does not know.
 *
 * `asyncApiSource` reads the same topics, subjects, queues, exchanges and links back from it; kinds that AsyncAPI does not
 * distinguish, such as streams and patterns, come back as plain channels of their broker.
 *
 * @example
 * await writeFile("asyncapi.json", toAsyncApi(flow.graph.snapshot()));
 */
export function toAsyncApi(graph: GraphSnapshot): string {
  const { name = "application" } = graph.contentDescriptor;
  const names = new Names();
  const servers = new Map<string, { id: string; value: JsonValue }>();
  const channels = new Map<number, { id: string; value: JsonValue }>();
  for (const node of graph.nodes) {
    if (node.integrationPatternCategory !== "messaging_channel") continue;
    const server = serverOf(node, { application: name, brokers: graph.brokers ?? [] }, servers, names);
    const value = {
      address: addressOf(node),
      servers: [{ $ref: `#/servers/${server}` }],
      ...bindingsOf(node),
    };
    channels.set(node.nodeId, { id: names.take("channel", node.name), value });
  }
  const endpoints = new Map(graph.nodes.map((node) => [node.nodeId, node]));
  const operations = graph.links.flatMap(({ from, to, type }) => {
    const received = type === "input";
    const [channel, endpoint] = [channels.get(received ? from : to), endpoints.get(received ? to : from)];
    if (channel === undefined || endpoint === undefined || channels.has(endpoint.nodeId)) return [];
    const action = received ? "receive" : "send";
    const id = names.take("operation", `${endpoint.name}.${action}.${channel.id}`);
    return [[id, { action, channel: { $ref: `#/channels/${channel.id}` } }] as const];
  });
  const leftOut = leftOutText(graph.contentDescriptor);
  const document = {
    asyncapi: "3.0.0",
    info: { title: name, version: "0.0.0", ...(leftOut !== undefined && { description: leftOut }) },
    ...(servers.size > 0 && { servers: objectOf(servers.values()) }),
    channels: objectOf(channels.values()),
    operations: Object.fromEntries(operations),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** A channel without servers would be on all of them, so channels inside an application have one too. */
function serverOf(
  { key }: NodeSnapshot,
  { application, brokers }: { readonly application: string; readonly brokers: readonly BrokerSnapshot[] },
  servers: Map<string, { id: string; value: JsonValue }>,
  names: Names,
): string {
  const { system = "node", broker = application } = keyParts(key);
  const identity = JSON.stringify([system, broker]);
  const known = servers.get(identity);
  if (known !== undefined) return known.id;
  const id = names.take("server", `${system}-${broker}`);
  const address = brokers.find((each) => each.system === system && each.name === broker)?.address ?? broker;
  const host = system === "node" ? "localhost" : hostOf(address);
  const named = host === broker ? {} : { "x-broker": broker };
  servers.set(identity, { id, value: { host, protocol: PROTOCOLS[system] ?? system, ...named } });
  return id;
}

/** The host and port in an address, of a list of addresses the first; "localhost" if a broker is known by something else. */
function hostOf(address: string): string {
  const [, host] = /^(?:[^@/]*@)?((?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d+)?)(?:[,/]|$)/i.exec(address) ?? [];
  return host ?? "localhost";
}

/** The name in the key, since the shown one may be shortened. */
function addressOf({ key, name }: NodeSnapshot): string {
  const { system, kind } = keyParts(key);
  if (kind === undefined || system === "rabbitmq") return name;
  return key.split(":").slice(4).join(":");
}

function bindingsOf({ key, name }: NodeSnapshot): { bindings?: JsonValue } {
  const { system, kind } = keyParts(key);
  if (system !== "rabbitmq") return {};
  const path = key.split(":").slice(4).join(":");
  const vhost = path.slice(0, path.lastIndexOf(`/${name}`)) || "/";
  if (kind === "queue") return { bindings: { amqp: { is: "queue", queue: { name, vhost } } } };
  return { bindings: { amqp: { is: "routingKey", exchange: { name, vhost } } } };
}

function objectOf(entries: Iterable<{ readonly id: string; readonly value: JsonValue }>) {
  return Object.fromEntries(Array.from(entries, ({ id, value }) => [id, value]));
}

/** Makes unique ids of letters, digits, `.`, `_` and `-`, as AsyncAPI requires. */
class Names {
  readonly #taken = new Set<string>();

  take(kind: string, name: string): string {
    const fit = name.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^-+|-+$/g, "") || kind;
    let id = fit;
    for (let number = 2; this.#taken.has(`${kind} ${id}`); number++) id = `${fit}-${number}`;
    this.#taken.add(`${kind} ${id}`);
    return id;
  }
}

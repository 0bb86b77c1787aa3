import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import { field } from "../../kit/interception/field.ts";
import { rabbitmqDestination } from "../../kit/messaging/broker-destinations.ts";
import { addressOf, redisIdentity } from "../../kit/messaging/redis-address.ts";

/** How messages travel, by the options of a server or client. */
export interface Transport {
  /** Its name in keys and counts. */
  readonly system: string;
  /** Where clients send messages of a pattern. */
  sentTo(pattern: string): NodeDeclaration;
  /** Where a server takes messages of a pattern from, each leading to the next; the last is that of the pattern. */
  takenFrom(pattern: string): readonly NodeDeclaration[];
  /** The address of a broker that sends its own name later. */
  readonly unnamed?: string | undefined;
}

type Make = (host: GraphHost, options: unknown) => Transport;

/** By the numbers that NestJS gives them. */
const TRANSPORTS: { readonly [id: number]: Make } = {
  0: (host, options) => {
    const broker = host.broker(
      "tcp",
      local(`${field(options, "host") ?? "localhost"}:${field(options, "port") ?? 3000}`),
    );
    return patterns("tcp", broker, "pattern", { pattern: "message_channel", componentType: "nest:pattern" });
  },
  1: (host, options) =>
    patterns("redis", redisIdentity(host, "redis", addressOf(options), false), "channel", {
      pattern: "publish_subscribe_channel",
      componentType: "redis:channel",
    }),
  2: (host, options) =>
    patterns("nats", host.broker("nats", first(field(options, "servers"), "localhost:4222")), "subject", {
      pattern: "publish_subscribe_channel",
      componentType: "nats:subject",
    }),
  3: (host, options) =>
    patterns("mqtt", host.broker("mqtt", first(field(options, "url"), "localhost:1883")), "topic", {
      pattern: "publish_subscribe_channel",
      componentType: "mqtt:topic",
    }),
  4: (host, options) =>
    patterns("grpc", host.broker("grpc", local(first(field(options, "url"), "localhost:5000"))), "method", {
      pattern: "message_channel",
      componentType: "nest:pattern",
    }),
  5: rabbitmq,
  6: (host, options) =>
    patterns(
      "kafka",
      host.broker("kafka", first(field(field(options, "client"), "brokers"), "localhost:9092")),
      "topic",
      {
        pattern: "publish_subscribe_channel",
        componentType: "kafka:topic",
      },
    ),
};

/** The classes of clients, and the transport of each. */
const CLIENTS: { readonly [name: string]: number } = {
  ClientTCP: 0,
  ClientRedis: 1,
  ClientNats: 2,
  ClientMqtt: 3,
  ClientGrpcProxy: 4,
  ClientRMQ: 5,
  ClientKafka: 6,
};

/** The transport of a server; one of the application's own is a system of its own. */
export function transportOfServer(host: GraphHost, server: object): Transport {
  return transport(host, field(server, "transportId"), field(server, "options"));
}

export function transportOfClient(host: GraphHost, client: object): Transport {
  for (let at: object | null = client; at !== null; at = Object.getPrototypeOf(at)) {
    const id = CLIENTS[at.constructor?.name ?? ""];
    if (id !== undefined) return transport(host, id, field(client, "options") ?? optionsOfTcp(client));
  }
  return transport(host, undefined, undefined);
}

function transport(host: GraphHost, id: unknown, options: unknown): Transport {
  const make = typeof id === "number" ? TRANSPORTS[id] : undefined;
  if (make !== undefined) return make(host, options);
  return patterns("nest", host.app, "pattern", { pattern: "message_channel", componentType: "nest:pattern" });
}

/** A pattern is a destination of its own. */
function patterns(
  system: string,
  broker: string,
  kind: string,
  traits: Pick<NodeDeclaration, "pattern" | "componentType">,
): Transport {
  const at = (name: string) => ({ name, ...traits, key: channelKey(system, broker, kind, name) });
  return { system, sentTo: at, takenFrom: (pattern) => [at(pattern)] };
}

/** Through a broker of AMQP all patterns of a server share its queue; the pattern is in the message. */
function rabbitmq(host: GraphHost, options: unknown): Transport {
  const url = [field(options, "urls")].flat()[0] ?? "amqp://localhost";
  const { address, vhost } = rabbitmqUrl(url);
  const broker = host.broker("rabbitmq", address);
  const place = { broker, vhost };
  const queue = host.shownName(String(field(options, "queue") || "amq.gen-queue"));
  const wildcards = Boolean(field(options, "wildcards"));
  const exchange = field(options, "exchange") ?? (wildcards ? queue : undefined);
  const fanout = field(options, "exchangeType") === "fanout";
  const queueNode = rabbitmqDestination("queue", queue, place);
  const exchangeNode = typeof exchange === "string" ? rabbitmqDestination("exchange", exchange, place) : undefined;
  return {
    system: "rabbitmq",
    unnamed: address,
    sentTo: () => (exchangeNode !== undefined && (wildcards || fanout) ? exchangeNode : queueNode),
    takenFrom: (pattern) => [
      ...(exchangeNode === undefined ? [] : [exchangeNode]),
      queueNode,
      {
        name: `${queue}.${pattern}`,
        pattern: "publish_subscribe_channel",
        componentType: "nest:pattern",
        key: channelKey("rabbitmq", broker, "pattern", `${vhost}/${queue}/${pattern}`),
      },
    ],
  };
}

function rabbitmqUrl(url: unknown): { readonly address: string; readonly vhost: string } {
  if (typeof url === "string" && URL.canParse(url)) {
    const { hostname, port, pathname, protocol } = new URL(url);
    const address = `${hostname || "localhost"}:${port || (protocol === "amqps:" ? 5671 : 5672)}`;
    return { address, vhost: pathname.length > 1 ? decodeURIComponent(pathname.slice(1)) : "/" };
  }
  const vhost = field(url, "vhost");
  const address = `${field(url, "hostname") ?? "localhost"}:${field(url, "port") ?? 5672}`;
  return { address, vhost: typeof vhost === "string" && vhost !== "" ? vhost : "/" };
}

/** A client of TCP keeps its options one by one. */
function optionsOfTcp(client: object): unknown {
  return { host: field(client, "host"), port: field(client, "port") };
}

/** All names of this machine are one. */
function local(address: string): string {
  return address.replace(/^(localhost|\[?::1?\]?|0\.0\.0\.0)(?=:\d+$)/i, "127.0.0.1");
}

function first(value: unknown, otherwise: string): string {
  const [one] = [value].flat();
  return typeof one === "string" && one !== "" ? one : otherwise;
}

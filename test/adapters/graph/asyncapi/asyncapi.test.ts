import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asyncApiSource } from "../../../../src/adapters/graph/asyncapi/index.ts";
import { ActuatorError } from "../../../../src/common/error.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { toAsyncApi } from "../../../../src/integration-graph/export/asyncapi.ts";
import { channelKey, endpointKey } from "../../../../src/integration-graph/node-id.ts";
import type { GraphSnapshot } from "../../../../src/integration-graph/snapshot.ts";

/** A document as people write them: servers, bindings, references into components, a reply. */
const SHOP = {
  asyncapi: "3.0.0",
  info: { title: "shop", version: "1.0.0" },
  servers: {
    rabbit: { host: "rabbit.example:5672", protocol: "amqp" },
    kafka: { $ref: "#/components/servers/kafka" },
  },
  channels: {
    orders: {
      address: "orders",
      title: "Orders",
      servers: [{ $ref: "#/servers/rabbit" }],
      bindings: { amqp: { is: "routingKey", exchange: { name: "orders", type: "topic", vhost: "/" } } },
    },
    billing: {
      address: "billing.queue",
      servers: [{ $ref: "#/servers/rabbit" }],
      bindings: { $ref: "#/components/channelBindings/billing" },
    },
    audit: { address: "audit.events", servers: [{ $ref: "#/servers/kafka" }] },
    quotes: { address: null, servers: [{ $ref: "#/servers/kafka" }], bindings: { kafka: { topic: "quotes.v1" } } },
    replies: { address: "replies", servers: [{ $ref: "#/servers/kafka" }] },
  },
  operations: {
    placeOrder: { action: "send", channel: { $ref: "#/channels/orders" } },
    bill: { action: "receive", channel: { $ref: "#/channels/billing" } },
    askQuote: {
      action: "send",
      channel: { $ref: "#/channels/quotes" },
      reply: { channel: { $ref: "#/channels/replies" } },
    },
    quote: { $ref: "#/components/operations/quote" },
  },
  components: {
    servers: { kafka: { host: "kafka.example:9092", protocol: "kafka" } },
    channelBindings: { billing: { amqp: { is: "queue", queue: { name: "billing", vhost: "/shop" } } } },
    operations: {
      quote: {
        action: "receive",
        channel: { $ref: "#/channels/quotes" },
        reply: { channel: { $ref: "#/channels/replies" } },
      },
    },
  },
};

function declared(document: unknown, options = {}): GraphSnapshot {
  const flow = integrationGraph({ app: "shop", ...options });
  flow.attach(asyncApiSource(document));
  return flow.graph.snapshot();
}

function ways({ nodes, links }: GraphSnapshot): string[] {
  const keys = new Map(nodes.map(({ nodeId, key }) => [nodeId, key]));
  return links.map(({ from, to, type }) => `${keys.get(from)} -${type}-> ${keys.get(to)}`).sort();
}

describe("a document of AsyncAPI 3", () => {
  it("declares its channels and operations, whole", () => {
    const graph = declared(SHOP);
    const orders = "channel:rabbitmq:rabbit.example%3A5672:exchange://orders";
    const billing = "channel:rabbitmq:rabbit.example%3A5672:queue:/shop/billing";
    const kafka = "channel:kafka:kafka.example%3A9092:topic";
    expect(
      graph.nodes.map(({ key, name, componentType, properties }) => [key, name, componentType, properties]),
    ).toEqual([
      [orders, "orders", "publish-subscribe-channel", { title: "Orders", protocol: "amqp" }],
      [billing, "billing", "channel", { channel: "billing", protocol: "amqp" }],
      [`${kafka}:audit.events`, "audit.events", "publish-subscribe-channel", { channel: "audit", protocol: "kafka" }],
      [`${kafka}:quotes.v1`, "quotes.v1", "publish-subscribe-channel", { protocol: "kafka" }],
      [`${kafka}:replies`, "replies", "publish-subscribe-channel", { protocol: "kafka" }],
      ["endpoint:shop:inbound_channel_adapter:placeOrder", "placeOrder", "asyncapi:send", {}],
      ["endpoint:shop:service_activator:bill", "bill", "asyncapi:receive", {}],
      ["endpoint:shop:outbound_gateway:askQuote", "askQuote", "asyncapi:send", {}],
      ["endpoint:shop:service_activator:quote", "quote", "asyncapi:receive", {}],
    ]);
    expect(ways(graph)).toEqual(
      [
        `endpoint:shop:inbound_channel_adapter:placeOrder -output-> ${orders}`,
        `${billing} -input-> endpoint:shop:service_activator:bill`,
        `endpoint:shop:outbound_gateway:askQuote -output-> ${kafka}:quotes.v1`,
        `${kafka}:replies -input-> endpoint:shop:outbound_gateway:askQuote`,
        `${kafka}:quotes.v1 -input-> endpoint:shop:service_activator:quote`,
        `endpoint:shop:service_activator:quote -output-> ${kafka}:replies`,
      ].sort(),
    );
    expect(graph.nodes.some(({ observed }) => observed)).toBe(false);
  });

  it("speaks of the nodes that adapters know, where the broker is called the same", () => {
    const graph = declared(SHOP, { brokers: { "rabbitmq://rabbit.example:5672": "main" } });
    expect(graph.nodes.map(({ key }) => key)).toContain(channelKey("rabbitmq", "main", "exchange", "//orders"));
  });

  it("leaves the graph with its adapter", () => {
    const flow = integrationGraph({ app: "shop" });
    const detach = flow.attach(asyncApiSource(SHOP));
    detach();
    expect(flow.graph.snapshot().nodes).toEqual([]);
  });

  it("needs no servers and no operations", () => {
    const graph = declared({ asyncapi: "3.1.0", channels: { a: { address: "a/b" }, "~/": {} } });
    expect(graph.nodes.map(({ name }) => name)).toEqual(["a/b", "~/"]);
  });

  it("takes a channel that names no servers to be at the first", () => {
    const servers = { n: { host: "h:4222", protocol: "nats" }, m: { host: "h:1883", protocol: "mqtt" } };
    expect(declared({ asyncapi: "3.0.0", servers, channels: { a: {} } }).nodes[0]?.key).toBe(
      "channel:nats:h%3A4222:subject:a",
    );
  });
});

describe("a document that is unfit", () => {
  const channels = { a: {} };
  const circle = { $ref: "#/channels/b" };
  const cases: [string, unknown, RegExp][] = [
    ["is no object", "asyncapi: 3.0.0", /parsed from JSON or YAML/],
    ["is of version 2", { asyncapi: "2.6.0" }, /AsyncAPI 3; this one is version 2\.6\.0/],
    ["has no version", {}, /without a version/],
    ["has channels that are no object", { asyncapi: "3.0.0", channels: [] }, /channels must be an object/],
    ["has a channel that is none", { asyncapi: "3.0.0", channels: { a: 1 } }, /channels\.a must be an object/],
    ["refers to another document", { asyncapi: "3.0.0", channels: { a: { $ref: "./b.json#/x" } } }, /another document/],
    ["refers to nothing", { asyncapi: "3.0.0", channels: { a: { $ref: "#/b" } } }, /channels\.a must be/],
    ["refers to the prototype", { asyncapi: "3.0.0", channels: { a: { $ref: "#/__proto__/constructor" } } }, /must be/],
    ["refers to no pointer", { asyncapi: "3.0.0", channels: { a: { $ref: "#/%" } } }, /channels\.a must be/],
    ["refers in a circle", { asyncapi: "3.0.0", channels: { a: circle, b: circle } }, /circle/],
    [
      "has an unknown action",
      { asyncapi: "3.0.0", channels, operations: { o: { action: "publish" } } },
      /send or receive/,
    ],
    [
      "has an operation without a channel",
      { asyncapi: "3.0.0", channels, operations: { o: { action: "send", channel: { address: "x" } } } },
      /operations\.o\.channel is not one of/,
    ],
  ];
  it.each(cases)("that %s is refused with its place", (_, document, message) => {
    expect(() => asyncApiSource(document)).toThrow(ActuatorError);
    expect(() => asyncApiSource(document)).toThrow(message);
  });
});

describe("the export", () => {
  it("of a declared document declares the same channels and ways again", () => {
    const first = declared(SHOP);
    const again = declared(JSON.parse(toAsyncApi(first)));
    const channels = ({ nodes }: GraphSnapshot) =>
      nodes.map(({ key }) => key).filter((key) => key.startsWith("channel:"));
    expect(channels(again)).toEqual(channels(first));
    const inAndOut = (graph: GraphSnapshot) =>
      ways(graph)
        .map((way) => way.replace(/endpoint:\S+/g, "*").replace(/ -output-> /, " -> "))
        .sort();
    expect(inAndOut(again)).toEqual(inAndOut(first));
  });

  it("has fit and different ids, and the names unchanged, whatever they are", () => {
    const name = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
      .filter((text) => !/[\p{C}\p{Z}@:/*]/u.test(text));
    const system = fc.constantFrom("kafka", "nats", "rabbitmq", "mqtt");
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(system, name), { minLength: 1, maxLength: 8, selector: String }),
        (destinations) => {
          const flow = integrationGraph({ app: "a", temporaryNames: [] });
          flow.attach({
            name: "test",
            attach(host) {
              const endpoint = host.declare({
                name: "e",
                pattern: "service_activator",
                key: endpointKey("a", "service_activator", "e"),
              });
              const kinds = { kafka: "topic", nats: "subject", rabbitmq: "queue", mqtt: "topic" } as const;
              for (const [system, name] of destinations) {
                const key = channelKey(system, "b", kinds[system], system === "rabbitmq" ? `//${name}` : name);
                host.link(endpoint, "output", host.declare({ name, pattern: "message_channel", key }));
              }
              return () => {};
            },
          });
          const graph = flow.graph.snapshot();
          const document = JSON.parse(toAsyncApi(graph));
          for (const ids of [document.channels, document.operations]) {
            expect(Object.keys(ids)).toHaveLength(destinations.length);
            for (const id of Object.keys(ids)) expect(id).toMatch(/^[A-Za-z0-9._-]+$/);
          }
          const keys = (one: GraphSnapshot) =>
            one.nodes
              .map(({ key }) => key)
              .filter((key) => key.startsWith("channel"))
              .sort();
          expect(keys(declared(document, { temporaryNames: [] }))).toEqual(keys(graph));
        },
      ),
      { numRuns: 200 },
    );
  });
});

import { setImmediate as tick } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { ActuatorError } from "../../src/common/error.ts";
import type { GraphAdapter, GraphHost } from "../../src/integration-graph/adapter.ts";
import { GraphBuilder, integrationGraph } from "../../src/integration-graph/builder.ts";
import type { NodeDeclaration } from "../../src/integration-graph/declaration.ts";
import { IntegrationGraph, type IntegrationGraphOptions } from "../../src/integration-graph/graph.ts";
import type { LinkType } from "../../src/integration-graph/link-type.ts";
import { channelKey, endpointKey } from "../../src/integration-graph/node-id.ts";
import { links, nodeOf, receives, sends } from "./support.ts";

/** An adapter that does nothing by itself: the test does what a library would make it do. */
class Library implements GraphAdapter {
  readonly name: string;
  host!: GraphHost;
  detached = 0;

  constructor(name = "library") {
    this.name = name;
  }

  attach(host: GraphHost) {
    this.host = host;
    return () => {
      this.detached++;
    };
  }

  /** A queue of a broker. */
  queue(name: string, broker = "main"): NodeDeclaration {
    return { name, pattern: "message_channel", key: channelKey("rabbitmq", broker, "queue", name) };
  }

  consumer(name: string): NodeDeclaration {
    return { name, pattern: "service_activator", key: endpointKey(this.host.app, "service_activator", name) };
  }
}

function setUp(options: Partial<IntegrationGraphOptions> = {}) {
  let passed = 0;
  const graph = new IntegrationGraph({ app: "shop", ...options }, { clock: () => performance.now() + passed });
  const flow = new GraphBuilder(graph);
  const library = new Library();
  const detach = flow.attach(library);
  const pass = (milliseconds: number) => {
    passed += milliseconds;
  };
  return { flow, graph, library, host: library.host, detach, pass };
}

const took = (start: number, end: number, more: { failed?: boolean; count?: number } = {}) => ({ start, end, ...more });
const names = (graph: IntegrationGraph) => graph.snapshot().nodes.map(({ name }) => name);

describe("what an adapter declares", () => {
  test("is there before any message, and properties said later are united", () => {
    const { graph, library, host } = setUp();
    const orders = host.declare({ ...library.queue("orders"), properties: { durable: true, bindings: 0 } });
    const bill = host.declare(library.consumer("bill"));
    host.link(orders, "input", bill);
    expect(host.declare({ ...library.queue("orders"), properties: { bindings: 1 } })).toBe(orders);
    expect(links(graph)).toEqual({ "orders -input-> bill": 0 });
    expect(nodeOf(graph, "orders").properties).toEqual({ durable: true, bindings: 1 });
  });

  test("goes when it is detached, but for what others declare too", () => {
    const { flow, graph, library, host, detach } = setUp();
    const other = new Library("other");
    flow.attach(other);
    flow.channel("mine");
    const [orders, audit] = [host.declare(library.queue("orders")), host.declare(library.queue("audit"))];
    host.link(orders, "error", audit);
    other.host.declare({ ...library.queue("audit"), properties: { durable: true } });
    detach();
    detach();
    expect(library.detached).toBe(1);
    expect(names(graph)).toEqual(["mine", "audit"]);
    expect(links(graph)).toEqual({});
    host.declare(library.queue("late"));
    expect(host.link(graph.find("mine")!, "error", graph.find("mine")!)).toBeUndefined();
    expect(names(graph)).toEqual(["mine", "audit"]);
  });

  test("goes when the adapter withdraws it, with its links", () => {
    const { graph, library, host } = setUp();
    const [orders, audit] = [host.declare(library.queue("orders")), host.declare(library.queue("audit"))];
    const binding = host.link(orders, "route", audit)!;
    host.link(orders, "error", audit);
    host.withdraw(binding);
    expect(links(graph)).toEqual({ "orders -error-> audit": 0 });
    host.withdraw(orders);
    expect(names(graph)).toEqual(["audit"]);
    host.withdraw(orders);
  });

  test("is what a source reads, until it is detached", async () => {
    const { graph, library, host, detach } = setUp();
    let reads = 0;
    host.read({
      name: "broker",
      read: () => {
        reads++;
        return { nodes: [library.queue("orders")], links: [] };
      },
    });
    await tick();
    expect(names(graph)).toEqual(["orders"]);
    await graph.rebuild();
    detach();
    expect(names(graph)).toEqual([]);
    await graph.rebuild();
    expect(reads).toBe(2);
  });

  test("throws nothing where it is unfit, is not shown, and counts as dropped", () => {
    const { flow, graph, library, host } = setUp();
    flow.filter("check");
    const unfit = host.declare({ name: "a\nb", pattern: "message_channel" });
    const conflict = host.declare({ name: "check", pattern: "bridge" });
    const orders = host.declare(library.queue("orders"));
    expect(host.link(orders, "input", orders)).toBeUndefined();
    expect(host.way(orders, "output", orders)).toBeUndefined();
    for (const node of [unfit, conflict]) {
      host.sent(node, took(0, 1));
      host.handled(node, took(0, 1));
      host.handler(node, () => {})();
      expect(host.link(orders, "route", node)).toBeUndefined();
    }
    expect(names(graph)).toEqual(["check", "orders", "shop.producer"]);
    expect(graph.dropped.nodes).toBe(2);
  });
});

test("an adapter that refuses what it was given leaves nothing behind", () => {
  const flow = integrationGraph({ app: "shop" });
  const refusing: GraphAdapter = {
    name: "refusing",
    attach(host) {
      host.declare({ name: "orders", pattern: "message_channel" });
      host.counts("rabbitmq");
      throw new TypeError("not a channel");
    },
  };
  expect(() => flow.attach(refusing)).toThrow(new TypeError("not a channel"));
  expect(names(flow.graph)).toEqual([]);
  const library = new Library();
  flow.attach(library);
  expect(library.host.counts("rabbitmq")).toBe(true);
});

describe("a message that is told of", () => {
  test("counts at its channel, at its handler and on the ways, once each", () => {
    const { graph, library, host } = setUp();
    const [orders, paid] = [host.observe(library.queue("orders")), host.declare(library.queue("paid"))];
    const bill = host.observe(library.consumer("bill"));
    const input = host.way(orders, "input", bill);
    host.sent(orders, took(10, 12, { count: 3 }));
    for (const failed of [false, true]) host.handled(bill, took(20, 25, { failed }), input);
    host.sent(paid, took(30, 31, { failed: true }), bill);
    expect(sends(graph, "orders")).toEqual([3, 0]);
    expect(nodeOf(graph, "orders").sendTimers!.successes).toEqual({ count: 3, mean: 2, max: 2 });
    expect(sends(graph, "bill")).toEqual([1, 1]);
    expect(sends(graph, "paid")).toEqual([0, 1]);
    expect(links(graph)).toEqual({
      "orders -input-> bill": 2,
      "shop.producer -output-> orders": 3,
      "bill -output-> paid": 1,
    });
  });

  test("is sent by the endpoint in whose handler it is sent, also after awaits", async () => {
    const { graph, library, host } = setUp();
    const [orders, paid] = [host.declare(library.queue("orders")), host.declare(library.queue("paid"))];
    const bill = host.declare(library.consumer("bill"));
    const input = host.link(orders, "input", bill);
    const handle = host.handler(
      bill,
      async () => {
        expect(host.current).toBe(bill);
        await tick();
        host.sent(paid, took(0, 1));
      },
      { input },
    );
    await handle();
    await host.within(bill, async () => {
      await tick();
      host.sender(paid, () => {})();
    });
    expect(host.current).toBeUndefined();
    expect(sends(graph, "bill")).toEqual([1, 0]);
    expect(links(graph)).toEqual({ "orders -input-> bill": 1, "bill -output-> paid": 2 });
  });

  test("is the application's own producer's where no endpoint sends it, however it is sent", () => {
    const { graph, library, host, detach } = setUp();
    const orders = host.declare(library.queue("orders"));
    expect(names(graph)).toEqual(["orders"]);
    host.sent(orders, took(0, 1));
    host.sender(orders, () => {})();
    expect(nodeOf(graph, "shop.producer")).toMatchObject({
      integrationPatternType: "inbound_gateway",
      output: "orders",
    });
    expect(links(graph)).toEqual({ "shop.producer -output-> orders": 2 });
    detach();
    expect(names(graph)).toEqual([]);
  });

  test("that is taken out of a channel counts there", () => {
    const { graph, library, host } = setUp();
    const orders = host.declare({ ...library.queue("orders"), pattern: "pollable_channel" });
    host.received(orders, took(0, 1, { count: 5 }));
    host.received(orders, took(0, 1, { failed: true }));
    expect(receives(graph, "orders")).toEqual([5, 1]);
    expect(sends(graph, "orders")).toEqual([0, 0]);
    expect(nodeOf(graph, "orders").observed).toBe(true);
  });

  test("and could not be handled counts on the way to the error channel", () => {
    const { flow, graph, library, host } = setUp();
    flow.serviceActivator("bill", { error: "failed" });
    const bill = host.observe(library.consumer("bill"));
    host.handled(bill, took(0, 1, { failed: true, count: 2 }));
    expect(links(graph)).toEqual({ "bill -error-> failed": 2 });
  });
});

describe("of several adapters that see one system", () => {
  test("the first that asks counts, with all of its name, until the last of these is detached", () => {
    const flow = integrationGraph({ app: "shop" });
    const [first, second, same] = [new Library("amqplib"), new Library("otel"), new Library("amqplib")];
    const detaches = [first, second, same].map((library) => flow.attach(library));
    const asked = () => [first, second, same].map(({ host }) => host.counts("rabbitmq"));
    expect(asked()).toEqual([true, false, true]);
    expect(second.host.counts("kafka")).toBe(true);
    detaches[0]!();
    detaches[0]!();
    expect(asked()).toEqual([true, false, true]);
    detaches[2]!();
    expect(second.host.counts("rabbitmq")).toBe(true);
    expect(first.host.counts("rabbitmq")).toBe(false);
    expect(first.host.counts("nats")).toBe(false);
  });

  test("counts in the adapter of its library, if several libraries of one system are watched", () => {
    const flow = integrationGraph({ app: "shop" });
    const [kafkajs, tracing, platformatic] = ["kafkajs", "otel", "platformatic"].map((name) => new Library(name));
    Object.assign(kafkajs!, { watchesObjects: true });
    Object.assign(platformatic!, { watchesObjects: true });
    const all = [kafkajs!, tracing!, platformatic!];
    const [detach] = all.map((library) => flow.attach(library));
    const asked = () => all.map(({ host }) => host.counts("kafka"));
    expect(asked()).toEqual([true, false, true]);
    detach!();
    expect(asked()).toEqual([false, false, true]);
  });
});

describe("a broker", () => {
  const brokers = { "rabbitmq://10.0.0.1:5672": "main", "rabbitmq://rabbit@node2": "second" };

  test.each([
    ["rabbitmq", "10.0.0.1:5672", "main"],
    ["rabbitmq", "amqp://user:p%40ss@10.0.0.1:5672/?heartbeat=5", "main"],
    ["kafka", "10.0.0.1:5672", "10.0.0.1:5672"],
    ["redis", "redis://:secret@Cache.local:6379/2", "cache.local:6379/2"],
    ["kafka", "b1:9092,b2:9092", "b1:9092,b2:9092"],
    ["nats", "nats://a:x,y@h1:4222,nats://a:x,y@h2:4222", "h2:4222"],
    ["mqtt", "mqtt://u:p@ss@h:1883", "h:1883"],
    ["redis", "redis://u:p#w?x@h:1?tls=1", "h:1"],
    ["redis", "", "unknown"],
  ])("of %s at %s is %s", (system, address, identity) => {
    expect(setUp({ brokers }).host.broker(system, address)).toBe(identity);
  });

  test("that says its name is that broker from then on, by every address; the configuration prevails", () => {
    const { host } = setUp({ brokers });
    host.nameBroker("rabbitmq", "localhost:5672", "rabbit@node1");
    host.nameBroker("rabbitmq", "amqp://guest:guest@127.0.0.1:5672", "rabbit@node1");
    host.nameBroker("rabbitmq", "10.0.0.1:5672", "rabbit@node1");
    host.nameBroker("rabbitmq", "10.0.0.2:5672", "rabbit@node2");
    host.nameBroker("rabbitmq", "10.0.0.3:5672", "\n");
    const of = (address: string) => host.broker("rabbitmq", address);
    expect(["localhost:5672", "127.0.0.1:5672", "10.0.0.1:5672", "10.0.0.2:5672", "10.0.0.3:5672"].map(of)).toEqual([
      "rabbit@node1",
      "rabbit@node1",
      "main",
      "second",
      "10.0.0.3:5672",
    ]);
  });

  test.each(["main", "://main", "rabbitmq://", "10.0.0.1:5672"])("cannot be configured at %j", (key) => {
    expect(() => setUp({ brokers: { [key]: "main" } })).toThrow(ActuatorError);
  });

  test("takes over the channels that were seen at its address, and what is kept of them goes on counting", () => {
    const { graph, library, host } = setUp();
    const early = host.declare(library.queue("orders", "127.0.0.1:5672"));
    const bill = host.declare(library.consumer("bill"));
    const input = host.link(early, "input", bill);
    const send = host.sender(early, () => {});
    send();
    host.handled(bill, took(0, 1), input);

    host.nameBroker("rabbitmq", "127.0.0.1:5672", "rabbit@node1");
    expect(early.key).toBe("channel:rabbitmq:rabbit@node1:queue:orders");
    expect(host.declare(library.queue("orders", "rabbit@node1"))).toBe(early);
    expect(host.declare(library.queue("orders", "127.0.0.1:5672"))).toBe(early);
    send();
    host.handled(bill, took(0, 1), input);
    expect(sends(graph, "orders")).toEqual([2, 0]);
    expect(links(graph)).toEqual({ "orders -input-> bill": 2, "shop.producer -output-> orders": 2 });
    const same = setUp().host.declare(library.queue("orders", "rabbit@node1"));
    expect(nodeOf(graph, "orders").nodeId).toBe(same.id);
  });

  test("is meant by its address ever after", () => {
    const { graph, library, host } = setUp();
    host.nameBroker("rabbitmq", "127.0.0.1:5672", "rabbit@node1");
    const late = host.declare(library.queue("late", "127.0.0.1:5672"));
    expect(late.key).toBe("channel:rabbitmq:rabbit@node1:queue:late");
    expect(host.declare(library.queue("late", "rabbit@node1"))).toBe(late);
    expect(names(graph)).toEqual(["late"]);
  });

  test("makes one of a channel that was seen at its address and under its name", () => {
    const { graph, library, host } = setUp();
    const bill = host.declare(library.consumer("bill"));
    const see = (broker: string, properties: { [key: string]: number }) => {
      const queue = host.declare({ ...library.queue("orders", broker), properties });
      const dead = host.declare(library.queue("dead", broker));
      return { queue, dead, input: host.link(queue, "input", bill)!, error: host.link(queue, "error", dead)! };
    };
    const early = see("127.0.0.1:5672", { early: 1, both: 1 });
    const known = see("rabbit@node1", { known: 1, both: 2 });
    const tell = () => {
      for (const { queue, input, error } of [early, known]) {
        host.sent(queue, took(0, 1));
        host.received(queue, took(0, 1));
        host.handled(bill, took(0, 1), input);
        error.count++;
      }
    };
    tell();
    host.nameBroker("rabbitmq", "127.0.0.1:5672", "rabbit@node1");
    tell();
    expect(names(graph)).toEqual(["bill", "orders", "dead", "shop.producer"]);
    expect(nodeOf(graph, "orders").properties).toEqual({ early: 1, known: 1, both: 2 });
    expect(sends(graph, "orders")).toEqual([4, 0]);
    expect(known.queue.receives.successes.count).toBe(4);
    expect(links(graph)).toEqual({
      "orders -input-> bill": 4,
      "orders -error-> dead": 4,
      "shop.producer -output-> orders": 4,
    });
    host.link(early.queue, "route", early.dead);
    host.withdraw(early.dead);
    expect(links(graph)).toEqual({ "orders -input-> bill": 4, "shop.producer -output-> orders": 4 });
  });
});

describe("what was only seen, idle for long", () => {
  function idle() {
    const set = setUp({ observedNodeMaxAgeMs: 60_000 });
    const later = async () => {
      set.pass(60_000);
      await set.graph.rebuild();
    };
    return { ...set, later };
  }
  const see = ({ host, library }: ReturnType<typeof setUp>) => {
    const [orders, bill] = [host.observe(library.queue("orders")), host.observe(library.consumer("bill"))];
    return { orders, bill, input: host.way(orders, "input", bill) };
  };
  const ways: [name: string, tell: (host: GraphHost, seen: ReturnType<typeof see>) => void][] = [
    ["sent", (host, { orders }) => host.sent(orders, took(0, performance.now()))],
    ["sent by it", (host, { orders, bill }) => host.sent(orders, took(0, performance.now()), bill)],
    ["handled", (host, { bill, input }) => host.handled(bill, took(0, performance.now()), input)],
    ["received", (host, { orders }) => host.received(orders, took(0, performance.now()))],
    ["a handler", (host, { bill, input }) => host.handler(bill, () => {}, { input })()],
    ["within", (host, { bill }) => host.within(bill, () => {})],
    ["a sender", (host, { orders }) => host.sender(orders, () => {})()],
    ["a way", (host, { orders, bill }) => host.way(orders, "input", bill)],
  ];

  test.each(ways)("is not shown, and comes back with its next message: %s", async (_, tell) => {
    const one = idle();
    const seen = see(one);
    tell(one.host, seen);
    const before = { nodes: names(one.graph), links: links(one.graph), id: seen.orders.id };
    await one.later();
    expect(names(one.graph).filter((name) => name !== "shop.producer")).toEqual([]);
    tell(one.host, seen);
    tell(one.host, seen);
    for (const name of names(one.graph)) expect(before.nodes).toContain(name);
    expect(names(one.graph).filter((name) => name !== "shop.producer").length).toBeGreaterThan(0);
    const rest = names(one.graph);
    const between = Object.keys(before.links).filter((link) =>
      link.split(/ -[a-z]+-> /).every((end) => rest.includes(end)),
    );
    expect(Object.keys(links(one.graph)).sort()).toEqual(between.sort());
    expect(seen.orders.id).toBe(before.id);
  });

  test("is not idle while it sends", async () => {
    const one = idle();
    const { orders, bill } = see(one);
    one.pass(50_000);
    one.host.sent(orders, took(0, performance.now() + 50_000), bill);
    one.pass(20_000);
    await one.graph.rebuild();
    expect(names(one.graph)).toEqual(["orders", "bill"]);
    expect(nodeOf(one.graph, "bill")).toHaveProperty("lastSeenTime");
  });

  test("comes back with the way from who sends to where it is sent", async () => {
    const one = idle();
    const { orders, bill } = see(one);
    one.host.sent(orders, took(0, 1), bill);
    await one.later();
    one.host.sent(orders, took(0, 1), bill);
    expect(links(one.graph)).toEqual({ "bill -output-> orders": 2, "orders -input-> bill": 0 });
    expect(sends(one.graph, "orders")).toEqual([2, 0]);
  });

  test("keeps its numbers, and adds them to whoever took its place", async () => {
    const one = idle();
    const { bill, input } = see(one);
    one.host.handled(bill, took(0, 1), input);
    await one.later();
    one.host.declare(one.library.consumer("bill"));
    one.host.handled(bill, took(0, 1), input);
    expect(sends(one.graph, "bill")).toEqual([2, 0]);
    expect(links(one.graph)).toEqual({ "orders -input-> bill": 2 });
  });

  test("gives way in a full graph, at once", () => {
    const { graph, host, library, pass } = setUp({ observedNodeMaxAgeMs: 60_000, limits: { maxNodes: 1 } });
    host.observe(library.queue("first"));
    pass(61_000);
    const second = host.declare(library.queue("second"));
    expect(names(graph)).toEqual(["second"]);
    expect(graph.dropped.nodes).toBe(0);

    const third = host.observe({ ...library.queue("third"), pattern: "pollable_channel" });
    host.received(third, took(0, 1));
    expect(names(graph)).toEqual(["second"]);
    expect(graph.dropped.nodes).toBe(1);
    host.withdraw(second);
    host.received(third, took(0, 1));
    expect(names(graph)).toEqual(["third"]);
    expect(receives(graph, "third")).toEqual([2, 0]);
  });
});

test.each<[LinkType, from: "queue" | "endpoint", to: "queue" | "endpoint", fits: boolean]>([
  ["input", "queue", "endpoint", true],
  ["output", "endpoint", "queue", true],
  ["route", "queue", "queue", true],
  ["error", "queue", "queue", true],
  ["output", "queue", "queue", false],
  ["input", "endpoint", "endpoint", false],
  ["route", "endpoint", "endpoint", false],
])("an %s link leads from a %s to a %s: %s", (type, from, to, fits) => {
  const { host, library } = setUp();
  const node = (kind: string, name: string) =>
    host.declare(kind === "queue" ? library.queue(name) : library.consumer(name));
  expect(host.link(node(from, "a"), type, node(to, "b")) !== undefined).toBe(fits);
});

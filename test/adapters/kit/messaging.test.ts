import { describe, expect, test } from "vitest";
import {
  channelKey,
  Delivery,
  type Destination,
  DestinationRegistry,
  deliver,
  type GraphHost,
  HandlerRegistry,
  WatchedObjects,
  type Watcher,
  type WatchSet,
  watchingAdapter,
} from "../../../src/adapters/kit/index.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";

/** A graph, and its host for an adapter. */
function setUp() {
  const flow = integrationGraph({ app: "shop" });
  let host!: GraphHost;
  const detach = flow.attach({
    name: "tiny",
    attach(given) {
      host = given;
      return () => {};
    },
  });
  const names = () => flow.graph.snapshot().nodes.map(({ name }) => name);
  return { flow, host, detach, names };
}

function registry(host: GraphHost, options: { lingers?: boolean; max?: number } = {}) {
  return new DestinationRegistry<"topic">(host, {
    kinds: ["topic"],
    lingers: options.lingers,
    ...(options.max !== undefined && {
      limit: {
        max: options.max,
        others: "#",
        isWildcard: (name) => name.endsWith("*"),
        matches: (wildcard, name) => name.startsWith(wildcard.slice(0, -1)),
      },
    }),
    declaration: (kind, name, { polled }) => ({
      name,
      pattern: polled ? "pollable_channel" : "publish_subscribe_channel",
      componentType: `tiny:${kind}`,
      key: channelKey("tiny", "main", kind, name),
    }),
  });
}

describe("a registry of destinations", () => {
  test("shows one as long as something uses it", () => {
    const { host, names } = setUp();
    const topics = registry(host);
    const topic = topics.hold("topic", "orders", "first");
    expect(topics.hold("topic", "orders", "second")).toBe(topic);
    topic.release("first");
    expect(names()).toEqual(["orders"]);
    topic.release("second");
    expect([names(), topics.find("topic", "orders")]).toEqual([[], undefined]);
  });

  test("keeps unused ones until it is pruned if they linger", () => {
    const { host, names } = setUp();
    const topics = registry(host, { lingers: true });
    topics.hold("topic", "orders", "user").release("user");
    expect(names()).toEqual(["orders"]);
    topics.prune();
    expect(names()).toEqual([]);
  });

  test("sends to the node that is declared, before and after", () => {
    const { host } = setUp();
    const topics = registry(host);
    const seen = topics.sentTo("topic", "orders");
    const topic = topics.hold("topic", "orders", "user");
    expect([topics.sentTo("topic", "orders"), seen]).toEqual([topic.node, topic.node]);
  });

  test("shows few names that only messages mention, and counts others for a wildcard", () => {
    const { host, names } = setUp();
    const topics = registry(host, { max: 1 });
    const wildcard = topics.hold("topic", "order/*", "user");
    topics.sentTo("topic", "a");
    expect(topics.sentTo("topic", "order/7")).toBe(wildcard.node);
    expect(topics.sentTo("topic", "b").name).toBe("#");
    expect(names()).toEqual(["order/*", "a", "#"]);
    topics.prune();
    expect(topics.sentTo("topic", "b").name).toBe("b");
  });

  test("links a name that was seen to the wildcard that its messages came by", () => {
    const { flow, host } = setUp();
    const topics = registry(host, { max: 10 });
    const wildcard = topics.hold("topic", "order/*", "user");
    for (let message = 0; message < 3; message++) topics.came("topic", "order/7", wildcard);
    expect(flow.graph.snapshot().links.map(({ type, count }) => [type, count])).toEqual([["route", 3]]);
  });

  test("shows generated names as one", () => {
    const { host, names } = setUp();
    const topics = registry(host);
    const topic = topics.hold("topic", "amq.gen-1", 1);
    expect(topics.hold("topic", "amq.gen-2", 2)).toBe(topic);
    expect([names(), topic.temporary]).toEqual([["amq.gen-*"], true]);
  });
});

describe("a registry of handlers", () => {
  const description = { name: "orders.charge", componentType: "tiny:consumer" };

  test("keeps a handler whose consumers ended until it is pruned, with its channel", () => {
    const { host, names } = setUp();
    const topics = registry(host);
    const handlers = new HandlerRegistry<Destination>(host);
    const orders = topics.hold("topic", "orders", "opening");
    const input = handlers.add(description, orders, "a");
    orders.release("opening");
    expect(handlers.add(description, orders, "b")).toBe(input);
    handlers.end(input, "a");
    handlers.prune();
    expect(names()).toEqual(["orders", "orders.charge"]);
    handlers.end(input, "b");
    expect(names()).toEqual(["orders", "orders.charge"]);
    handlers.prune();
    expect(names()).toEqual([]);
  });

  test("drops the input from a channel that was deleted, and the handler with its last", () => {
    const { flow, host, names } = setUp();
    const topics = registry(host);
    const handlers = new HandlerRegistry<Destination>(host);
    const [orders, mails] = [topics.hold("topic", "orders", 1), topics.hold("topic", "mails", 1)];
    handlers.add(description, orders, "a");
    handlers.add(description, mails, "a");
    handlers.forget(orders);
    expect(flow.graph.snapshot().links).toHaveLength(1);
    handlers.forget(mails);
    expect(names()).toEqual(["orders", "mails"]);
  });

  test("keeps at most 250 inputs that nothing uses", () => {
    const { host, names } = setUp();
    const topics = registry(host);
    const handlers = new HandlerRegistry<Destination>(host);
    for (let user = 0; user < 600; user++) {
      const topic = topics.hold("topic", `user-${user}`, "opening");
      handlers.end(handlers.add({ ...description, name: `handler-${user}` }, topic, "a"), "a");
      topic.release("opening");
    }
    expect(names().length).toBeLessThanOrEqual(502);
  });

  test("has one node for one name and scope, cut to the longest name", () => {
    const { host } = setUp();
    const handlers = new HandlerRegistry<Destination>(host);
    const long = { ...description, name: `orders.${"x".repeat(300)}` };
    expect(handlers.get(long)).toBe(handlers.get(long));
    expect(handlers.get(long).node.name).toHaveLength(256);
    expect(handlers.get({ ...long, scope: "test:" })).not.toBe(handlers.get(long));
  });
});

describe("a message that is delivered", () => {
  function delivered(settled: boolean) {
    const { flow, host } = setUp();
    const node = host.declare({ name: "charge", pattern: "service_activator" });
    const delivery = new Delivery(host, { node, input: undefined }, settled);
    const counts = () => {
      const { successes, failures } = flow.graph.snapshot().nodes[0]!.sendTimers!;
      return [successes.count, failures.count];
    };
    return { host, delivery, counts };
  }

  test("counts once, when it is handled and settled", () => {
    const { host, delivery, counts } = delivered(false);
    expect(deliver(host, delivery, () => "result")).toBe("result");
    expect(counts()).toEqual([0, 0]);
    delivery.settled(false);
    delivery.settled(true);
    expect(counts()).toEqual([1, 0]);
  });

  test("fails at once if its handler rejects", async () => {
    const { host, delivery, counts } = delivered(false);
    await expect(deliver(host, delivery, async () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    delivery.settled(false);
    expect(counts()).toEqual([0, 1]);
  });

  test("fails if it is abandoned, and not if nothing has to settle it", () => {
    const open = delivered(false);
    open.delivery.abandoned();
    expect(open.counts()).toEqual([0, 1]);
    const settled = delivered(true);
    settled.delivery.abandoned();
    expect(settled.counts()).toEqual([1, 0]);
  });
});

describe("an adapter that watches objects", () => {
  class Queue {}
  const watched = new WatchedObjects("queue of tiny");

  function source(targets: Queue | readonly Queue[], watch: Watcher<Queue>["watch"], log: string[] = []) {
    let objects!: WatchSet<Queue>;
    const adapter = watchingAdapter<Queue>({
      name: "tiny",
      source: "tinySource",
      expected: "a queue of tiny",
      accepts: (target) => target instanceof Queue,
      targets,
      watched,
      begin(_, set) {
        objects = set;
        return { watch, started: () => log.push("started"), end: () => log.push("ended") };
      },
    });
    return { adapter, objects: () => objects, log };
  }

  test("restores all if it cannot watch one of them", () => {
    const queues = [new Queue(), new Queue()];
    const log: string[] = [];
    const { adapter } = source(
      queues,
      (queue) => {
        if (queue === queues[1]) throw new Error("closed");
        return () => log.push("restored");
      },
      log,
    );
    expect(() => integrationGraph({ app: "shop" }).attach(adapter)).toThrow("closed");
    expect(log).toEqual(["restored", "ended"]);
    expect(queues.map((queue) => watched.has(queue))).toEqual([false, false]);
  });

  test("restores the last first, and once", () => {
    const log: string[] = [];
    const { adapter, objects } = source(
      [new Queue(), new Queue()],
      (queue) => () => log.push(`${queues.indexOf(queue)}`),
      log,
    );
    const detach = integrationGraph({ app: "shop" }).attach(adapter);
    const queues = [...objects()];
    adapter.unwatch(queues[0]!);
    detach();
    detach();
    expect(log).toEqual(["started", "0", "1", "ended"]);
  });

  test("watches the same objects when it is attached again", () => {
    const queue = new Queue();
    const { adapter, objects } = source([queue], () => () => {});
    integrationGraph({ app: "shop" }).attach(adapter)();
    expect(watched.has(queue)).toBe(false);
    integrationGraph({ app: "shop" }).attach(adapter);
    expect([...objects()]).toEqual([queue]);
  });

  test("gives an object up for another adapter if it was attached so, and takes none away", () => {
    const queue = new Queue();
    const [found, given, late] = [1, 2, 3].map(() => source([], () => () => {}));
    const attachFound = () => integrationGraph({ app: "shop" }).graph.attach(found!.adapter, { yields: true });
    const detach = attachFound();
    found!.adapter.watch(queue);
    integrationGraph({ app: "shop" }).attach(given!.adapter);
    given!.adapter.watch(queue);
    expect([[...found!.objects()], [...given!.objects()]]).toEqual([[], [queue]]);
    expect(() => found!.adapter.watch(queue)).toThrow("watched already");
    integrationGraph({ app: "shop" }).attach(late!.adapter);
    expect(() => late!.adapter.watch(queue)).toThrow("watched already");
    detach();
    expect(watched.has(queue)).toBe(true);
  });

  test("does not watch what was given up before it was attached", () => {
    const queue = new Queue();
    const { adapter, objects } = source([], () => () => {});
    adapter.watch(queue);
    adapter.unwatch(queue);
    integrationGraph({ app: "shop" }).attach(adapter);
    expect([...objects()]).toEqual([]);
  });
});

import { EventEmitter, once } from "node:events";
import { setImmediate as tick } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import { links, nodeOf, sends } from "./support.ts";

describe("a message that is sent while an endpoint handles one", () => {
  test("counts on the declared link", () => {
    const g = integrationGraph({ app: "shop" });
    const send = g.channel("paid").sender(() => {});
    const pay = g.serviceActivator("pay", { input: "orders", output: "paid" }).handle(() => send());
    pay();
    pay();
    expect(links(g.graph)).toEqual({ "orders -input-> pay": 2, "pay -output-> paid": 2 });
  });

  test.each([
    ["serviceActivator", "output"],
    ["router", "route"],
    ["recipientListRouter", "route"],
    ["inboundGateway", "output"],
    ["outboundChannelAdapter", "output"],
  ] as const)("makes an undeclared link of a %s appear as %s", (method, type) => {
    const g = integrationGraph({ app: "shop" });
    const send = g.channel("audit").sender(() => {});
    const handle = g[method]("it").handle(() => send());
    const before = g.graph.revision;
    handle();
    expect(links(g.graph)).toEqual({ [`it -${type}-> audit`]: 1 });
    expect(nodeOf(g.graph, "it")).toMatchObject(type === "route" ? { routes: ["audit"] } : { output: "audit" });
    expect(g.graph.revision).toBeGreaterThan(before);
    const after = g.graph.revision;
    handle();
    expect(links(g.graph)).toEqual({ [`it -${type}-> audit`]: 2 });
    expect(g.graph.revision).toBe(after);
  });

  test("is sent by the source that is receiving", async () => {
    const g = integrationGraph({ app: "shop" });
    const send = g.channel("ticks").sender(() => {});
    await g.inboundChannelAdapter("clock", { output: "ticks" }).receiver(async () => {
      await tick();
      send();
    })();
    expect(links(g.graph)).toEqual({ "clock -output-> ticks": 1 });
  });

  test("leaves the declared output in its place", () => {
    const g = integrationGraph({ app: "shop" });
    const audit = g.channel("audit").sender(() => {});
    g.serviceActivator("pay").handle(() => audit())();
    g.serviceActivator("pay", { output: "paid" });
    expect(nodeOf(g.graph, "pay").output).toBe("paid");
    expect(links(g.graph)).toEqual({ "pay -output-> audit": 1, "pay -output-> paid": 0 });
  });

  test("counts once where several links lead to the same channel", () => {
    const g = integrationGraph({ app: "shop" });
    const send = g.nullChannel().sender(() => {});
    g.resequencer("order", { output: "nullChannel", discard: "nullChannel" }).handle(() => send())();
    expect(links(g.graph)).toEqual({ "order -output-> nullChannel": 1, "order -discard-> nullChannel": 0 });
  });

  test("goes by the router's default output where that is what it is", () => {
    const g = integrationGraph({ app: "shop" });
    const parked = g.channel("parked").sender(() => {});
    g.router("route", { routes: ["express"], default: "parked" }).handle(() => parked())();
    expect(links(g.graph)).toEqual({ "route -output-> parked": 1, "route -route-> express": 0 });
    expect(nodeOf(g.graph, "route")).toMatchObject({ output: "parked", routes: ["express"] });
  });
});

test("a message that nobody handles has no owner", () => {
  const g = integrationGraph({ app: "shop" });
  g.channel("paid").sender(() => {})();
  expect(links(g.graph)).toEqual({});
  expect(sends(g.graph, "paid")).toEqual([1, 0]);
});

test("the inner handler owns what it sends, and the outer one what comes after it", async () => {
  const g = integrationGraph({ app: "shop" });
  const toOuter = g.channel("outer").sender(() => {});
  const toInner = g.channel("inner").sender(() => {});
  const inner = g.serviceActivator("b").handle(async () => {
    await tick();
    toInner();
  });
  const toB = g.channel("to-b").sender(inner);
  await g.serviceActivator("a").handle(async () => {
    toOuter();
    await toB();
    toOuter();
  })();
  expect(links(g.graph)).toEqual({ "a -output-> outer": 2, "a -output-> to-b": 1, "b -output-> inner": 1 });
});

test("handlers that run at the same time do not mix", async () => {
  const g = integrationGraph({ app: "shop" });
  const names = Array.from({ length: 20 }, (_, index) => `e${index}`);
  const handlers = names.map((name, index) => {
    const send = g.channel(`c${index}`).sender(() => {});
    return g.serviceActivator(name).handle(async () => {
      for (let round = 0; round < 5; round++) {
        for (let ticks = 0; ticks <= (index + round) % 3; ticks++) await tick();
        send();
      }
    });
  });
  await Promise.all(handlers.map((handle) => handle()));
  expect(links(g.graph)).toEqual(Object.fromEntries(names.map((name, index) => [`${name} -output-> c${index}`, 5])));
});

test("a handler that begins in somebody else's context owns what it sends", async () => {
  const g = integrationGraph({ app: "shop" });
  const bus = new EventEmitter();
  const send = g.channel("paid").sender(() => {});
  const pay = g.serviceActivator("pay").handle(() => send());
  // The timer carries the context of "connect" for as long as it lives: the context has leaked.
  const { promise: fired, resolve } = Promise.withResolvers<void>();
  g.serviceActivator("connect").handle(() => {
    setTimeout(() => {
      bus.emit("order");
      resolve();
    }, 0);
    bus.on("order", pay);
  })();
  await fired;
  bus.emit("order");
  expect(links(g.graph)).toEqual({ "pay -output-> paid": 2 });
});

test("what a handler leaves for later is still its own", async () => {
  const g = integrationGraph({ app: "shop" });
  const bus = new EventEmitter();
  const send = g.channel("audit").sender(() => bus.emit("sent"));
  const sent = once(bus, "sent");
  g.serviceActivator("pay").handle(() => void setImmediate(send))();
  await sent;
  expect(links(g.graph)).toEqual({ "pay -output-> audit": 1 });
});

test("graphs do not mix", () => {
  const one = integrationGraph({ app: "one" });
  const two = integrationGraph({ app: "two" });
  const send = two.channel("c").sender(() => {});
  one.serviceActivator("a").handle(() => send())();
  two.serviceActivator("b").handle(one.serviceActivator("a").handle(() => send()))();
  expect(links(one.graph)).toEqual({});
  expect(links(two.graph)).toEqual({ "b -output-> c": 1 });
  expect(() => one.serviceActivator("x", { output: two.channel("c") })).toThrow('"c" is a channel of another graph');
});

describe("a discarded message counts once on the discard link", () => {
  function setUp() {
    const g = integrationGraph({ app: "shop" });
    const filter = g.filter("check", { input: "orders", output: "good", discard: "bad" });
    const good = g.channel("good").sender(() => {});
    const bad = g.channel("bad").sender(() => {});
    return { g, filter, good, bad, discards: () => links(g.graph)["check -discard-> bad"] };
  }

  test("when a filter's handler gives false", async () => {
    const { g, filter, discards } = setUp();
    filter.handle((order: number) => order > 0)(0);
    expect(discards()).toBe(1);
    await filter.handle(async (order: number) => order > 0)(0);
    expect(discards()).toBe(2);
    filter.handle((order: number) => order > 0)(1);
    expect(discards()).toBe(2);
    expect(sends(g.graph, "check")).toEqual([3, 0]);
    expect(sends(g.graph, "bad")).toEqual([0, 0]);
  });

  test("when it is sent to the discard channel", () => {
    const { g, filter, good, bad } = setUp();
    filter.handle((order: number) => (order > 0 ? good() : bad()))(0);
    expect(links(g.graph)).toMatchObject({ "check -discard-> bad": 1, "check -output-> good": 0 });
    expect(sends(g.graph, "bad")).toEqual([1, 0]);
  });

  test("when both happen", async () => {
    const { filter, bad, discards } = setUp();
    await filter.handle(async () => {
      await tick();
      bad();
      return false;
    })();
    expect(discards()).toBe(1);
  });

  test("when it is said, and false is given as well", () => {
    const { filter, discards } = setUp();
    filter.handle(() => {
      filter.discarded();
      return false;
    })();
    expect(discards()).toBe(1);
  });

  test("when it is said outside of any handler, as an aggregator's timeout does", () => {
    const g = integrationGraph({ app: "shop" });
    const collect = g.aggregator("collect", { discard: "late" });
    collect.discarded();
    expect(links(g.graph)).toEqual({ "collect -discard-> late": 1 });
    expect(nodeOf(g.graph, "collect").observed).toBe(true);
  });

  test("and a result of false is nothing special where the endpoint is no filter", () => {
    const g = integrationGraph({ app: "shop" });
    g.splitter("split", { discard: "bad" }).handle(() => false)();
    expect(links(g.graph)).toEqual({ "split -discard-> bad": 0 });
  });

  test("and where nothing is discarded to, there is nothing to count", () => {
    const g = integrationGraph({ app: "shop" });
    const filter = g.filter("check");
    filter.handle(() => false)();
    filter.discarded();
    expect(links(g.graph)).toEqual({});
    expect(nodeOf(g.graph, "check")).not.toHaveProperty("discards");
  });
});

describe("a failure counts once on the error link", () => {
  function setUp() {
    const g = integrationGraph({ app: "shop" });
    const pay = g.serviceActivator("pay", { input: "orders", error: "failures" });
    const fail = g.channel("failures").sender(() => {});
    return { g, pay, fail, errors: () => links(g.graph)["pay -error-> failures"] };
  }
  const no = new Error("no");

  test("when the handler throws or rejects", async () => {
    const { pay, errors } = setUp();
    await expect(pay.handle(async () => Promise.reject(no))()).rejects.toBe(no);
    const thrower = pay.handle(() => {
      throw no;
    });
    expect(thrower).toThrow(no);
    expect(errors()).toBe(2);
  });

  test("when the handler sends it to the error channel", () => {
    const { g, pay, fail, errors } = setUp();
    pay.handle(() => fail())();
    expect(errors()).toBe(1);
    expect(sends(g.graph, "pay")).toEqual([1, 0]);
  });

  test("when both happen", async () => {
    const { pay, fail, errors } = setUp();
    const handle = pay.handle(async () => {
      await tick();
      fail();
      throw no;
    });
    await expect(handle()).rejects.toBe(no);
    expect(errors()).toBe(1);
  });

  test.each(["gateway", "source"])("of a %s too", async (kind) => {
    const g = integrationGraph({ app: "shop" });
    const failing = () => Promise.reject(no);
    const fn =
      kind === "gateway"
        ? g.gateway("it", { error: "failures" }).handle(failing)
        : g.inboundChannelAdapter("it", { error: "failures" }).receiver(failing);
    await expect(fn()).rejects.toBe(no);
    expect(links(g.graph)).toEqual({ "it -error-> failures": 1 });
  });

  test("and of every endpoint that it passes through", () => {
    const g = integrationGraph({ app: "shop" });
    const inner = g.serviceActivator("inner", { error: "failures" }).handle(() => {
      throw no;
    });
    const send = g.channel("orders").sender(inner);
    const outer = g.gateway("outer", { error: "failures" }).handle(() => send());
    expect(outer).toThrow(no);
    expect(links(g.graph)).toMatchObject({ "inner -error-> failures": 1, "outer -error-> failures": 1 });
    expect(sends(g.graph, "orders")).toEqual([0, 1]);
  });
});

test("an endpoint that is declared for two inputs counts each on its own link", () => {
  const g = integrationGraph({ app: "shop" });
  const web = g.serviceActivator("pay", { input: "web-orders" }).handle(() => {});
  const mail = g.serviceActivator("pay", { input: "mail-orders" }).handle(() => {});
  web();
  mail();
  mail();
  expect(links(g.graph)).toEqual({ "web-orders -input-> pay": 1, "mail-orders -input-> pay": 2 });
  expect(nodeOf(g.graph, "pay").input).toBe("web-orders");
  expect(sends(g.graph, "pay")).toEqual([3, 0]);
});

import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { type GraphBuilder, integrationGraph } from "../../src/integration-graph/builder.ts";
import type { AnyFunction } from "../../src/integration-graph/measure.ts";
import { nodeOf, receives, sends } from "./support.ts";

const wrappers: { readonly [name: string]: (builder: GraphBuilder) => <F extends AnyFunction>(fn: F) => F } = {
  "an endpoint's handle": (g) => (fn) => g.serviceActivator("it").handle(fn),
  "a filter's handle": (g) => (fn) => g.filter("it").handle(fn),
  "a channel's sender": (g) => (fn) => g.channel("it").sender(fn),
};

describe.each(Object.entries(wrappers))("%s", (_, wrapper) => {
  const outcomes: readonly [what: string, fn: () => unknown, successes: number, failures: number][] = [
    ["a result", () => 42, 1, 0],
    ["no result", () => {}, 1, 0],
    ["a promise that is fulfilled", async () => 42, 1, 0],
    [
      "a throw",
      () => {
        throw new Error("no");
      },
      0,
      1,
    ],
    ["a promise that is rejected", async () => Promise.reject(new Error("no")), 0, 1],
    ["a rejection without an error", () => Promise.reject(undefined), 0, 1],
  ];

  test.each(outcomes)("counts %s", async (_, fn, successes, failures) => {
    const builder = integrationGraph({ app: "shop" });
    const measured = wrapper(builder)(fn);
    expect(nodeOf(builder.graph, "it").observed).toBe(true);
    await Promise.allSettled([new Promise((resolve) => resolve(measured()))]);
    expect(sends(builder.graph, "it")).toEqual([successes, failures]);
  });

  test("passes this, arguments and result through", () => {
    const measured = wrapper(integrationGraph({ app: "shop" }))(function (this: object, ...args: number[]) {
      return { self: this, args };
    });
    const self = {};
    expect(measured.call(self, 1, 2, 3)).toEqual({ self, args: [1, 2, 3] });
    expect(measured.call(self).self).toBe(self);
  });

  test("passes a promise's value and the very errors through", async () => {
    const wrap = wrapper(integrationGraph({ app: "shop" }));
    const error = new Error("no");
    expect(await wrap(async (text: string) => text.length)("four")).toBe(4);
    await expect(wrap(() => Promise.reject(error))()).rejects.toBe(error);
    expect(() =>
      wrap(() => {
        throw error;
      })(),
    ).toThrow(error);
  });

  test("keeps name, length and further properties", () => {
    const original = Object.assign(function refund(_order: string, _reason: string) {}, { retries: 3 });
    const measured = wrapper(integrationGraph({ app: "shop" }))(original);
    const { name, length, retries } = measured;
    expect({ name, length, retries }).toEqual({ name: "refund", length: 2, retries: 3 });
  });

  test.each<[kind: string, fn: (value: number) => unknown]>([
    ["an arrow function", (value) => value],
    ["a function of a script without strict mode", new Function("value", "return value") as (value: number) => number],
    ["a bound function", ((value: number) => value).bind(null)],
    ["a method", { method: (value: number) => value }.method],
    ["a proxy", new Proxy((value: number) => value, {})],
  ])("takes %s", (_, fn) => {
    expect(wrapper(integrationGraph({ app: "shop" }))(fn)(7)).toBe(7);
  });

  test("measures a generator function when it is called, and gives back its generator", () => {
    const builder = integrationGraph({ app: "shop" });
    const measured = wrapper(builder)(function* (value: number) {
      yield value;
    });
    expect([...measured(7)]).toEqual([7]);
    expect(sends(builder.graph, "it")).toEqual([1, 0]);
  });

  test("times a promise until it settles", async () => {
    const builder = integrationGraph({ app: "shop" });
    const { promise, resolve } = Promise.withResolvers<void>();
    const call = wrapper(builder)(() => promise)();
    expect(sends(builder.graph, "it")).toEqual([0, 0]);
    const before = performance.now();
    while (performance.now() - before < 2);
    resolve();
    await call;
    expect(nodeOf(builder.graph, "it").sendTimers!.successes.max).toBeGreaterThanOrEqual(2);
  });

  test("does not wait for a thenable that is no promise, and never calls its then", () => {
    const builder = integrationGraph({ app: "shop" });
    let asked = 0;
    const query = {
      // biome-ignore lint/suspicious/noThenProperty: query builders are such objects, and begin to work when asked.
      then() {
        asked++;
      },
    };
    expect(wrapper(builder)(() => query)()).toBe(query);
    expect(asked).toBe(0);
    expect(sends(builder.graph, "it")).toEqual([1, 0]);
  });

  test("keeps what a promise carries", async () => {
    const cancel = () => "cancelled";
    const measured = wrapper(integrationGraph({ app: "shop" }))(() => Object.assign(Promise.resolve(1), { cancel }));
    expect(await measured()).toBe(1);
    expect(measured().cancel()).toBe("cancelled");
  });

  test("does not touch a promise of a class of its own", async () => {
    class Query extends Promise<number> {
      static asked = 0;

      // biome-ignore lint/suspicious/noThenProperty: such classes exist, and begin to work when they are asked.
      override then<A, B>(...args: Parameters<typeof Promise.prototype.then<A, B>>): Promise<A | B> {
        Query.asked++;
        return super.then(...args);
      }
    }
    const builder = integrationGraph({ app: "shop" });
    const query = Query.reject(new Error("no"));
    expect(wrapper(builder)(() => query)()).toBe(query);
    expect(Query.asked).toBe(0);
    await expect(query).rejects.toThrow("no");
    expect(sends(builder.graph, "it")).toEqual([1, 0]);
  });

  test("lets the process learn of a rejection that nobody handles", async () => {
    const others = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    try {
      const error = new Error("nobody listens");
      const unhandled = once(process, "unhandledRejection");
      void wrapper(integrationGraph({ app: "shop" }))(async () => Promise.reject(error))();
      expect((await unhandled)[0]).toBe(error);
    } finally {
      for (const other of others) process.on("unhandledRejection", other);
    }
  });

  test("shows count, mean and max in milliseconds", () => {
    const builder = integrationGraph({ app: "shop" });
    const spin = wrapper(builder)((milliseconds: number) => {
      const end = performance.now() + milliseconds;
      while (performance.now() < end);
    });
    for (const milliseconds of [0, 0, 0, 4]) spin(milliseconds);
    const { count, mean, max } = nodeOf(builder.graph, "it").sendTimers!.successes;
    expect(count).toBe(4);
    expect(max).toBeGreaterThanOrEqual(4);
    expect(mean).toBeGreaterThanOrEqual(1);
    expect(mean).toBeLessThan(max);
  });
});

describe("receiver", () => {
  const receivers = {
    "of a pollable channel": (g: GraphBuilder) => g.pollableChannel("it"),
    "of a null channel": (g: GraphBuilder) => g.nullChannel("it"),
    "of an inbound channel adapter": (g: GraphBuilder) => g.inboundChannelAdapter("it"),
  };

  describe.each(Object.entries(receivers))("%s", (what, make) => {
    const isAdapter = what.includes("adapter");
    test.each<[result: string, fn: () => unknown, successes: number, failures: number]>([
      ["a message", () => "message", 1, 0],
      ["a promised message", async () => "message", 1, 0],
      ["a message that is falsy", () => 0, 1, 0],
      ["null", () => null, 0, 0],
      ["a promised null", async () => null, 0, 0],
      ["undefined", () => undefined, isAdapter ? 1 : 0, 0],
      ["a rejection", async () => Promise.reject(new Error("no")), 0, 1],
    ])("counts %s", async (_, fn, successes, failures) => {
      const builder = integrationGraph({ app: "shop" });
      const receive = make(builder).receiver(fn);
      await Promise.allSettled([receive()]);
      expect(receives(builder.graph, "it")).toEqual([successes, failures]);
      expect(nodeOf(builder.graph, "it").observed).toBe(true);
    });
  });
});

test("one component may measure several functions", () => {
  const builder = integrationGraph({ app: "shop" });
  const endpoint = builder.serviceActivator("it");
  endpoint.handle(() => {})();
  endpoint.handle(() => {})();
  expect(sends(builder.graph, "it")).toEqual([2, 0]);
});

test("numbers do not change the revision; beginning to take them does", () => {
  const builder = integrationGraph({ app: "shop" });
  const channel = builder.channel("it");
  const declared = builder.graph.revision;
  const send = channel.sender(() => {});
  const observed = builder.graph.revision;
  expect(observed).toBeGreaterThan(declared);
  send();
  channel.sender(() => {})();
  expect(sends(builder.graph, "it")).toEqual([2, 0]);
  expect(builder.graph.revision).toBe(observed);
});

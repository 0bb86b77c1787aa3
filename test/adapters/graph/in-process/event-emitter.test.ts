import { EventEmitter, errorMonitor, once } from "node:events";
import eventemitter2 from "eventemitter2";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { eventEmitterSource } from "../../../../src/adapters/graph/in-process/index.ts";
import { ActuatorError } from "../../../../src/common/error.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { word } from "../../../support/word.ts";
import { nodeOf, picture } from "./support.ts";

const { EventEmitter2 } = eventemitter2;

function setUp<E extends EventEmitter>(
  bus: E = new EventEmitter() as E,
  options: { readonly maxEvents?: number } = {},
) {
  const flow = integrationGraph({ app: "shop" });
  const adapter = eventEmitterSource(bus, { name: "bus", ...options });
  const detach = flow.attach(adapter);
  return { bus, flow, graph: flow.graph, adapter, detach, picture: () => picture(flow.graph) };
}

/** All that can be seen of an emitter: its own properties, and its listeners. */
function shapeOf(bus: EventEmitter) {
  const own = Reflect.ownKeys(bus).filter((key) => key !== "_events" && key !== "_eventsCount");
  return { own, events: bus.eventNames().map((event) => [event, ...bus.rawListeners(event)]) };
}

describe("the events of an emitter", () => {
  test("are drawn whole, before any and after some", async () => {
    const bus = new EventEmitter();
    bus.on("placed", function bill(order: number) {
      if (order === 3) throw new Error("no");
      bus.emit("billed", order);
    });
    bus.on("placed", async function mail(order: number) {
      await Promise.resolve();
      if (order === 2) throw new Error("no");
      bus.emit(Symbol.for("mailed"), order);
    });
    bus.once("placed", () => {});
    bus.on("billed", function book() {}.bind(undefined));
    const { graph, picture } = setUp(bus);
    bus.prependListener("billed", function first() {});
    expect(picture()).toEqual({
      nodes: {
        "emitter-event bus.placed": "0 ok, 0 failed",
        "emitter-event bus.billed": "0 ok, 0 failed",
        "listener bus.placed.bill": "0 ok, 0 failed",
        "listener bus.placed.mail": "0 ok, 0 failed",
        "listener bus.placed.listener": "0 ok, 0 failed",
        "listener bus.billed.book": "0 ok, 0 failed",
        "listener bus.billed.first": "0 ok, 0 failed",
      },
      links: {
        "emitter-event bus.placed -input-> listener bus.placed.bill": 0,
        "emitter-event bus.placed -input-> listener bus.placed.mail": 0,
        "emitter-event bus.placed -input-> listener bus.placed.listener": 0,
        "emitter-event bus.billed -input-> listener bus.billed.book": 0,
        "emitter-event bus.billed -input-> listener bus.billed.first": 0,
      },
    });

    const reasons = await rejections(async () => {
      expect(bus.emit("placed", 1)).toBe(true);
      bus.emit("placed", 2);
      expect(() => bus.emit("placed", 3)).toThrow("no");
      expect(bus.emit("nobody")).toBe(false);
    });
    expect(reasons).toEqual([new Error("no")]);
    expect(picture()).toEqual({
      nodes: {
        "emitter-event bus.placed": "2 ok, 1 failed",
        "emitter-event bus.billed": "2 ok, 0 failed",
        "emitter-event bus.nobody": "1 ok, 0 failed",
        "emitter-event bus.Symbol(mailed)": "1 ok, 0 failed",
        "listener bus.placed.bill": "2 ok, 1 failed",
        "listener bus.placed.mail": "1 ok, 1 failed",
        "listener bus.placed.listener": "1 ok, 0 failed",
        "listener bus.billed.book": "2 ok, 0 failed",
        "listener bus.billed.first": "2 ok, 0 failed",
        "gateway shop.producer": undefined,
      },
      links: {
        "gateway shop.producer -output-> emitter-event bus.placed": 3,
        "gateway shop.producer -output-> emitter-event bus.nobody": 1,
        "emitter-event bus.placed -input-> listener bus.placed.bill": 3,
        "emitter-event bus.placed -input-> listener bus.placed.mail": 2,
        "emitter-event bus.placed -input-> listener bus.placed.listener": 1,
        "emitter-event bus.billed -input-> listener bus.billed.book": 2,
        "emitter-event bus.billed -input-> listener bus.billed.first": 2,
        "listener bus.placed.bill -output-> emitter-event bus.billed": 2,
        "listener bus.placed.mail -output-> emitter-event bus.Symbol(mailed)": 1,
      },
    });
    expect(nodeOf(graph, "emitter-event bus.placed")).toMatchObject({
      key: "channel:node:shop:emitter-event:bus.placed",
      integrationPatternType: "publish_subscribe_channel",
    });
    expect(nodeOf(graph, "listener bus.placed.bill")).toMatchObject({
      key: "endpoint:shop:service_activator:bus.placed.bill",
      integrationPatternType: "service_activator",
    });
  });

  test("come to whom they came before: order, this, arguments, once, removal", () => {
    const { bus } = setUp();
    const calls: unknown[] = [];
    const listen = (name: string) =>
      Object.defineProperty(
        function (this: unknown, ...args: unknown[]) {
          calls.push([name, this === bus, ...args]);
        },
        "name",
        { value: name },
      );
    const [first, second, single, gone] = ["first", "second", "single", "gone"].map(listen) as (() => void)[];
    const heard = vi.fn();
    bus.on("removeListener", heard);
    bus
      .on("a", second!)
      .prependListener("a", first!)
      .once("a", single!)
      .addListener("a", gone!)
      .prependOnceListener("a", gone!);
    expect(bus.listeners("a")).toEqual([gone, first, second, single, gone]);
    expect(bus.listenerCount("a")).toBe(5);
    expect(bus.listenerCount("a", gone)).toBe(2);
    expect(bus.off("a", gone!)).toBe(bus);
    bus.emit("a", 1, 2, 3, 4);
    bus.emit("a");
    expect(calls).toEqual([
      ["gone", true, 1, 2, 3, 4],
      ["first", true, 1, 2, 3, 4],
      ["second", true, 1, 2, 3, 4],
      ["single", true, 1, 2, 3, 4],
      ["first", true],
      ["second", true],
    ]);
    bus.removeListener("a", first!).removeListener("a", () => {});
    bus.removeAllListeners("a");
    expect(bus.emit("a")).toBe(false);
    // As Node.js itself tells of listeners that were to be called once.
    expect(heard.mock.calls.map(([event, { listener, name }]) => [event, listener?.name ?? name])).toEqual([
      ["a", "gone"],
      ["a", "gone"],
      ["a", "single"],
      ["a", "first"],
      ["a", "second"],
    ]);
  });

  test("work with what Node.js builds on emitters", async () => {
    const { bus, picture } = setUp();
    const arrived = once(bus, "ready");
    bus.emit("ready", 1);
    expect(await arrived).toEqual([1]);
    const aborted = new AbortController();
    const waiting = once(bus, "ready", { signal: aborted.signal });
    aborted.abort();
    await expect(waiting).rejects.toThrow("aborted");
    expect(bus.eventNames()).toEqual([]);
    expect(picture().nodes["emitter-event bus.ready"]).toBe("1 ok, 0 failed");
  });

  test("keep the meaning of an error", () => {
    const { bus, picture } = setUp();
    const error = new Error("broken");
    const monitor = vi.fn();
    bus.on(errorMonitor, monitor);
    expect(() => bus.emit("error", error)).toThrow(error);
    bus.on("error", function report() {});
    expect(bus.emit("error", error)).toBe(true);
    expect(monitor).toHaveBeenCalledTimes(2);
    expect(picture().nodes).toEqual({
      "emitter-event bus.error": "1 ok, 1 failed",
      "listener bus.error.report": "1 ok, 0 failed",
      "gateway shop.producer": undefined,
    });
  });

  test("capture rejections where the application asked for that", async () => {
    const { bus, picture } = setUp(new EventEmitter({ captureRejections: true }));
    const failed = once(bus, "error").catch((error) => [error]);
    bus.on("a", async function fail() {
      throw new Error("captured");
    });
    bus.emit("a");
    expect(await failed).toEqual([new Error("captured")]);
    expect(picture().nodes["listener bus.a.fail"]).toBe("0 ok, 1 failed");
  });

  test("with ids in their names are one, and take one place of the limit", () => {
    const { bus, picture } = setUp(undefined, { maxEvents: 21 });
    bus.on("order-7", function handle() {});
    for (let order = 0; order < 3_000; order++) bus.emit(`order-${order}`);
    for (const event of "abcdefghijklmnopqr") bus.emit(event);
    const { nodes } = picture();
    expect(nodes).toMatchObject({
      "emitter-event bus.order-*": "3000 ok, 0 failed",
      "listener bus.order-*.handle": "1 ok, 0 failed",
      "emitter-event bus.r": "1 ok, 0 failed",
    });
    expect(nodes).not.toHaveProperty("emitter-event bus.*");
  });

  test("are bounded: those beyond the limit are one", () => {
    const { bus, picture } = setUp(undefined, { maxEvents: 2 });
    bus.on("a", function handle() {});
    for (let order = 0; order < 3_000; order++) bus.emit(`order-${word(order)}`);
    bus.on("late", function handle() {});
    bus.emit("late");
    bus.emit("a");
    expect(picture().nodes).toEqual({
      "emitter-event bus.a": "1 ok, 0 failed",
      "emitter-event bus.order-a": "1 ok, 0 failed",
      "emitter-event bus.*": "3000 ok, 0 failed",
      "listener bus.a.handle": "1 ok, 0 failed",
      "listener bus.*.handle": "1 ok, 0 failed",
      "gateway shop.producer": undefined,
    });
  });

  test("with made-up names are one", () => {
    const { bus, picture } = setUp();
    for (let run = 0; run < 5; run++) bus.emit(`done:${crypto.randomUUID()}`);
    expect(picture().nodes["emitter-event bus.done:*"]).toBe("5 ok, 0 failed");
  });

  test("lose the listeners that are gone at a rebuild, and only those", async () => {
    const { bus, graph, picture } = setUp();
    const stay = () => {};
    bus.on("a", stay).once("a", function single() {});
    bus.emit("a");
    expect(picture().nodes["listener bus.a.single"]).toBe("1 ok, 0 failed");
    await graph.rebuild();
    expect(Object.keys(picture().nodes)).toEqual([
      "emitter-event bus.a",
      "listener bus.a.stay",
      "gateway shop.producer",
    ]);
    bus.off("a", stay);
    await graph.rebuild();
    expect(Object.keys(picture().nodes)).toEqual(["emitter-event bus.a", "gateway shop.producer"]);
    bus.on("a", stay);
    bus.emit("a");
    expect(picture().nodes["listener bus.a.stay"]).toBe("1 ok, 0 failed");
  });

  test("of several emitters of one name are one", () => {
    const { bus, adapter, picture } = setUp();
    const other = adapter.watch(new EventEmitter());
    for (const emitter of [bus, other]) emitter.on("a", function handle() {}).emit("a");
    expect(picture().nodes["listener bus.a.handle"]).toBe("2 ok, 0 failed");
  });
});

describe("detach", () => {
  test("leaves an emitter as it was", () => {
    const bus = new EventEmitter();
    const [stay, single] = [vi.fn(), vi.fn()];
    bus.on("a", stay).once("a", single).on("b", stay);
    const before = shapeOf(bus);
    const { detach, picture } = setUp(bus);
    expect(shapeOf(bus)).not.toEqual(before);
    const added = vi.fn();
    bus.on("c", added);
    detach();
    detach();
    expect(shapeOf(bus)).toEqual({ ...before, events: [...before.events, ["c", added]] });
    expect(picture()).toEqual({ nodes: {}, links: {} });
    bus.emit("a");
    bus.emit("a");
    expect([stay.mock.calls.length, single.mock.calls.length]).toEqual([2, 1]);
  });

  test("leaves what somebody else put around the methods since", () => {
    const { bus, detach, picture } = setUp();
    const emit = bus.emit;
    const events: unknown[] = [];
    bus.emit = function (...args: Parameters<typeof emit>) {
      events.push(args[0]);
      return emit.apply(this, args);
    };
    detach();
    const listener = vi.fn();
    bus.on("a", listener);
    bus.emit("a");
    expect(events).toEqual(["a"]);
    expect(listener).toHaveBeenCalledOnce();
    expect(picture()).toEqual({ nodes: {}, links: {} });
  });

  test("lets an emitter be attached again, which it cannot be twice", () => {
    const { bus, flow, adapter, detach } = setUp();
    expect(() => adapter.watch(bus)).toThrow("this emitter is watched already");
    expect(() => flow.attach(eventEmitterSource(bus, { name: "other" }))).toThrow(ActuatorError);
    expect(() => flow.attach(adapter)).toThrow("this eventEmitterSource() is attached already");
    detach();
    flow.attach(eventEmitterSource(bus, { name: "other" }));
    bus.emit("a");
    expect(picture(flow.graph).nodes["emitter-event other.a"]).toBe("1 ok, 0 failed");
  });
});

test.each([
  ["no emitter", () => eventEmitterSource({} as EventEmitter, { name: "bus" })],
  ["an EventTarget", () => eventEmitterSource(new EventTarget() as unknown as EventEmitter, { name: "bus" })],
  ["no name", () => eventEmitterSource(new EventEmitter(), { name: "" })],
  ["no limit", () => eventEmitterSource(new EventEmitter(), { name: "bus", maxEvents: 0 })],
])("refuses %s", (_, act) => {
  expect(act).toThrow(ActuatorError);
});

describe.each([false, true])("EventEmitter2, wildcard %s", (wildcard) => {
  test("is drawn whole, and left as it was", async () => {
    const bus = new EventEmitter2({ wildcard });
    let heard = 0;
    function early() {
      heard++;
    }
    bus.on("order.placed", early);
    const flow = integrationGraph({ app: "shop" });
    const detach = flow.attach(eventEmitterSource(bus, { name: "bus" }));
    const any = () => {};
    bus.on("order.*", any);
    const single = vi.fn();
    bus.once("order.placed", function once() {
      single();
    });
    bus.emit("order.placed", 1);
    await bus.emitAsync("order.placed", 2);
    bus.emit(wildcard ? (["other", "event"] as unknown as string) : "other.event");
    expect(picture(flow.graph)).toEqual({
      nodes: {
        "emitter-event bus.order.placed": "2 ok, 0 failed",
        "emitter-event bus.order.*": "0 ok, 0 failed",
        "emitter-event bus.other.event": "1 ok, 0 failed",
        "listener bus.order.placed.early": "2 ok, 0 failed",
        "listener bus.order.placed.once": "1 ok, 0 failed",
        "listener bus.order.*.any": wildcard ? "2 ok, 0 failed" : "0 ok, 0 failed",
        "gateway shop.producer": undefined,
      },
      links: {
        "emitter-event bus.order.placed -input-> listener bus.order.placed.early": 2,
        "emitter-event bus.order.placed -input-> listener bus.order.placed.once": 1,
        "emitter-event bus.order.* -input-> listener bus.order.*.any": wildcard ? 2 : 0,
        ...(wildcard ? { "emitter-event bus.order.placed -route-> emitter-event bus.order.*": 2 } : {}),
        "gateway shop.producer -output-> emitter-event bus.order.placed": 2,
        "gateway shop.producer -output-> emitter-event bus.other.event": 1,
      },
    });
    expect([heard, single.mock.calls.length]).toEqual([2, 1]);
    detach();
    expect(bus.listeners("order.placed")).toEqual(wildcard ? [early, any] : [early]);
    expect(Object.hasOwn(bus, "emit")).toBe(false);
    bus.off("order.placed", early);
    expect(bus.emit("order.placed")).toBe(wildcard);
  });
});

/** What nobody caught while `act` ran, and the microtasks and timers after it. */
async function rejections(act: () => Promise<void>): Promise<unknown[]> {
  const others = process.listeners("unhandledRejection");
  const reasons: unknown[] = [];
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (reason) => reasons.push(reason));
  await act();
  await new Promise((resolve) => setImmediate(resolve));
  process.removeAllListeners("unhandledRejection");
  for (const other of others) process.on("unhandledRejection", other);
  return reasons;
}

describe("the time of an event", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const means = ({ graph }: ReturnType<typeof setUp>) =>
    Object.fromEntries(
      graph.snapshot().nodes.flatMap(({ name, sendTimers }) => {
        if (sendTimers === undefined) return [];
        const { successes, failures } = sendTimers;
        return [[name, successes.mean], ...(failures.count > 0 ? [[`${name} failed`, failures.mean]] : [])];
      }),
    );

  test("is that of its listeners, each from the end of the one before it", () => {
    const bus = new EventEmitter();
    bus.on("placed", function bill() {
      vi.advanceTimersByTime(10);
    });
    bus.on("placed", function mail() {
      bus.emit("mailed");
      vi.advanceTimersByTime(20);
      bus.emit("mailed");
    });
    bus.on("mailed", function note() {
      vi.advanceTimersByTime(4);
    });
    const all = setUp(bus);
    for (let round = 0; round < 2; round++) {
      bus.emit("placed");
      vi.advanceTimersByTime(100);
    }
    expect(means(all)).toEqual({
      "bus.placed": 38,
      "bus.placed.bill": 10,
      "bus.placed.mail": 28,
      "bus.mailed": 4,
      "bus.mailed.note": 4,
    });
  });

  test("ends when a listener has returned a promise, and that listener's when it is settled", async () => {
    const bus = new EventEmitter();
    const { promise, resolve } = Promise.withResolvers<void>();
    bus.on("placed", function bill() {
      vi.advanceTimersByTime(10);
      return promise;
    });
    bus.on("placed", function mail() {
      vi.advanceTimersByTime(20);
    });
    const all = setUp(bus);
    bus.emit("placed");
    vi.advanceTimersByTime(100);
    resolve();
    await promise;
    expect(means(all)).toEqual({ "bus.placed": 30, "bus.placed.bill": 130, "bus.placed.mail": 20 });
  });

  test("is whole if a listener throws", () => {
    const bus = new EventEmitter();
    bus.on("placed", function bill() {
      vi.advanceTimersByTime(10);
    });
    bus.on("placed", function mail() {
      vi.advanceTimersByTime(20);
      throw new Error("no");
    });
    const all = setUp(bus);
    expect(() => bus.emit("placed")).toThrow("no");
    expect(means(all)).toMatchObject({ "bus.placed failed": 30, "bus.placed.bill": 10, "bus.placed.mail failed": 20 });
  });

  test("does not make listeners slow where `emit` is the application's own", () => {
    class Audited extends EventEmitter {
      override emit(event: string): boolean {
        vi.advanceTimersByTime(5);
        const heard = super.emit(event);
        vi.advanceTimersByTime(6);
        return heard;
      }
    }
    const bus = new Audited();
    bus.on("placed", function bill() {
      vi.advanceTimersByTime(10);
    });
    const all = setUp(bus);
    bus.emit("placed");
    expect(means(all)).toEqual({ "bus.placed": 21, "bus.placed.bill": 10 });
  });

  test("has that of listeners that are not measured", () => {
    const all = setUp();
    EventEmitter.prototype.on.call(all.bus, "placed", () => vi.advanceTimersByTime(10));
    all.bus.emit("placed");
    expect(means(all)).toEqual({ "bus.placed": 10 });
  });
});

import { describe, expect, test } from "vitest";
import { ActuatorError } from "../../src/common/error.ts";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import type { Properties } from "../../src/integration-graph/properties.ts";
import { links, nodeOf, sends } from "./support.ts";

describe("a name", () => {
  test.each<[what: string, name: unknown]>([
    ["empty", ""],
    ["longer than 256", "a".repeat(257)],
    ["with a line break", "a\nb"],
    ["with a null character", "a\0b"],
    ["with a lone surrogate", "a\ud800"],
    ["a number", 42],
    ["missing", undefined],
  ])("that is %s is refused", (_, name) => {
    const g = integrationGraph({ app: "shop" });
    expect(() => g.channel(name as string)).toThrow(ActuatorError);
    expect(() => g.splitter("s", { output: [name as string] })).toThrow(ActuatorError);
    if (name !== undefined) expect(() => g.filter("f", { input: name as string })).toThrow(ActuatorError);
    expect(() => integrationGraph({ app: name as string })).toThrow(ActuatorError);
    expect(g.graph.snapshot().nodes).toEqual([]);
  });

  test.each(["__proto__", "constructor", "42", " ", "POST /orders", "a".repeat(256), "Bestellungen ✓", "a:b"])(
    "may be %j",
    (name) => {
      const g = integrationGraph({ app: "shop" });
      g.serviceActivator("it", { input: name });
      expect(nodeOf(g.graph, name).name).toBe(name);
      expect(nodeOf(g.graph, "it").input).toBe(name);
    },
  );

  test.each([
    ["amqp://user:pass@broker:5672/vhost", "amqp://broker:5672/vhost"],
    ["to redis://:secret@cache/0 and kafka://k", "to redis://cache/0 and kafka://k"],
    ["https://user:p@ss@host/path@2", "https://host/path@2"],
    ["https://host/hook?token=abc&room=1", "https://host/hook?token=***&room=1"],
    ["https://host/q?x=1&X-Amz-Signature=abc", "https://host/q?x=1&X-Amz-Signature=***"],
    ["mailto:somebody@example.org", "mailto:somebody@example.org"],
  ])("that is %j is shown as %j", (name, shown) => {
    const g = integrationGraph({ app: "shop" });
    g.serviceActivator("it", { input: name, componentType: "http-consumer", properties: { url: name } });
    expect(nodeOf(g.graph, "it")).toMatchObject({ input: shown, properties: { url: shown } });
    expect(nodeOf(g.graph, shown).name).toBe(shown);
    expect(g.graph.find(shown)!.key).toBe(`channel:${shown}`);
  });
});

describe("properties", () => {
  const shown = (properties: unknown) => {
    const g = integrationGraph({ app: "shop" });
    g.channel("it", { properties: properties as Properties });
    return nodeOf(g.graph, "it").properties;
  };

  test("are JSON values of any kind", () => {
    const properties = { a: null, b: true, c: -1.5, d: "text", e: [1, ["two"], {}], f: { g: { h: false } } };
    expect(shown(properties)).toEqual(properties);
  });

  test("are a copy that nobody changes", () => {
    const given = { list: [1], object: { a: 1 } };
    const g = integrationGraph({ app: "shop" });
    g.channel("it", { properties: given });
    given.list.push(2);
    given.object.a = 2;
    const { properties } = nodeOf(g.graph, "it");
    expect(properties).toEqual({ list: [1], object: { a: 1 } });
    expect(() => Object.assign(properties, { list: [] })).toThrow(TypeError);
    expect(() => (properties.list as number[]).push(3)).toThrow(TypeError);
  });

  test("leave out what is undefined", () => {
    expect(shown({ a: undefined, b: { c: undefined } })).toEqual({ b: {} });
  });

  test("may be called anything", () => {
    expect(Object.entries(shown(JSON.parse('{"__proto__":{"x":1},"constructor":2,"toString":3}')))).toEqual([
      ["__proto__", { x: 1 }],
      ["constructor", 2],
      ["toString", 3],
    ]);
  });

  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const deep = JSON.parse(`${'{"a":'.repeat(9)}1${"}".repeat(9)}`);
  test.each<[what: string, properties: unknown, message: RegExp]>([
    ["NaN", { a: { b: [Number.NaN] } }, /^properties\.a\.b\[0\] must be a finite number$/],
    ["infinity", { a: Number.NEGATIVE_INFINITY }, /finite/],
    ["a bigint", { a: 1n }, /^properties\.a must be a JSON value$/],
    ["a function", { a: () => {} }, /JSON/],
    ["a symbol", { a: Symbol("a") }, /JSON/],
    ["a date", { a: new Date() }, /JSON/],
    ["a buffer", { a: Buffer.from("payload") }, /JSON/],
    ["a map", { a: new Map() }, /JSON/],
    ["a hole", { a: [undefined] }, /^properties\.a\[0\] must be a JSON value$/],
    ["an object of a class", new (class Message {})(), /plain object/],
    ["a list", [], /plain object/],
    ["null", null, /plain object/],
    ["a cycle", cycle, /nested deeper than 8/],
    ["too many levels", deep, /nested deeper than 8/],
    ["too much text", { a: "x".repeat(20_000) }, /larger than 16384/],
    ["too many members", { a: Array.from({ length: 20_000 }, () => null) }, /larger than 16384/],
  ])("with %s are refused", (_, properties, message) => {
    expect(() => shown(properties)).toThrow(message);
  });

  test("of 8 levels are taken", () => {
    expect(shown(deep.a)).toEqual(deep.a);
  });

  test("that name a credential are masked", () => {
    expect(
      shown({ password: "a", accessToken: "b", "client-secret": "c", api_key: "d", broker: { Authorization: "e" } }),
    ).toEqual({
      password: "***",
      accessToken: "***",
      "client-secret": "***",
      api_key: "***",
      broker: { Authorization: "***" },
    });
    expect(shown({ password: ["a", { b: ["c", 5, true, null] }], authorization: { bearer: "d" } })).toEqual({
      password: ["***", { b: ["***", 5, true, null] }],
      authorization: { bearer: "***" },
    });
    expect(shown({ maxTokens: 5, token: 5, tokens: "x", key: "orders" })).toEqual({
      maxTokens: 5,
      token: 5,
      tokens: "x",
      key: "orders",
    });
  });
});

test.each(["Kafka", "kafka consumer", "-a", "a-", "", "a\n", "a".repeat(300)])(
  "the component type %j is refused",
  (componentType) => {
    const g = integrationGraph({ app: "shop" });
    expect(() => g.channel("it", { componentType })).toThrow(ActuatorError);
    expect(() => g.chain("it", { handlers: [{ name: "a", type: componentType }] })).toThrow(ActuatorError);
  },
);

describe("a second declaration of a name", () => {
  test("merges with the first", () => {
    const g = integrationGraph({ app: "shop" });
    const first = g.filter("check", { input: "a", output: "b", properties: { x: 1, y: 1 } });
    const second = g.filter("check", { discard: "c", componentType: "fraud-check", properties: { y: 2 } });
    first.handle(() => {})();
    second.handle(() => {})();
    expect(nodeOf(g.graph, "check")).toMatchObject({
      componentType: "fraud-check",
      properties: { x: 1, y: 2 },
      input: "a",
      output: "b",
      discards: "c",
    });
    expect(sends(g.graph, "check")).toEqual([2, 0]);
    expect(links(g.graph)).toEqual({ "a -input-> check": 1, "check -output-> b": 0, "check -discard-> c": 0 });
  });

  test("that says nothing new changes nothing", () => {
    const g = integrationGraph({ app: "shop" });
    const declare = () => g.router("r", { input: "a", routes: ["b", "c"], properties: { list: [1] } });
    declare();
    const { revision } = g.graph;
    declare();
    expect(g.graph.revision).toBe(revision);
  });

  test("cannot grow the properties without end", () => {
    const g = integrationGraph({ app: "shop" });
    const text = "x".repeat(9_000);
    g.channel("it", { properties: { a: text } });
    expect(() => g.channel("it", { properties: { b: text } })).toThrow("larger than");
  });

  test("with another pattern is refused, and names both", () => {
    const g = integrationGraph({ app: "shop" });
    g.filter("check", { input: "a" });
    g.publishSubscribeChannel("events");
    expect(() => g.router("check")).toThrow('"check" cannot be a router: it is a filter already');
    expect(() => g.channel("check")).toThrow('"check" cannot be a message_channel: it is a filter already');
    expect(() => g.channel("events")).toThrow("it is a publish_subscribe_channel already");
    expect(() => g.bridge("a")).toThrow('"a" cannot be a bridge: it is a message_channel already');
    expect(() => g.bridge("b", { input: "check" })).toThrow('"check" is a filter and cannot be used as a channel');
    expect(nodeOf(g.graph, "check").integrationPatternType).toBe("filter");
  });
});

test("a channel that was only referred to takes the pattern it is declared with later", () => {
  const g = integrationGraph({ app: "shop" });
  g.serviceActivator("s", { input: "events" });
  const { nodeId } = nodeOf(g.graph, "events");
  const { revision } = g.graph;
  g.publishSubscribeChannel("events", { properties: { partitions: 3 } });
  expect(nodeOf(g.graph, "events")).toMatchObject({
    nodeId,
    integrationPatternType: "publish_subscribe_channel",
    componentType: "publish-subscribe-channel",
    properties: { partitions: 3 },
  });
  expect(g.graph.revision).toBeGreaterThan(revision);
  expect(links(g.graph)).toEqual({ "events -input-> s": 0 });
});

test("several outputs are all linked, and the node names the first", () => {
  const g = integrationGraph({ app: "shop" });
  g.serviceActivator("s", { output: ["a", g.channel("b")] });
  expect(nodeOf(g.graph, "s").output).toBe("a");
  expect(links(g.graph)).toEqual({ "s -output-> a": 0, "s -output-> b": 0 });
});

test("routes are a list or the values of an object", () => {
  const g = integrationGraph({ app: "shop" });
  const eu = g.channel("eu");
  g.router("one", { routes: { eu, elsewhere: "world" } });
  g.router("two", { routes: [eu, "world"] });
  expect(nodeOf(g.graph, "one").routes).toEqual(["eu", "world"]);
  expect(nodeOf(g.graph, "two").routes).toEqual(["eu", "world"]);
});

describe("remove", () => {
  test("takes a channel out with its links and with the fields that name it", () => {
    const g = integrationGraph({ app: "shop" });
    const events = g.channel("events");
    g.filter("f", { input: events, output: "out", discard: events, error: events });
    const before = g.graph.revision;
    events.remove();
    expect(links(g.graph)).toEqual({ "f -output-> out": 0 });
    const filter = nodeOf(g.graph, "f");
    expect(filter).toMatchObject({ output: "out" });
    for (const field of ["input", "discards", "errors"]) expect(filter).not.toHaveProperty(field);
    expect(g.graph.revision).toBeGreaterThan(before);
    expect(g.graph.find("events")).toBeUndefined();
  });

  test("leaves measured functions working, unseen", () => {
    const g = integrationGraph({ app: "shop" });
    const channel = g.channel("c");
    const endpoint = g.serviceActivator("e", { input: "in" });
    const send = channel.sender(() => "sent");
    const handle = endpoint.handle(() => send());
    channel.remove();
    endpoint.remove();
    const { revision } = g.graph;
    expect(handle()).toBe("sent");
    expect(links(g.graph)).toEqual({});
    channel.remove();
    expect(g.graph.revision).toBe(revision);
  });

  test("and a new declaration gives the same id, with new numbers and another pattern if so wanted", () => {
    const g = integrationGraph({ app: "shop" });
    const before = g.channel("c");
    before.sender(() => {})();
    before.remove();
    const after = g.pollableChannel("c");
    expect(after.node.id).toBe(before.node.id);
    expect(sends(g.graph, "c")).toEqual([0, 0]);
    before.remove();
    expect(nodeOf(g.graph, "c").integrationPatternType).toBe("pollable_channel");
  });
});

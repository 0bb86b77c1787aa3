import { expect, expectTypeOf, test } from "vitest";
import { ActuatorError } from "../../src/common/error.ts";
import { integrationGraph } from "../../src/integration-graph/builder.ts";

// What the compiler refuses is marked; `tsc` fails where it does not. At run time the same is refused.
const refused = (declare: () => unknown) => expect(declare).toThrow(ActuatorError);

test("error, discard, routes and handlers exist only where the pattern has them", () => {
  const g = integrationGraph({ app: "shop" });
  // @ts-expect-error: a channel has no error channel.
  refused(() => g.channel("c", { error: "failures" }));
  // @ts-expect-error: a channel reads no channel.
  refused(() => g.pollableChannel("c", { input: "orders" }));
  // @ts-expect-error: a service activator discards nothing.
  refused(() => g.serviceActivator("s", { discard: "bad" }));
  // @ts-expect-error: a filter chooses no route.
  refused(() => g.filter("f", { routes: ["eu"] }));
  // @ts-expect-error: a router discards nothing.
  refused(() => g.router("r", { discard: "bad" }));
  // @ts-expect-error: a gateway is an entrance.
  refused(() => g.gateway("g", { input: "orders" }));
  // @ts-expect-error: an inbound channel adapter is an entrance.
  refused(() => g.inboundChannelAdapter("i", { input: "orders" }));
  // @ts-expect-error: an outbound channel adapter is an exit.
  refused(() => g.outboundChannelAdapter("o", { output: "orders" }));
  // @ts-expect-error: no messages flow through a message store.
  refused(() => g.messageStore("m", { input: "orders" }));
  // @ts-expect-error: the application needs a name.
  refused(() => integrationGraph({}));
  // @ts-expect-error: a router's only output is its default.
  g.router("r2", { output: "parked" });
  // @ts-expect-error: only a chain has members.
  g.serviceActivator("s2", { handlers: [] });
  // @ts-expect-error: only a filter and its like discard.
  expect(g.serviceActivator("s").discarded).toBeUndefined();
  // @ts-expect-error: nothing is taken out of a channel that hands its messages on.
  expect(g.channel("c").receiver).toBeUndefined();
  // @ts-expect-error: a channel handles nothing.
  expect(g.channel("c").handle).toBeUndefined();
  // @ts-expect-error: a source brings messages in.
  expect(g.inboundChannelAdapter("i").handle).toBeUndefined();
  // @ts-expect-error: a message store is only declared.
  expect(g.messageStore("m").handle).toBeUndefined();
  // @ts-expect-error: properties are JSON.
  refused(() => g.channel("c", { properties: { since: new Date() } }));
});

test("a measured function has the type of the function", async () => {
  const g = integrationGraph({ app: "shop" });
  const endpoint = g.serviceActivator("s");

  const length = endpoint.handle(async (text: string, _times?: number) => text.length);
  expectTypeOf(length).toEqualTypeOf<(text: string, _times?: number) => Promise<number>>();
  expect(await length("four")).toBe(4);

  const identity = g.channel("c").sender(<T>(value: T): T => value);
  expectTypeOf(identity("text")).toEqualTypeOf<string>();
  expect(identity("text")).toBe("text");

  const add = endpoint.handle(function (this: { base: number }, value: number) {
    return this.base + value;
  });
  expectTypeOf(add).thisParameter.toEqualTypeOf<{ base: number }>();
  expect(add.call({ base: 1 }, 2)).toBe(3);

  function twice(value: string): string;
  function twice(value: number): number;
  function twice(value: string | number) {
    return typeof value === "string" ? value + value : value * 2;
  }
  const both = endpoint.handle(twice);
  expectTypeOf(both).toEqualTypeOf(twice);
  expect([both("a"), both(2)]).toEqual(["aa", 4]);
});

test("a handler that is written where a library wants its callback takes the library's types", async () => {
  const g = integrationGraph({ app: "shop" });
  function run(consumer: { eachMessage: (payload: { message: { value: string } }) => Promise<void> }) {
    return consumer.eachMessage({ message: { value: "order" } });
  }
  let seen = "";
  await run({
    eachMessage: g.serviceActivator("s").handle(async ({ message }) => {
      expectTypeOf(message).toEqualTypeOf<{ value: string }>();
      seen = message.value;
    }),
  });
  expect(seen).toBe("order");
});

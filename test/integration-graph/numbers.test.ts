import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import { Counter, Rate, Timer } from "../../src/integration-graph/statistics.ts";
import { nodeOf } from "./support.ts";

const minute = 60_000;
/** What a message of `age` milliseconds ago adds to a rate, in messages a second. */
const weight = (age: number) => Math.exp(-age / minute) / (minute / 1_000);

describe("a rate", () => {
  test("is the sum of the weights of all messages, which fall by e each minute", () => {
    const messages = fc.array(
      fc.record({ at: fc.integer({ min: 0, max: 300_000 }), count: fc.integer({ min: 1, max: 50 }) }),
    );
    fc.assert(
      fc.property(messages, fc.integer({ min: 300_000, max: 400_000 }), (messages, now) => {
        const rate = new Rate();
        for (const { at, count } of messages) rate.record(at, count);
        const expected = messages.reduce((sum, { at, count }) => sum + count * weight(now - at), 0);
        expect(rate.at(now)).toBeCloseTo(expected < 0.001 ? 0 : expected, 4);
      }),
    );
  });

  test.each([
    [60_000, 6.3, 6.4],
    [600_000, 9.9, 10.1],
  ])("of ten messages a second for %d ms is between %d and %d", (duration, low, high) => {
    const rate = new Rate();
    for (let at = 0; at <= duration; at += 100) rate.record(at, 1);
    expect(rate.at(duration)).toBeGreaterThan(low);
    expect(rate.at(duration)).toBeLessThan(high);
  });

  test("comes to rest", () => {
    const rate = new Rate();
    rate.record(0, 1);
    expect(rate.at(minute)).toBeCloseTo(weight(minute), 9);
    expect(rate.at(60 * minute)).toBe(0);
  });
});

const outcomes = fc.array(fc.tuple(fc.nat(1_000), fc.nat(100), fc.integer({ min: 1, max: 9 })));

test("a timer of several messages at once is one of each of them", () => {
  fc.assert(
    fc.property(outcomes, (outcomes) => {
      const [together, single] = [new Timer(), new Timer()];
      for (const [start, duration, count] of outcomes) {
        together.record(start, start + duration, count);
        for (let index = 0; index < count; index++) single.record(start, start + duration);
      }
      expect(together.snapshot()).toEqual(single.snapshot());
      expect(together.rate(2_000)).toBeCloseTo(single.rate(2_000), 5);
      expect(together.last).toBe(single.last);
    }),
  );
});

test("what two timers or counters recorded is what one records of both", () => {
  fc.assert(
    fc.property(outcomes, outcomes, (one, other) => {
      const timers = [new Timer(), new Timer(), new Timer()] as const;
      const counters = [new Counter(), new Counter(), new Counter()] as const;
      for (const [at, outcomes] of [one, other].entries()) {
        for (const [start, duration, count] of outcomes) {
          for (const to of [at, 2] as const) {
            timers[to as 0 | 1 | 2].record(start, start + duration, count);
            counters[to as 0 | 1 | 2].record(start + duration, count);
          }
        }
      }
      timers[0].absorb(timers[1]);
      counters[0].absorb(counters[1]);
      expect(timers[0].snapshot().count).toBe(timers[2].snapshot().count);
      expect(timers[0].snapshot().mean).toBeCloseTo(timers[2].snapshot().mean, 9);
      expect(timers[0].snapshot().max).toBe(timers[2].snapshot().max);
      expect(timers[0].rate(2_000)).toBeCloseTo(timers[2].rate(2_000), 5);
      expect([counters[0].snapshot(), counters[0].last]).toEqual([counters[2].snapshot(), counters[2].last]);
    }),
  );
});

describe("when a message was last seen", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test("is a time of day, the same in every snapshot, and nothing where none was", () => {
    const g = integrationGraph({ app: "shop" });
    const send = g.channel("orders").sender(() => {});
    expect(nodeOf(g.graph, "orders")).not.toHaveProperty("lastSeenTime");
    expect(nodeOf(g.graph, "orders").rate).toBe(0);
    const before = Date.now();
    send();
    const { lastSeenTime, rate } = nodeOf(g.graph, "orders");
    expect(Math.abs(lastSeenTime! - before)).toBeLessThan(1_500);
    expect(rate).toBeCloseTo(1 / 60, 3);
    expect(nodeOf(g.graph, "orders").lastSeenTime).toBe(lastSeenTime);
  });

  test("follows a clock that is set", () => {
    const g = integrationGraph({ app: "shop" });
    g.channel("orders").sender(() => {})();
    const { lastSeenTime } = nodeOf(g.graph, "orders");
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(nodeOf(g.graph, "orders").lastSeenTime! - lastSeenTime!).toBeGreaterThan(3_599_000);
  });
});

test("a message that is put into a channel and taken out again is one message of its rate", () => {
  const g = integrationGraph({ app: "shop" });
  const channel = g.pollableChannel("orders");
  const [send, receive] = [channel.sender(() => {}), channel.receiver(() => "message")];
  for (let index = 0; index < 6; index++) {
    send();
    receive();
  }
  expect(nodeOf(g.graph, "orders").rate).toBeCloseTo(0.1, 3);
});

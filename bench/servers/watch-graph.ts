/**
 * An actuator over a graph of 2,000 nodes and 4,000 links. Each message says at how many of its filters a message arrives each
 * second, and for how long; the answer is the processor time that it took.
 */
import { createActuator, integrationGraph } from "../../src/index.ts";

/** What goes on meanwhile. */
export interface Traffic {
  readonly filters: number;
  readonly seconds: number;
}

/** What it cost: processor time in µs, the longest time without a turn in milliseconds. */
export interface TrafficCost {
  readonly cpu: number;
  readonly stall: number;
}

const flow = integrationGraph({ app: "bench" });
const name = (index: number) => `orders.region-${index % 1_000}.incoming`;
const handlers = Array.from({ length: 1_000 }, (_, index) => {
  const send = flow.channel(name(index + 1)).sender(() => {});
  const filter = flow.filter(`orders.region-${index}.check`, {
    input: name(index),
    output: name(index + 1),
    discard: name(index + 2),
    error: name(index + 3),
    properties: { expression: "payload.total > 0" },
  });
  return filter.handle(() => send());
});
const actuator = createActuator({ integrationGraph: flow });
const { port } = await actuator.listen({ port: 0 });

let last = performance.now();
let stall = 0;
setInterval(() => {
  const now = performance.now();
  stall = Math.max(stall, now - last);
  last = now;
}, 5);

process.on("message", async ({ filters, seconds }: Traffic) => {
  const before = process.cpuUsage();
  stall = 0;
  for (let second = 0; second < seconds; second++) {
    for (let index = 0; index < filters; index++) handlers[index]!();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  const { user, system } = process.cpuUsage(before);
  process.send!({ cpu: user + system, stall } satisfies TrafficCost);
});
process.on("disconnect", () => process.exit());
process.send!({ port });

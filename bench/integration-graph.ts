/**
 * What measuring costs a message, beside the same functions bare: a handler that sends to one channel.
 *
 * Then a snapshot of 2,000 nodes and 4,000 links with its JSON, beside the JSON alone. Rounds alternate between the two
 * sides, so that both meet the same machine; ratios are of the medians within one run.
 */
import { integrationGraph } from "../src/integration-graph/builder.ts";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";

const rounds = 31;

interface Side {
  readonly name: string;
  /** One round; nanoseconds for each of its operations. */
  readonly round: () => number | Promise<number>;
}

/** The median of each side's rounds, in nanoseconds. */
async function alternate(sides: readonly Side[]): Promise<number[]> {
  const times = sides.map((): number[] => []);
  for (let round = -6; round < rounds; round++) {
    for (const [index, side] of sides.entries()) {
      const time = await side.round();
      if (round >= 0) times[index]!.push(time);
    }
  }
  return times.map(median);
}

interface Message {
  readonly value: number;
}

const text = "x".repeat(200);
let sink = 0;
const receive = (message: Message) => {
  sink += message.value;
};

/** Rounds of messages that are handled one after the other. Each side has a loop of its own: no call site is shared. */
function messages(name: string, handle: (message: Message) => unknown, count: number): Side {
  const loop = new Function("handle", "message", "count", "for (let i = 0; i < count; i++) handle(message)");
  const message = { value: 1 };
  return {
    name,
    round() {
      const start = process.hrtime.bigint();
      loop(handle, message, count);
      return Number(process.hrtime.bigint() - start) / count;
    },
  };
}

/** The same where every message is awaited. */
function awaitedMessages(name: string, handle: (message: Message) => Promise<unknown>, count: number): Side {
  const AsyncFunction = (async () => {}).constructor as typeof Function;
  const loop = new AsyncFunction("handle", "message", "count", "for (let i = 0; i < count; i++) await handle(message)");
  const message = { value: 1 };
  return {
    name,
    async round() {
      const start = process.hrtime.bigint();
      await loop(handle, message, count);
      return Number(process.hrtime.bigint() - start) / count;
    },
  };
}

/** A handler that sends each message on: bare, and measured. */
function flow(measured: boolean) {
  const builder = integrationGraph({ app: "bench" });
  const orders = builder.channel("orders");
  const paid = builder.channel("paid");
  const endpoint = builder.serviceActivator("payment", { input: orders, output: paid });
  const send = measured ? paid.sender((message: Message) => receive(message)) : (message: Message) => receive(message);
  const handle = (message: Message) => send(message);
  const parse = (message: Message) => send(JSON.parse(JSON.stringify({ ...message, text })));
  const later = async (message: Message) => {
    await undefined;
    send(message);
  };
  if (!measured) return { handle, parse, later };
  return { handle: endpoint.handle(handle), parse: endpoint.handle(parse), later: endpoint.handle(later) };
}

function largeGraph() {
  const builder = integrationGraph({ app: "bench", limits: { maxNodes: 2_001 } });
  const name = (index: number) => `orders.region-${index % 1_000}.incoming`;
  for (let index = 0; index < 1_000; index++) {
    const filter = builder.filter(`orders.region-${index}.check`, {
      input: name(index),
      output: name(index + 1),
      discard: name(index + 2),
      error: name(index + 3),
      properties: { expression: "payload.total > 0" },
    });
    filter.handle(() => {})();
  }
  return builder;
}

function once(name: string, act: () => unknown): Side {
  return {
    name,
    round() {
      const start = process.hrtime.bigint();
      act();
      return Number(process.hrtime.bigint() - start);
    },
  };
}

console.log(environment());
const nanoseconds = (time: number) => `${time.toFixed(0)} ns`;
const milliseconds = (time: number) => `${(time / 1e6).toFixed(2)} ms`;
const ratio = (of: number, beside: number) => (of / beside).toFixed(2);

const [bare, measured] = [flow(false), flow(true)];
const messageRows = [];
for (const [name, pair] of [
  ["at once", [messages("bare", bare.handle, 200_000), messages("measured", measured.handle, 200_000)]],
  [
    "after 200 B of JSON written and read",
    [messages("bare", bare.parse, 50_000), messages("measured", measured.parse, 50_000)],
  ],
  [
    "after an await",
    [awaitedMessages("bare", bare.later, 50_000), awaitedMessages("measured", measured.later, 50_000)],
  ],
] as const) {
  const [without, withIt] = await alternate(pair);
  messageRows.push([name, ...[without!, withIt!, withIt! - without!].map(nanoseconds), ratio(withIt!, without!)]);
}

const large = largeGraph();
const ready = large.graph.snapshot();
const bytes = JSON.stringify(ready).length;
const [json, snapshot, both, changed] = await alternate([
  once("JSON of a ready snapshot", () => JSON.stringify(ready)),
  once("snapshot", () => large.graph.snapshot()),
  once("snapshot and JSON", () => JSON.stringify(large.graph.snapshot())),
  once("snapshot and JSON after a change of structure", () => {
    large.channel("new").remove();
    return JSON.stringify(large.graph.snapshot());
  }),
]);

printTable(["one message, handled and sent on", "bare", "measured", "more", "ratio"], messageRows);
console.log();
printTable(
  [
    `${ready.nodes.length} nodes, ${ready.links.length} links, ${(bytes / 1e3).toFixed(0)} kB`,
    "median",
    "beside the JSON alone",
  ],
  [
    ["JSON of a ready snapshot", milliseconds(json!), "1.00"],
    ["snapshot", milliseconds(snapshot!), ratio(snapshot!, json!)],
    ["snapshot and JSON", milliseconds(both!), ratio(both!, json!)],
    ["the same after a change of structure", milliseconds(changed!), ratio(changed!, json!)],
  ],
);
if (sink === 0) throw new Error("no message arrived");

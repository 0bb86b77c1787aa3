// @module-tag slow
import * as amqp from "amqplib";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { amqplibSource } from "../../../../src/adapters/graph/amqplib/index.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { type RabbitmqServer, rabbitmqFound, startRabbitmq } from "../../../support/rabbitmq-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { picture } from "./support.ts";

const QUEUES = ["q0", "q1", "q2"];
const EXCHANGES = ["e0", "e1", "e2"];
/** Each name has its own options, as the broker refuses others for one that is there. */
const DEAD_LETTERS: { readonly [queue: string]: object } = {
  q1: { deadLetterExchange: "e2" },
  q2: { deadLetterExchange: "", deadLetterRoutingKey: "q0" },
};
const ALTERNATES: { readonly [exchange: string]: string } = { e1: "e0" };

type Step =
  | { readonly do: "assertQueue" | "deleteQueue" | "checkQueue"; readonly name: string }
  | { readonly do: "assertExchange" | "deleteExchange" | "checkExchange"; readonly name: string }
  | {
      readonly do: "bindQueue" | "unbindQueue" | "bindExchange" | "unbindExchange";
      readonly name: string;
      readonly source: string;
      readonly key: string;
      readonly args: object | undefined;
    };

const queue = fc.constantFrom(...QUEUES);
const exchange = fc.constantFrom(...EXCHANGES);
const binding = {
  source: exchange,
  key: fc.constantFrom("", "a"),
  args: fc.constantFrom(undefined, {}, { x: 1 }, { x: 1, y: "1" }, { y: "1", x: 1 }),
};
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("assertQueue" as const), name: queue }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("assertExchange" as const), name: exchange }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("deleteQueue", "checkQueue"), name: queue }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("deleteExchange", "checkExchange"), name: exchange }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("bindQueue", "unbindQueue"), name: queue, ...binding }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("bindExchange", "unbindExchange"), name: exchange, ...binding }),
  },
);

/** What the broker has: nothing but sets. */
class Model {
  readonly queues = new Set<string>();
  readonly exchanges = new Set<string>();
  /** Source, kind and name of the destination, and the rest. */
  bindings: (readonly [source: string, to: string, rest: string])[] = [];

  /** Takes a step, unless the broker would refuse it. */
  take(step: Step): boolean {
    const kind = step.do.endsWith("Queue") ? "queue" : "exchange";
    const names = kind === "queue" ? this.queues : this.exchanges;
    if (step.do.startsWith("assert")) names.add(step.name);
    if (step.do.startsWith("check")) return names.has(step.name);
    if (step.do.startsWith("delete")) {
      names.delete(step.name);
      const [gone, source] = [`${kind} ${step.name}`, kind === "exchange" ? step.name : undefined];
      this.bindings = this.bindings.filter(([from, to]) => from !== source && to !== gone);
    }
    if ("source" in step) {
      const { x, y } = (step.args ?? {}) as { x?: number; y?: string };
      const rest = JSON.stringify([step.key, x, y]);
      const same = [step.source, `${kind} ${step.name}`, rest] as const;
      if (step.do.startsWith("bind") && !(names.has(step.name) && this.exchanges.has(step.source))) return false;
      this.bindings = this.bindings.filter((one) => one.some((part, index) => part !== same[index]));
      if (step.do.startsWith("bind")) this.bindings.push(same);
    }
    return true;
  }

  get nodes(): Set<string> {
    const nodes = new Set([...this.queues].map((name) => `queue ${name}`));
    for (const name of this.exchanges) nodes.add(`exchange ${name}`);
    for (const link of this.links) nodes.add(link.split("-> ")[1]!);
    return nodes;
  }

  get links(): Set<string> {
    const links = new Set(this.bindings.map(([source, to]) => `exchange ${source} -route-> ${to}`));
    if (this.queues.has("q1")) links.add("queue q1 -error-> exchange e2");
    if (this.queues.has("q2")) links.add("queue q2 -error-> queue q0");
    if (this.exchanges.has("e1")) links.add("exchange e1 -route-> exchange e0");
    return links;
  }
}

function perform(channel: amqp.Channel, step: Step): Promise<unknown> {
  const { name } = step;
  switch (step.do) {
    case "assertQueue":
      return channel.assertQueue(name, DEAD_LETTERS[name]);
    case "assertExchange":
      return channel.assertExchange(name, "topic", { alternateExchange: ALTERNATES[name] } as object);
    case "bindQueue":
    case "unbindQueue":
    case "bindExchange":
    case "unbindExchange":
      return channel[step.do](name, step.source, step.key, step.args);
    default:
      return channel[step.do](name);
  }
}

describe.runIf(requirement("rabbitmq-server", rabbitmqFound))("the topology", () => {
  let broker: RabbitmqServer;
  beforeAll(async () => {
    broker = await startRabbitmq();
  }, 120_000);
  afterAll(() => broker?.stop());

  test("is what a naive model says, after any steps", { timeout: 120_000 }, async () => {
    const connection = await amqp.connect(broker.url);
    const cleaning = await connection.createChannel();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const flow = integrationGraph({ app: "shop" });
        const detach = flow.attach(amqplibSource(connection));
        const model = new Model();
        let channel: amqp.Channel | undefined;
        for (const step of steps) {
          if (channel === undefined) {
            channel = await connection.createChannel();
            channel.on("error", () => {});
          }
          const refused = await perform(channel, step).then(
            () => false,
            () => true,
          );
          expect(refused, JSON.stringify(step)).toBe(!model.take(step));
          // A channel that asked for what the broker refuses is closed.
          if (refused) channel = undefined;
          const { nodes, links } = picture(flow.graph.snapshot());
          expect(new Set(Object.keys(nodes))).toEqual(model.nodes);
          expect(new Set(Object.keys(links))).toEqual(model.links);
        }
        detach();
        expect(picture(flow.graph.snapshot())).toEqual({ nodes: {}, links: {} });
        await channel?.close();
        for (const name of QUEUES) await cleaning.deleteQueue(name);
        for (const name of EXCHANGES) await cleaning.deleteExchange(name);
      }),
      { numRuns: 60 },
    );
    await connection.close();
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { GraphHost } from "../../src/integration-graph/adapter.ts";
import { GraphBuilder, integrationGraph } from "../../src/integration-graph/builder.ts";
import type { GraphLimits } from "../../src/integration-graph/elements.ts";
import { IntegrationGraph } from "../../src/integration-graph/graph.ts";
import { channelKey, endpointKey } from "../../src/integration-graph/node-id.ts";
import type { TemporaryName } from "../../src/integration-graph/temporary-name.ts";
import { links, nodeOf, sends } from "./support.ts";

interface Options {
  readonly limits?: GraphLimits;
  readonly temporaryNames?: readonly TemporaryName[];
}

/** A graph and what an adapter of a broker sees of it. */
function setUp(options: Options = {}, flow = integrationGraph({ app: "shop", ...options })) {
  let host!: GraphHost;
  const detach = flow.attach({
    name: "library",
    attach(given) {
      host = given;
      return () => {};
    },
  });
  const queue = (raw: string) => {
    const name = host.shownName(raw);
    return { name, pattern: "message_channel", key: channelKey("rabbitmq", "main", "queue", `//${name}`) } as const;
  };
  const consumer = (raw: string) => {
    const name = `${host.shownName(raw)}.consumer`;
    return { name, pattern: "service_activator", key: endpointKey("shop", "service_activator", name) } as const;
  };
  const names = () => flow.graph.snapshot().nodes.map(({ name }) => name);
  return { flow, graph: flow.graph, host, queue, consumer, names, detach };
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const took = { start: 1, end: 2 };

// The first name of each row is the only one of its kind.
test.each([
  ["orders.v2", "orders.v2"],
  ["shard-3", "shard-3"],
  ["eu-west-1", "eu-west-1"],
  ["eu-west-1a.orders", "eu-west-1a.orders"],
  ["retry-5m", "retry-5m"],
  ["report-q1", "report-q1"],
  ["orders-2024", "orders-2024"],
  ["iso20022.payments", "iso20022.payments"],
  ["proxy-8080", "proxy-8080"],
  ["sha256-check", "sha256-check"],
  ["http2.requests", "http2.requests"],
  ["k8s.events", "k8s.events"],
  ["s3-uploads", "s3-uploads"],
  ["order.4711.created", "order.4711.created"],
  ["user42", "user42"],
  ["billing@orders", "billing@orders"],
  ["@acme/orders", "@acme/orders"],
  ["facade.decade.cafe", "facade.decade.cafe"],
  ["customer-orders-internal-queue", "customer-orders-internal-queue"],
  ["orders.123456", "orders.*"],
  ["order_20240115_done", "order_*_done"],
  ["mail.bob@example.com", "mail.*"],
  ["mail.bob@example.com.sent", "mail.*.sent"],
  ["inbox/jane+x@mail.example.co", "inbox/*"],
  ["device.507f1f77bcf86cd799439011", "device.*"],
  ["build.da39a3ee5e6b4b0d3255bfef95601890afd80709.log", "build.*.log"],
  ["job.01ARZ3NDEKTSV4RRFFQ69G5FAV", "job.*"],
])("%s alone is shown as %s", (name, shown) => {
  expect(setUp().host.shownName(name)).toBe(shown);
});

// Each row as the names that an application may have together: those up to 20 stay, those beyond are ids.
test.each<[string, (n: number) => string, number, string | undefined]>([
  ["versions", (n) => `orders.v${n}`, 9, undefined],
  ["shards", (n) => `shard-${n}`, 16, undefined],
  ["quarters", (n) => `q${n}.report`, 4, undefined],
  ["delays", (n) => `retry-${n}m`, 10, undefined],
  ["regions", (n) => `eu-${["west", "north", "central"][n % 3]}-${n}`, 20, undefined],
  ["orders", (n) => `order.created.${n}`, 21, "order.created.*"],
  ["users", (n) => `user-${n}`, 2_100, "user-*"],
  ["users with a part behind", (n) => `user-${n}.inbox`, 21, "user-*.inbox"],
  ["ids without a separator", (n) => `user${4_000 + n}.events`, 21, "user*.events"],
  ["short hashes", (n) => `build-${n % 10}${"abc"[n % 3]}${n}`, 40, "build-*"],
])("of many %s", (_, name, count, collapsed) => {
  const { host } = setUp();
  const shown = numbers(count).map((n) => host.shownName(name(n)));
  if (collapsed === undefined) expect(shown).toEqual(numbers(count).map(name));
  else expect(host.shownName(name(1))).toBe(collapsed);
});

test("numbers are compared at their own place: twenty tenants with twenty queues each stay", () => {
  const { host } = setUp();
  for (const tenant of numbers(20)) {
    for (const n of numbers(20)) expect(host.shownName(`t${tenant}.q${n}`)).toBe(`t${tenant}.q${n}`);
  }
  host.shownName("t21.q1");
  expect(host.shownName("t3.q7")).toBe("t*.q7");
});

test("the limit is an option, and so are the patterns", () => {
  const few = setUp({ limits: { maxNumberedNames: 2 } }).host;
  expect(["a-1", "a-2", "a-3"].map((name) => few.shownName(name))).toEqual(["a-1", "a-2", "a-*"]);
  const none = setUp({ temporaryNames: [], limits: { maxNumberedNames: 10_000 } }).host;
  for (const n of numbers(500)) expect(none.shownName(`order.${1_000_000 + n}`)).toBe(`order.${1_000_000 + n}`);
});

test("shown again, a name stays", () => {
  const { host } = setUp();
  const part = fc.constantFrom("order", "-", ".", "1", "22", "a3b4", "*", "v", "/", "é7");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const shown = host.shownName(parts.join(""));
      expect(host.shownName(shown)).toBe(shown);
    }),
    { numRuns: 1_000 },
  );
});

describe("nodes that come to share one", () => {
  test("keep every message, on nodes and links", () => {
    const { graph, host, queue, consumer, names } = setUp();
    let sent = 0;
    for (const n of numbers(100)) {
      const node = host.observe(queue(`order.created.${n}`));
      const handler = host.declare(consumer(`order.created.${n}`));
      const input = host.link(node, "input", handler);
      for (let message = 0; message < n % 4; message++, sent++) {
        host.sent(node, took);
        host.handled(handler, took, input);
      }
    }
    expect(names().sort()).toEqual(["order.created.*", "order.created.*.consumer", "shop.producer"]);
    expect(sends(graph, "order.created.*")).toEqual([sent, 0]);
    expect(sends(graph, "order.created.*.consumer")).toEqual([sent, 0]);
    expect(links(graph)).toEqual({
      "order.created.* -input-> order.created.*.consumer": sent,
      "shop.producer -output-> order.created.*": sent,
    });
    expect(graph.collapsed).toBe(100);
    expect(graph.dropped).toEqual({ nodes: 0, links: 0 });
  });

  test("are counted on by what kept a node of before", () => {
    const { graph, host, queue } = setUp();
    const early = host.observe(queue("user-1"));
    host.sent(early, took);
    for (const n of numbers(30)) host.observe(queue(`user-${n}`));
    host.sent(early, took);
    expect(sends(graph, "user-*")).toEqual([2, 0]);
    expect(links(graph)).toEqual({ "shop.producer -output-> user-*": 2 });
  });

  test("stay as long as one of them is declared, and each is declared and withdrawn by its own name", () => {
    const { host, queue, names, detach } = setUp();
    const declarations = numbers(25).map((n) => queue(`user-${n}`));
    const nodes = declarations.map((declaration) => host.declare(declaration));
    expect(names()).toEqual(["user-*"]);
    for (const node of nodes.slice(1)) host.withdraw(node);
    expect(names()).toEqual(["user-*"]);
    expect(host.declare(declarations[0]!)).toBe(nodes[0]);
    host.withdraw(nodes[0]!);
    expect(names()).toEqual([]);
    host.declare(declarations[0]!);
    expect(names()).toEqual(["user-*"]);
    detach();
    expect(names()).toEqual([]);
  });

  test("show the properties that all of them have", () => {
    const { graph, host, queue } = setUp();
    for (const n of numbers(20)) host.declare({ ...queue(`user-${n}`), properties: { durable: true, ttl: n } });
    host.observe(queue("user-21"));
    expect(nodeOf(graph, "user-*").properties).toEqual({ durable: true });
  });

  test("wake together after they were idle", () => {
    const { graph, host, queue, names } = setUp({ limits: { maxNodes: 30 } });
    const nodes = numbers(25).map((n) => host.observe(queue(`user-${n}`)));
    for (const letter of "abcdefghijklmnopqrstuvwxyzABCD") {
      graph.declare({ name: letter, pattern: "message_channel" });
    }
    expect(names()).not.toContain("user-*");
    for (const letter of "ab") graph.remove(graph.find(letter)!);
    host.sent(nodes[0]!, took);
    expect(sends(graph, "user-*")).toEqual([1, 0]);
  });

  test("have every message of theirs, in whatever order names are seen, declared and used", () => {
    const name = fc.oneof(
      fc.integer({ min: 1, max: 40 }).map((n) => `user-${n}`),
      fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 })).map(([t, q]) => `t${t}.q${q}.x`),
      fc.integer({ min: 1, max: 9 }).map((n) => `a${n}b${n}c`),
    );
    const operation = fc.tuple(fc.constantFrom("observe", "declare", "send", "send", "handle"), name);
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 300 }), (operations) => {
        const { graph, host, queue, consumer } = setUp({ limits: { maxNumberedNames: 3 } });
        const kept = new Map<string, ReturnType<typeof use>>();
        const use = (raw: string) => {
          const node = host.observe(queue(raw));
          const handler = host.declare(consumer(raw));
          return { node, handler, input: host.link(node, "input", handler) };
        };
        const counts = { sent: 0, handled: 0 };
        for (const [what, raw] of operations) {
          const known = kept.get(raw) ?? use(raw);
          kept.set(raw, known);
          if (what === "observe") host.observe(queue(raw));
          else if (what === "declare") host.declare(queue(raw));
          else if (what === "send") {
            host.sent(known.node, took);
            counts.sent++;
          } else {
            host.handled(known.handler, took, known.input);
            counts.handled++;
          }
        }
        // To ask is to see the names once more.
        for (const raw of kept.keys()) host.shownName(raw);
        const { nodes, links: ways } = graph.snapshot();
        const sum = (category: string) =>
          nodes
            .filter((node) => node.integrationPatternCategory === category)
            .reduce((total, { sendTimers }) => total + (sendTimers?.successes.count ?? 0), 0);
        expect(sum("messaging_channel")).toBe(counts.sent);
        expect(sum("messaging_endpoint")).toBe(counts.handled);
        const counted = (type: string) =>
          ways.filter((way) => way.type === type).reduce((total, { count }) => total + count, 0);
        expect([counted("output"), counted("input")]).toEqual([counts.sent, counts.handled]);
        const names = nodes.map(({ name }) => name);
        expect(new Set(names).size).toBe(names.length);
        expect(names.filter((name) => /^user-\d+$/.test(name)).length).toBeLessThanOrEqual(3);
        for (const raw of kept.keys()) expect(names).toContain(host.shownName(raw));
      }),
      { numRuns: 300 },
    );
  });

  test("take in those that were idle for long when they wake", async () => {
    let passed = 0;
    const graph = new IntegrationGraph({ app: "shop" }, { clock: () => performance.now() + passed });
    const { host, queue } = setUp({}, new GraphBuilder(graph));
    const early = host.observe(queue("user-1"));
    host.sent(early, took);
    passed = 7_200_000;
    await graph.rebuild();
    for (const n of numbers(30).slice(1)) host.observe(queue(`user-${n}`));
    host.sent(early, { start: passed, end: passed + 1 });
    const queues = graph.snapshot().nodes.filter(({ key }) => key.includes(":queue:"));
    expect(queues.map(({ name }) => name)).toEqual(["user-*"]);
    expect(sends(graph, "user-*")).toEqual([2, 0]);
  });

  test("leave the application's own names alone", () => {
    const { flow, host, queue, names } = setUp();
    for (const n of numbers(40)) flow.channel(`user-${n}`);
    for (const n of numbers(40)) host.observe(queue(`user-${n}`));
    expect(names()).toEqual([...numbers(40).map((n) => `user-${n}`), "user-*"]);
  });
});

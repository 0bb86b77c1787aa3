import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { toText } from "../../../src/integration-graph/export/text.ts";
import type { GraphSnapshot } from "../../../src/integration-graph/snapshot.ts";
import { anyName, graphOfNames, twoApplications } from "./graphs.ts";

const lines = (graph: GraphSnapshot) => toText(graph).split("\n").slice(0, -1);

test("what nothing leads to comes first, and beneath each what it leads to", () => {
  const g = integrationGraph({ app: "shop" });
  g.filter("check", { input: "orders", output: "paid", discard: "rejected", error: "failures" });
  g.serviceActivator("again", { input: "rejected", output: "orders" });
  g.router("way", { input: "paid", routes: ["eu", "us"] });
  g.gateway("POST /orders", { output: "orders" });
  expect(lines(g.graph.snapshot())).toEqual([
    "POST /orders [gateway]",
    "  orders [channel]",
    "    check [filter]",
    "      paid [channel]",
    "        way [router]",
    "          route: eu [channel]",
    "          route: us [channel]",
    "      error: failures [channel]",
    "      discard: rejected [channel]",
    "        again [service-activator]",
    "          orders [channel] (see above)",
  ]);
});

test("of several applications each node says whose it is, its numbers, and which instances lack it", () => {
  expect(lines(twoApplications())).toEqual([
    "nightly [inbound-channel-adapter] (of billing, in 1 of 2 instances)",
    "POST /orders [gateway] (of shop)",
    "  orders [kafka:topic] (of kafka k1)",
    "    bill [service-activator] (of billing, in 1 of 2 instances)  2 ok, mean 4.00 ms, max 4.00 ms  1 failed  0.05/s",
  ]);
});

test("circles that nothing leads into are shown, and end", () => {
  const g = integrationGraph({ app: "shop" });
  g.bridge("there", { input: "a", output: "b" });
  g.bridge("back", { input: "b", output: "a" });
  const self = g.graph.find("a")!;
  g.graph.link(self, "route", self);
  expect(lines(g.graph.snapshot())).toEqual([
    "a [channel]",
    "  there [bridge]",
    "    b [channel]",
    "      back [bridge]",
    "        a [channel] (see above)",
    "  route: a [channel] (see above)",
  ]);
});

test("a stale node says so", () => {
  const graph = graphOfNames(["a"]);
  expect(lines(graph)[0]).toContain("stale");
});

test("parts are emphasised as asked", () => {
  const text = toText(twoApplications(), { style: (part, text) => `<${part}>${text}</${part}>` });
  expect(text).toContain("<aside>[kafka:topic]</aside>");
  expect(text).toContain("<failure>1 failed</failure>");
});

describe("any graph", () => {
  test("is one line for each link and each node that nothing else leads to, and nothing that a terminal obeys", () => {
    const graph = fc
      .record({
        names: fc.array(anyName, { minLength: 1, maxLength: 8 }),
        ends: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 20 }),
      })
      .map(({ names, ends }): GraphSnapshot => {
        const graph = graphOfNames(names);
        const id = (at: number) => graph.nodes[at % names.length]!.nodeId;
        return { ...graph, links: ends.map(([from, to]) => ({ ...graph.links[0]!, from: id(from), to: id(to) })) };
      });
    fc.assert(
      fc.property(graph, (graph) => {
        const text = toText(graph);
        const shown = text.split("\n").slice(0, -1);
        expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        const roots = shown.length - graph.links.length;
        expect(roots).toBeGreaterThan(0);
        expect(roots).toBeLessThanOrEqual(graph.nodes.length);
      }),
      { numRuns: 500 },
    );
  });

  test("that is a chain longer than a stack is deep is shown", () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `n${index}`);
    expect(lines({ ...graphOfNames(names), links: graphOfNames(names).links.slice(0, -1) })).toHaveLength(20_000);
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { shortened } from "../../../src/integration-graph/export/labels.ts";
import { toSvg } from "../../../src/integration-graph/export/svg.ts";
import { channelKey, endpointKey } from "../../../src/integration-graph/node-id.ts";
import type { GraphSnapshot, LinkSnapshot } from "../../../src/integration-graph/snapshot.ts";
import { declareRecordedGraph } from "../recorded-graph.ts";
import { anyName, graphOfNames, HOSTILE_NAMES, twoApplications } from "./graphs.ts";

/** The texts of a picture, read as XML. */
function texts(svg: string): string[] {
  return [...svg.matchAll(/<text\b[^>]*>([^<]*)<\/text>/g)].map(([, text]) => decoded(text!));
}

function decoded(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

function expectDrawn(graph: GraphSnapshot, svg: string): void {
  const all = texts(svg);
  for (const { name } of graph.nodes) expect(all).toContain(shortened(name, 64));
  expect(svg.match(/<g class="node"/g)).toHaveLength(graph.nodes.length);
  expect(svg.match(/<path class="edge /g) ?? []).toHaveLength(graph.links.length);
  const elements = new Set(Array.from(svg.matchAll(/<([a-z]+)/gi), ([, element]) => element));
  const harmless = ["svg", "style", "defs", "marker", "g", "title", "text", "path", "polygon", "ellipse", "rect"];
  expect([...elements].filter((element) => !harmless.includes(element!))).toEqual([]);
  expect(svg).not.toMatch(/<[^>]*\b(href|on\w+)=/i);
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The lines of a picture as points; an arc, from a node to itself, as points on it. */
function lines(svg: string): readonly (readonly Point[])[] {
  return Array.from(svg.matchAll(/<path class="edge [^"]*" d="([^"]*)"/g), ([, path]) => {
    const points = Array.from(path!.matchAll(/(-?[\d.]+),(-?[\d.]+)/g), ([, x, y]) => ({ x: Number(x), y: Number(y) }));
    return path!.includes("C") ? arc(points) : points;
  });
}

function arc(corners: readonly Point[]): readonly Point[] {
  return Array.from({ length: 21 }, (_, index) => {
    const t = index / 20;
    const weights = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t ** 2 * (1 - t), t ** 3];
    const along = (axis: keyof Point) => weights.reduce((sum, weight, at) => sum + weight * corners[at]![axis], 0);
    return { x: along("x"), y: along("y") };
  });
}

function labels(svg: string): readonly (Point & { readonly text: string })[] {
  const found = svg.matchAll(/<text class="label [^"]*" x="([^"]*)" y="([^"]*)">([^<]*)</g);
  return Array.from(found, ([, x, y, text]) => ({ x: Number(x), y: Number(y) - 3.5, text: text! }));
}

function distance(point: Point, line: readonly Point[]): number {
  const toSegments = line.slice(1).map((end, index) => {
    const start = line[index]!;
    const [dx, dy] = [end.x - start.x, end.y - start.y];
    const along = ((point.x - start.x) * dx + (point.y - start.y) * dy) / (dx * dx + dy * dy || 1);
    const part = Math.max(0, Math.min(1, along));
    return Math.hypot(point.x - start.x - part * dx, point.y - start.y - part * dy);
  });
  return Math.min(...toSegments);
}

/** A graph of so many nodes, with two links for each; the numbers decide which. */
function graphOf(size: number, numbers: readonly number[]): GraphSnapshot {
  const graph = graphOfNames(Array.from({ length: size }, (_, index) => `node ${index}`));
  const types = ["input", "output", "error", "discard", "route"] as const;
  const links = numbers.map((number, index): LinkSnapshot => {
    const [from, to] = [number % size, Math.floor(number / size) % size];
    return {
      from: from - 3,
      to: to - 3,
      type: types[number % 5]!,
      count: index % 4 === 0 ? 0 : number,
      declared: true,
    };
  });
  const apps = ["shop", "billing", "stock"];
  const nodes = graph.nodes.map((node, index) => ({
    ...node,
    componentType: "amqp:channel",
    key:
      index % 2 === 0
        ? channelKey("rabbitmq", `broker ${index % 3}`, "queue", node.name)
        : endpointKey(apps[index % 3]!, "service_activator", node.name),
  }));
  return { ...graph, nodes, links };
}

const numbers = (size: number) =>
  fc.array(fc.integer({ min: 0, max: size * size - 1 }), { minLength: size, maxLength: 2 * size });

describe("an SVG", () => {
  test("is a picture with every name, application, broker and number", async () => {
    const svg = await toSvg(twoApplications());
    expect(svg).toMatch(/^<\?xml/);
    expect(texts(svg)).toEqual(
      expect.arrayContaining([
        "orders",
        "POST /orders",
        "bill",
        "shop",
        "billing",
        "kafka k1",
        "2 ok, mean 4.00 ms, max 4.00 ms",
        "1 failed",
        "40",
      ]),
    );
    expect(svg.match(/class="outline broker/g)).toHaveLength(1);
  });

  test("of nothing is empty", async () => {
    expect(await toSvg(integrationGraph({ app: "shop" }).graph.snapshot())).toMatch(/<svg/);
  });

  test("of every pattern is drawn", async () => {
    const builder = integrationGraph({ app: "recorded" });
    declareRecordedGraph(builder);
    const graph = builder.graph.snapshot();
    expectDrawn(graph, await toSvg(graph));
  });

  test("of hostile names shows them as text, and no more nodes or links than there are", async () => {
    const graph = graphOfNames(HOSTILE_NAMES);
    expectDrawn(graph, await toSvg(graph));
  });

  test("of names of any kind shows them as they are, and nothing else", async () => {
    const property = fc.asyncProperty(fc.array(anyName, { minLength: 1, maxLength: 4 }), async (names) => {
      const graph = graphOfNames(names);
      expectDrawn(graph, await toSvg(graph));
    });
    await fc.assert(property, { numRuns: 200 });
  });

  test("leaves out links to nodes that are not there", async () => {
    const graph = twoApplications();
    const astray = { ...graph.links[0]!, to: 0x7fff_ffff };
    expect((await toSvg({ ...graph, links: [...graph.links, astray] })).match(/class="edge /g)).toHaveLength(2);
  });

  test("of 35 nodes has each label on its line", async () => {
    const property = fc.asyncProperty(numbers(35), async (numbers) => {
      const graph = graphOf(35, numbers);
      const svg = await toSvg(graph);
      expectDrawn(graph, svg);
      const all = lines(svg);
      for (const label of labels(svg)) {
        const nearest = Math.min(...all.map((line) => distance(label, line)));
        expect(nearest, label.text).toBeLessThan(8);
      }
    });
    await fc.assert(property, { numRuns: 12 });
  });

  test("of 300 nodes is drawn, whatever their links", async () => {
    const property = fc.asyncProperty(numbers(300), async (numbers) => {
      const graph = graphOf(300, numbers);
      expectDrawn(graph, await toSvg(graph));
    });
    await fc.assert(property, { numRuns: 3 });
  }, 120_000);

  test("of 1,000 nodes in a row or around one is drawn", async () => {
    const steps = Array.from({ length: 1_000 }, (_, index) => index);
    const shapes = [steps.slice(1).map((step) => step * 1_000 + step - 1), steps.slice(1).map((step) => step * 1_000)];
    for (const shape of shapes) {
      const graph = graphOf(1_000, shape);
      expectDrawn(graph, await toSvg(graph));
    }
  }, 120_000);

  test.each([
    [1_001, 0],
    [2, 2_001],
  ])("of %d nodes and %d links is refused, with what to do", async (nodes, links) => {
    const graph = graphOfNames(Array.from({ length: nodes }, (_, index) => `n${index}`));
    const many = Array.from({ length: links }, () => graph.links[0]!);
    await expect(toSvg({ ...graph, links: many })).rejects.toThrow(/too many for a picture: use the format dot/);
  });
});

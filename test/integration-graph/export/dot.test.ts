import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { toDot } from "../../../src/integration-graph/export/dot.ts";
import { shortened } from "../../../src/integration-graph/export/labels.ts";
import type { GraphSnapshot } from "../../../src/integration-graph/snapshot.ts";
import { requirement } from "../../support/requirement.ts";
import { declareRecordedGraph } from "../recorded-graph.ts";
import { anyName, graphOfNames, HOSTILE_NAMES, twoApplications } from "./graphs.ts";

const dotFound = spawnSync("dot", ["-V"]).status === 0;

/** What Graphviz understood, by its own JSON. */
interface Understood {
  readonly name: string;
  readonly objects: readonly {
    readonly name: string;
    readonly label?: string;
    readonly tooltip?: string;
    readonly nodes?: readonly number[];
  }[];
  readonly edges: readonly { readonly tail: number; readonly head: number; readonly label?: string }[];
}

/** How a text stands in the picture: XML, in which spaces may be of the kind that does not break. */
function drawn(svg: string): string[] {
  const entities: Readonly<Record<string, string>> = {
    lt: "<",
    gt: ">",
    amp: "&",
    quot: '"',
    apos: "'",
    "#45": "-",
    "#39": "'",
    "#160": "\u00a0",
  };
  return [...svg.matchAll(/<text\b[^>]*>([^<]*)<\/text>/g)].map(([, text]) =>
    text!.replace(/&([a-z]+|#\d+);/g, (whole, name: string) => entities[name] ?? whole).replaceAll("\u00a0", " "),
  );
}

function draw(dot: string, format: string): string {
  const { status, stdout, stderr } = spawnSync("dot", [`-T${format}`], { input: dot, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

describe.runIf(requirement("graphviz", dotFound))("drawn by Graphviz, a graph", () => {
  test("has all nodes and links, in clusters of applications and brokers", () => {
    const graph = twoApplications();
    const { objects, edges } = JSON.parse(draw(toDot(graph), "json")) as Understood;
    const clusters = objects.filter(({ name }) => name.startsWith("cluster"));
    const members = clusters.map(({ label, nodes }) => [label, nodes!.map((at) => objects[at]!.tooltip)]);
    expect(Object.fromEntries(members)).toEqual({
      billing: ["nightly", "bill"],
      shop: ["POST /orders"],
      "kafka k1": ["orders"],
    });
    const name = (at: number) => objects[at]!.tooltip;
    expect(edges.map(({ tail, head, label }) => `${name(tail)} > ${name(head)}: ${label}`).sort()).toEqual([
      "POST /orders > orders: 40",
      "orders > bill: 3",
    ]);
  });

  test("of every pattern is drawn", () => {
    const builder = integrationGraph({ app: "recorded" });
    declareRecordedGraph(builder);
    const graph = builder.graph.snapshot();
    const { objects, edges } = JSON.parse(draw(toDot(graph), "json")) as Understood;
    expect(objects.filter(({ name }) => /^n\d/.test(name)).map(({ tooltip }) => tooltip)).toEqual(
      graph.nodes.map(({ name }) => name),
    );
    expect(edges).toHaveLength(graph.links.length);
  });

  test("of hostile names shows them as text, and no more nodes or links than there are", () => {
    const graph = graphOfNames(HOSTILE_NAMES);
    expectDrawn(graph, draw(toDot(graph), "svg"));
  });

  test("of names of any kind shows them as they are, and nothing else", () => {
    fc.assert(
      fc.property(fc.array(anyName, { minLength: 1, maxLength: 4 }), (names) => {
        const graph = graphOfNames(names);
        expectDrawn(graph, draw(toDot(graph), "svg"));
      }),
      { numRuns: 50 },
    );
  });
});

function expectDrawn(graph: GraphSnapshot, svg: string): void {
  const texts = drawn(svg);
  const counted = (text: string) => texts.filter((one) => one === text).length;
  for (const { name } of graph.nodes) {
    const line = shortened(name, 64).replaceAll("\u00a0", " ");
    expect(counted(line), JSON.stringify(line)).toBeGreaterThan(0);
  }
  expect(svg.match(/class="node"/g)).toHaveLength(graph.nodes.length);
  expect(svg.match(/class="edge"/g)).toHaveLength(graph.links.length);
  const elements = new Set(Array.from(svg.matchAll(/<([a-z]+)/gi), ([, element]) => element));
  const harmless = ["svg", "g", "title", "a", "text", "path", "polygon", "polyline", "ellipse", "xml"];
  expect([...elements].filter((element) => !harmless.includes(element!))).toEqual([]);
  expect(svg).not.toMatch(/<[^>]*\b(href|on\w+)=/i);
}

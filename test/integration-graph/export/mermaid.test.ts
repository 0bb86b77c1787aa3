import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { printable } from "../../../src/common/printable.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { toMermaid } from "../../../src/integration-graph/export/mermaid.ts";
import { declareRecordedGraph } from "../recorded-graph.ts";
import { anyName, graphOfNames, HOSTILE_NAMES, twoApplications } from "./graphs.ts";

/** The whole grammar that is used. A label has no character that Mermaid, HTML or Markdown gives a meaning. */
const TEXT = String.raw`(?:(?!-|\d+[.)] )(?:[\p{L}\p{N}\p{M} _.,:/-]|#\d+;))(?:[\p{L}\p{N}\p{M} _.,:/-]|#\d+;)*`;
const LABEL = `"${TEXT}(?:<br/>${TEXT})*"`;
const LINES = [
  /^flowchart LR$/u,
  new RegExp(`^  subgraph g\\d+\\["${TEXT}"\\]$`, "u"),
  /^ {2}end$/u,
  new RegExp(`^ {2,4}n\\d+(?:\\[${LABEL}\\]|\\(\\[${LABEL}\\]\\)|\\[\\(${LABEL}\\)\\]|\\{\\{${LABEL}\\}\\})$`, "u"),
  /^ {2}n\d+ (?:-->|==>|-\.->)(?:\|"[a-z]*(?: ?\d+)?"\|)? n\d+$/u,
  /^ {2}linkStyle \d+(?:,\d+)* stroke:#c53030$/u,
  /^ {2}classDef stale stroke-dasharray:4,color:#808080$/u,
  /^ {2}class n\d+(?:,n\d+)* stale$/u,
  /^$/u,
];

function expectGrammar(text: string): void {
  for (const line of text.split("\n")) {
    expect(
      LINES.some((pattern) => pattern.test(line)),
      JSON.stringify(line),
    ).toBe(true);
  }
}

/** What Mermaid shows of a label. */
function read(label: string): string {
  return label.replace(/#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}

test("applications and brokers are subgraphs, and links say what they are and how many messages they took", () => {
  expect(toMermaid(twoApplications()).split("\n")).toEqual([
    "flowchart LR",
    '  subgraph g0["billing"]',
    '    n1["nightly<br/>#91;inbound-channel-adapter#93;"]',
    '    n2["bill<br/>#91;service-activator#93;<br/>#50; ok, mean 4.00 ms, max 4.00 ms<br/>#49; failed<br/>#48;.05/s"]',
    "  end",
    '  subgraph g1["shop"]',
    '    n3["POST /orders<br/>#91;gateway#93;"]',
    "  end",
    '  subgraph g2["kafka k1"]',
    '    n0(["orders<br/>#91;kafka:topic#93;"])',
    "  end",
    '  n0 -->|"3"| n2',
    '  n3 -->|"40"| n0',
    "",
  ]);
});

test("a graph of every pattern keeps to the grammar", () => {
  const builder = integrationGraph({ app: "recorded" });
  declareRecordedGraph(builder);
  expectGrammar(toMermaid(builder.graph.snapshot()));
});

test.each(HOSTILE_NAMES)("the name %j is text", (name) => {
  const text = toMermaid(graphOfNames([name, "next"]));
  expectGrammar(text);
  const [, label] = /n0[^"]*"(.*?)<br\/>/.exec(text)!;
  if (name.length < 64) expect(read(label!)).toBe(printable(name));
});

test("any names keep to the grammar", () => {
  fc.assert(
    fc.property(fc.array(anyName, { minLength: 1, maxLength: 5 }), (names) =>
      expectGrammar(toMermaid(graphOfNames(names))),
    ),
    { numRuns: 500 },
  );
});

describe("a graph that Mermaid does not draw", () => {
  test.each([
    [500, undefined],
    [501, /501 links.*no more than 500: use the format dot or svg/],
  ])("for its %d links is refused, with what to do", (count, message) => {
    const graph = graphOfNames(["a", "b"]);
    const large = { ...graph, links: Array.from({ length: count }, () => graph.links[0]!) };
    if (message === undefined) expectGrammar(toMermaid(large));
    else expect(() => toMermaid(large)).toThrow(message);
  });

  test("for its text is refused, with what to do", () => {
    const graph = graphOfNames(Array.from({ length: 400 }, (_, index) => `${index}`.padEnd(64, "x")));
    expect(() => toMermaid(graph)).toThrow(
      /characters of text, and Mermaid draws no more than 50,000: use the format dot or svg/,
    );
  });
});

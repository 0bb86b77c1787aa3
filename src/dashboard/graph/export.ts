import type { Link, Node } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { Link_Type } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { toDot } from "../../integration-graph/export/dot.ts";
import { toMermaid } from "../../integration-graph/export/mermaid.ts";
import type { GraphSnapshot, LinkSnapshot, NodeSnapshot, TimerSnapshot } from "../../integration-graph/snapshot.ts";
import { graph } from "../state/graph.ts";
import { application } from "../state/server.ts";
import { toast } from "../state/toasts.ts";
import { layout } from "./canvas.ts";
import { shownNodes } from "./view.ts";

const MARGIN = 24;
/** The largest picture that every browser draws. */
const MAX_PIXELS = 16_000_000;
const MAX_SIDE = 16_000;

/** Saves the graph: as it is drawn, or its nodes and links in a language of diagrams. */
export async function exportGraph(format: "SVG" | "PNG" | "DOT" | "Mermaid"): Promise<void> {
  if (format === "DOT") return save("dot", new Blob([toDot(snapshot())], { type: "text/vnd.graphviz" }));
  if (format === "Mermaid") return save("mmd", new Blob([toMermaid(snapshot())], { type: "text/plain" }));
  const drawing = svgOf();
  if (drawing === undefined) return;
  const svg = new Blob([drawing.text], { type: "image/svg+xml" });
  if (format === "SVG") return save("svg", svg);
  try {
    save("png", await pngOf(svg, drawing));
  } catch {
    toast({ icon: "ui-error", tone: "warn", text: "The browser cannot draw a picture of this size: export SVG" });
  }
}

function save(ending: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = `${(application.peek()?.name || "graph").replace(/[^\w.-]+/g, "-").slice(0, 60)}-graph.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

interface Drawing {
  readonly text: string;
  readonly width: number;
  readonly height: number;
}

/** What of the style the exported picture keeps. */
const KEPT = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "opacity",
  "display",
] as const;

/** The drawing as a picture of its own: with its styles and symbols, without links and what only the page needs. */
function svgOf(): Drawing | undefined {
  const [source, places] = [document.querySelector<SVGSVGElement>("svg.gr-all"), layout.peek()];
  const world = source?.querySelector("g");
  if (source === null || !world || places === undefined) return undefined;
  const [width, height] = [Math.ceil(places.width + 2 * MARGIN), Math.ceil(places.height + 2 * MARGIN)];
  const copy = world.cloneNode(true) as SVGGElement;
  inline(world, copy);
  copy.setAttribute("transform", `translate(${MARGIN} ${MARGIN})`);
  for (const anchor of copy.querySelectorAll("a")) {
    const group = document.createElementNS(SVG, "g");
    group.append(...anchor.childNodes);
    anchor.replaceWith(group);
  }
  const picture = document.createElementNS(SVG, "svg");
  setAll(picture, { xmlns: SVG, viewBox: `0 0 ${width} ${height}`, width: String(width), height: String(height) });
  const background = document.createElementNS(SVG, "rect");
  setAll(background, { width: "100%", height: "100%", fill: getComputedStyle(source.parentElement!).backgroundColor });
  picture.append(background, copy);
  return { text: new XMLSerializer().serializeToString(picture), width, height };
}

const SVG = "http://www.w3.org/2000/svg";

function setAll(element: Element, attributes: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

/** Writes the styles in force into `copy`, and puts the shapes of symbols in place of references to them. */
function inline(original: Element, copy: Element): void {
  const style = getComputedStyle(original);
  // As attributes: the policy of the page allows no style in them, and the file needs none.
  for (const name of KEPT) copy.setAttribute(name, style.getPropertyValue(name));
  for (const name of ["class", "tabindex", "aria-label", "aria-hidden", "aria-current", "data-card"])
    copy.removeAttribute(name);
  if (original.tagName === "use") {
    const symbol = document.querySelector(original.getAttribute("href") ?? "");
    const shapes = document.createElementNS(SVG, "g");
    for (const shape of symbol?.children ?? []) {
      if (shape.tagName === "title") continue;
      const own = shape.cloneNode(true) as Element;
      if (own.classList.contains("fi")) setAll(own, { fill: style.color, stroke: "none" });
      own.removeAttribute("class");
      shapes.append(own);
    }
    copy.replaceWith(shapes);
    const box = symbol?.getAttribute("viewBox");
    if (box) (shapes.parentNode as Element | null)?.setAttribute("viewBox", box);
    return;
  }
  const [from, to] = [[...original.children], [...copy.children]];
  for (const [index, child] of from.entries()) inline(child, to[index]!);
}

async function pngOf(svg: Blob, { width, height }: Drawing): Promise<Blob> {
  const scale = Math.min(2, Math.sqrt(MAX_PIXELS / (width * height)), MAX_SIDE / Math.max(width, height));
  const address = URL.createObjectURL(svg);
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob === null ? reject(new Error("too large")) : resolve(blob)), "image/png");
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** The nodes that are shown and the links between them, as the exporters of the command line take them. */
function snapshot(): GraphSnapshot {
  const { links, contentDescriptor } = graph.peek();
  const nodes = shownNodes.peek();
  const ids = new Set(nodes.map(({ nodeId }) => nodeId));
  const { provider = "", providerVersion = "", providerFormatVersion = 0, name = "" } = contentDescriptor ?? {};
  const { dropped = 0n, collapsed = 0n } = contentDescriptor ?? {};
  return {
    contentDescriptor: {
      ...{ provider, providerVersion, providerFormatVersion, dropped: Number(dropped), collapsed: Number(collapsed) },
      ...(name !== "" && { name }),
    },
    nodes: nodes.map(nodeOf),
    links: [...links.values()].filter(({ from, to }) => ids.has(from) && ids.has(to)).flatMap(linkOf),
    revision: 0,
  };
}

/** The fields that the exporters read. */
function nodeOf(node: Node): NodeSnapshot {
  const {
    nodeId,
    componentType,
    integrationPatternType,
    name,
    observed,
    key,
    rate,
    stale,
    sendTimers,
    receiveCounters,
  } = node;
  return {
    ...{ nodeId, componentType, name, observed, key, rate, stale, properties: {} },
    integrationPatternType: integrationPatternType as NodeSnapshot["integrationPatternType"],
    integrationPatternCategory: node.integrationPatternCategory as NodeSnapshot["integrationPatternCategory"],
    ...(sendTimers && {
      sendTimers: { successes: timerOf(sendTimers.successes), failures: timerOf(sendTimers.failures) },
    }),
    ...(receiveCounters && {
      receiveCounters: {
        successes: Number(receiveCounters.successes),
        failures: Number(receiveCounters.failures),
      },
    }),
  };
}

type TimerMessage = NonNullable<NonNullable<Node["sendTimers"]>["successes"]>;

function timerOf(timer: TimerMessage | undefined): TimerSnapshot {
  return { count: Number(timer?.count ?? 0n), mean: timer?.mean ?? 0, max: timer?.max ?? 0 };
}

const TYPES: Readonly<Partial<Record<Link_Type, LinkSnapshot["type"]>>> = {
  [Link_Type.INPUT]: "input",
  [Link_Type.OUTPUT]: "output",
  [Link_Type.ERROR]: "error",
  [Link_Type.DISCARD]: "discard",
  [Link_Type.ROUTE]: "route",
};

function linkOf({ from, to, type, count, declared }: Link): LinkSnapshot[] {
  const known = TYPES[type];
  return known === undefined ? [] : [{ from, to, type: known, count: Number(count), declared }];
}

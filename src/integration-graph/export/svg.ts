import type { GraphSnapshot } from "../snapshot.ts";
import { toDot } from "./dot.ts";

/** So much is laid out within a minute; beyond that the time grows without bound. */
const MAX_NODES = 1_000;
const MAX_LINKS = 2_000;

/**
 * A picture of a graph as SVG, drawn by Graphviz: an image that runs no script and asks for nothing. Graphviz is loaded with the
 * first picture, 1.5 MB of WebAssembly, and a picture of 500 nodes takes seconds, in which this process does nothing else.
 *
 * Rejects with a RangeError that says what to do where the graph has more than 1,000 nodes or 2,000 links.
 */
export async function toSvg(graph: GraphSnapshot): Promise<string> {
  const { nodes, links } = graph;
  if (nodes.length > MAX_NODES || links.length > MAX_LINKS) {
    const size = `${nodes.length} nodes and ${links.length} links`;
    throw new RangeError(
      `the graph has ${size}, too many for a picture: use the format dot, and a layout for large graphs such as sfdp`,
    );
  }
  const { Graphviz } = await import("@hpcc-js/wasm-graphviz");
  const graphviz = await Graphviz.load();
  return graphviz.dot(toDot(graph), "svg");
}

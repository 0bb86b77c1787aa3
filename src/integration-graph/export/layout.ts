import { Graph, layout } from "@dagrejs/dagre";

/** A box to place; `id` is any text that no other box has. */
export interface Box {
  readonly id: string;
  readonly width: number;
  readonly height: number;
}

/** A line between two boxes, and the size of its label, if it has one. */
export interface Line {
  readonly from: string;
  readonly to: string;
  readonly label?: { readonly width: number; readonly height: number } | undefined;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The places of boxes and lines, in pixels; those of boxes and labels are their centres. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly boxes: ReadonlyMap<string, Point>;
  /** For each line, in their order, its bends from the first box to the last, and the place of its label, which is on it. */
  readonly lines: readonly { readonly points: readonly Point[]; readonly label: Point }[];
}

/** How boxes are placed, in pixels: gaps between boxes of a layer, and between layers. */
export interface Spacing {
  readonly direction: "LR" | "TB";
  readonly boxes: number;
  readonly layers: number;
}

const DEFAULT_SPACING: Spacing = { direction: "LR", boxes: 28, layers: 44 };

/**
 * Places boxes in layers, from left to right unless `spacing` says otherwise. The only file that knows the layout library, which is loaded with the first picture.
 *
 * Without its clusters, which throw "Not possible to find intersection inside of the rectangle": one graph in forty of 35 nodes,
 * every one of 300 (@dagrejs/dagre 1.1.8 to 3.1.3).
 */
export function layOut(boxes: readonly Box[], lines: readonly Line[], spacing: Spacing = DEFAULT_SPACING): Layout {
  const graph = new Graph({ multigraph: true });
  const { direction: rankdir, boxes: nodesep, layers: ranksep } = spacing;
  graph.setGraph({ rankdir, nodesep, ranksep, edgesep: 12, marginx: 16, marginy: 16 });
  for (const { id, width, height } of boxes) graph.setNode(id, { width, height });
  for (const [index, { from, to, label }] of lines.entries()) {
    // With a size, the library keeps a place on the line free for the label.
    graph.setEdge(from, to, { ...label, labelpos: "c" }, String(index));
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width: Number.isFinite(width) ? width : 0,
    height: Number.isFinite(height) ? height : 0,
    boxes: new Map(boxes.map(({ id }) => [id, graph.node(id) as Point])),
    lines: lines.map(({ from, to }, index) => {
      const { points, x, y } = graph.edge(from, to, String(index)) as { points: Point[]; x?: number; y?: number };
      const middle = points[Math.floor(points.length / 2)]!;
      return { points, label: { x: x ?? middle.x, y: y ?? middle.y } };
    }),
  };
}

/** How a graph can be shown. */
export const GRAPH_FORMATS = ["text", "json", "dot", "mermaid", "svg", "asyncapi"] as const;

/** A way to show a graph. */
export type GraphFormat = (typeof GRAPH_FORMATS)[number];

/** What `graph` takes. */
export interface GraphOptions {
  readonly format: GraphFormat;
  readonly output?: string;
  readonly with?: readonly string[];
  readonly watch?: boolean;
  /** Milliseconds. */
  readonly interval?: number;
}

import type { GetIntegrationGraphResponse } from "../gen/actuator/v3/integration_graph_pb.ts";
import type { Style } from "../integration-graph/export/text.ts";
import { type Format, styled } from "./output.ts";
import { printable } from "./printable.ts";

const STYLES: Readonly<Record<Parameters<Style>[0], Format>> = { failure: "red", aside: "dim" };

/** The colours of a terminal. */
export const GRAPH_STYLE: Style = (part, text) => styled(STYLES[part], text);

/** The name and the size of a graph, for the side. */
export function summary({ contentDescriptor, nodes, links }: Graph): string {
  const { name = "" } = contentDescriptor ?? {};
  return `${name === "" ? "" : `${printable(name)}: `}${nodes.length} nodes, ${links.length} links`;
}

type Graph = Pick<GetIntegrationGraphResponse, "contentDescriptor" | "nodes" | "links">;

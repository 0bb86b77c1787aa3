import { GetIntegrationGraphResponseSchema, IntegrationGraphService } from "../gen/actuator/v3/integration_graph_pb.ts";
import type { Connection } from "./connection.ts";
import { graphLines } from "./graph-tree.ts";
import { note, print, printJson } from "./output.ts";
import { printable } from "./printable.ts";

/** `graph`: the channels and endpoints, and the ways between them. */
export async function showGraph(connection: Connection, { json = false }: { readonly json?: boolean }): Promise<void> {
  const graph = await connection(IntegrationGraphService).getIntegrationGraph({});
  if (json) return printJson(GetIntegrationGraphResponseSchema, graph);
  const lines = graphLines(graph);
  if (lines.length > 0) print(lines.join("\n"));
  const { name = "" } = graph.contentDescriptor ?? {};
  note(`${name === "" ? "" : `${printable(name)}: `}${graph.nodes.length} nodes, ${graph.links.length} links`);
}

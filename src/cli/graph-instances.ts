import { ConnectError } from "@connectrpc/connect";
import { type GetIntegrationGraphResponse, IntegrationGraphService } from "../gen/actuator/v3/integration_graph_pb.ts";
import { graphFromProto, graphToProto } from "../http/rpc/integration-graph-proto.ts";
import { type GraphPart, mergeGraphs } from "../integration-graph/merge.ts";
import { CliError } from "./cli-error.ts";
import { baseUrlOf, type Connection, connect } from "./connection.ts";
import { EXIT } from "./exit-code.ts";
import { failureOf } from "./failure.ts";
import type { GlobalOptions } from "./global-options.ts";

/**
 * The graphs of the actuator of `options` and of those at `addresses` as one. Each instance is named by its address. The token
 * goes to all of them.
 *
 * @throws CliError where an address is given twice, or one of them does not answer.
 */
export async function mergedGraph(
  connection: Connection,
  addresses: readonly string[],
  options: GlobalOptions,
): Promise<GetIntegrationGraphResponse> {
  const urls = [options.url, ...addresses].map(baseUrlOf);
  const twice = urls.find((url, at) => urls.indexOf(url) !== at);
  if (twice !== undefined) throw new CliError(EXIT.usage, `${twice} is named twice`);
  const connections = urls.map((url, at) => (at === 0 ? connection : connect({ ...options, url })));
  const parts = await Promise.all(connections.map((each, at) => partOf(each, urls[at]!, options)));
  return graphToProto(mergeGraphs(parts));
}

async function partOf(connection: Connection, url: string, options: GlobalOptions): Promise<GraphPart> {
  try {
    const graph = await connection(IntegrationGraphService).getIntegrationGraph({});
    return { instance: url.replace(/^https?:\/\//, ""), graph: graphFromProto(graph) };
  } catch (error) {
    throw error instanceof ConnectError ? failureOf(error, { ...options, url }) : error;
  }
}

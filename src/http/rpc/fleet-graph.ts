import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type GetFleetGraphRequest,
  type GetFleetGraphResponse,
  GetFleetGraphResponseSchema,
} from "../../gen/actuator/v3/fleet_pb.ts";
import { IntegrationGraphService } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { mergeGraphs } from "../../integration-graph/merge.ts";
import type { FleetPeers } from "./fleet-peers.ts";
import { graphFromProto, graphToProto } from "./integration-graph-proto.ts";

/** Reads the graphs of all instances as one. */
export async function getFleetGraph(
  peers: FleetPeers,
  { selector }: GetFleetGraphRequest,
  context: HandlerContext,
): Promise<GetFleetGraphResponse> {
  const { answers, unread } = await peers.ask(selector, context, (clients, signal) =>
    clients(IntegrationGraphService).getIntegrationGraph({}, { signal }),
  );
  const parts = answers.map(({ instance, value }) => ({ instance, graph: graphFromProto(value) }));
  return create(GetFleetGraphResponseSchema, {
    graph: graphToProto(mergeGraphs(parts)),
    instances: answers.length,
    unread: [...unread],
  });
}

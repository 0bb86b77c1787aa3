import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type IntegrationGraphService,
  RebuildIntegrationGraphResponseSchema,
} from "../../gen/actuator/v3/integration_graph_pb.ts";
import type { IntegrationGraph } from "../../integration-graph/graph.ts";
import { graphToProto } from "./integration-graph-proto.ts";
import type { ServiceLimits } from "./streams.ts";
import { watchIntegrationGraph } from "./watch-integration-graph.ts";

/** Implements `actuator.v3.IntegrationGraphService`. */
export function integrationGraphService(
  graph: IntegrationGraph,
  limits: ServiceLimits,
): ServiceImpl<typeof IntegrationGraphService> {
  return {
    getIntegrationGraph() {
      return graphToProto(graph.snapshot());
    },

    async rebuildIntegrationGraph() {
      return create(RebuildIntegrationGraphResponseSchema, { revision: BigInt(await graph.rebuild()) });
    },

    watchIntegrationGraph: watchIntegrationGraph(graph, limits),
  };
}

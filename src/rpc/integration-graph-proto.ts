import { create, type JsonObject } from "@bufbuild/protobuf";
import {
  type GetIntegrationGraphResponse,
  GetIntegrationGraphResponseSchema,
  type Link as LinkProto,
  LinkSchema,
  Link_Type as LinkTypeProto,
  type Node as NodeProto,
  NodeSchema,
  SendTimersSchema,
} from "../gen/actuator/v3/integration_graph_pb.ts";
import type { LinkType } from "../integration-graph/link.ts";
import type { GraphSnapshot, LinkSnapshot, NodeSnapshot, TimerSnapshot } from "../integration-graph/snapshot.ts";

/** The protobuf value of each kind of link. */
export const LINK_TYPE_TO_PROTO: Readonly<Record<LinkType, LinkTypeProto>> = {
  input: LinkTypeProto.INPUT,
  output: LinkTypeProto.OUTPUT,
  error: LinkTypeProto.ERROR,
  discard: LinkTypeProto.DISCARD,
  route: LinkTypeProto.ROUTE,
};

/** The graph as RPC shows it. */
export function graphToProto(graph: GraphSnapshot): GetIntegrationGraphResponse {
  const { contentDescriptor } = graph;
  return create(GetIntegrationGraphResponseSchema, {
    contentDescriptor: {
      providerVersion: contentDescriptor.providerVersion,
      providerFormatVersion: contentDescriptor.providerFormatVersion,
      provider: contentDescriptor.provider,
      name: contentDescriptor.name ?? "",
    },
    nodes: graph.nodes.map(nodeToProto),
    links: graph.links.map(linkToProto),
    revision: BigInt(graph.revision),
  });
}

function nodeToProto(node: NodeSnapshot): NodeProto {
  const { input, output, errors, discards, sendTimers, receiveCounters } = node;
  return create(NodeSchema, {
    nodeId: node.nodeId,
    componentType: node.componentType,
    integrationPatternType: node.integrationPatternType,
    integrationPatternCategory: node.integrationPatternCategory,
    properties: node.properties as JsonObject,
    name: node.name,
    observed: node.observed,
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(errors !== undefined && { errors }),
    ...(discards !== undefined && { discards }),
    routes: [...(node.routes ?? [])],
    handlers: (node.handlers ?? []).map(({ name, type }) => ({ name, type })),
    ...(sendTimers !== undefined && {
      sendTimers: create(SendTimersSchema, {
        successes: timerToProto(sendTimers.successes),
        failures: timerToProto(sendTimers.failures),
      }),
    }),
    ...(receiveCounters !== undefined && {
      receiveCounters: {
        successes: BigInt(receiveCounters.successes),
        failures: BigInt(receiveCounters.failures),
      },
    }),
  });
}

function timerToProto({ count, mean, max }: TimerSnapshot) {
  return { count: BigInt(count), mean, max };
}

function linkToProto({ from, to, type, count }: LinkSnapshot): LinkProto {
  return create(LinkSchema, { from, to, type: LINK_TYPE_TO_PROTO[type], count: BigInt(count) });
}

import { create, type JsonObject } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type ContentDescriptor as ContentDescriptorProto,
  ContentDescriptorSchema,
  type GetIntegrationGraphResponse,
  GetIntegrationGraphResponseSchema,
  type Link as LinkProto,
  LinkSchema,
  Link_Type as LinkTypeProto,
  type Node as NodeProto,
  NodeSchema,
  SendTimersSchema,
  type Timer as TimerProto,
} from "../../gen/actuator/v3/integration_graph_pb.ts";
import type { LinkType } from "../../integration-graph/link-type.ts";
import type { PatternCategory, PatternType } from "../../integration-graph/pattern.ts";
import type {
  ContentDescriptor,
  GraphSnapshot,
  LinkSnapshot,
  NodeSnapshot,
  TimerSnapshot,
} from "../../integration-graph/snapshot.ts";

/** The protobuf value of each type of link. */
export const LINK_TYPE_TO_PROTO: Readonly<Record<LinkType, LinkTypeProto>> = {
  input: LinkTypeProto.INPUT,
  output: LinkTypeProto.OUTPUT,
  error: LinkTypeProto.ERROR,
  discard: LinkTypeProto.DISCARD,
  route: LinkTypeProto.ROUTE,
};

/** Converts the graph. */
export function graphToProto(graph: GraphSnapshot): GetIntegrationGraphResponse {
  return create(GetIntegrationGraphResponseSchema, {
    contentDescriptor: contentDescriptorToProto(graph.contentDescriptor),
    nodes: graph.nodes.map(nodeToProto),
    links: graph.links.map(linkToProto),
    revision: BigInt(graph.revision),
    instanceId: graph.instanceId ?? "",
    brokers: (graph.brokers ?? []).map(({ system, name, address }) => ({ system, name, address })),
  });
}

export function contentDescriptorToProto(descriptor: ContentDescriptor): ContentDescriptorProto {
  const { provider, providerVersion, providerFormatVersion, name = "", dropped = 0, collapsed = 0 } = descriptor;
  return create(ContentDescriptorSchema, {
    ...{ provider, providerVersion, providerFormatVersion, name },
    dropped: BigInt(dropped),
    collapsed: BigInt(collapsed),
  });
}

export function nodeToProto(node: NodeSnapshot): NodeProto {
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
    key: node.key,
    rate: node.rate,
    ...(node.lastSeenTime !== undefined && { lastSeenTime: timestampFromMs(node.lastSeenTime) }),
    stale: node.stale,
    instances: [...(node.instances ?? [])],
  });
}

function timerToProto({ count, mean, max }: TimerSnapshot) {
  return { count: BigInt(count), mean, max };
}

export function linkToProto({ from, to, type, count, declared }: LinkSnapshot): LinkProto {
  return create(LinkSchema, { from, to, type: LINK_TYPE_TO_PROTO[type], count: BigInt(count), declared });
}

const LINK_TYPE_FROM_PROTO = new Map(
  Object.entries(LINK_TYPE_TO_PROTO).map(([type, proto]) => [proto, type as LinkType] as const),
);

/** Converts the graph back. Leaves out links of an unknown type. */
export function graphFromProto(
  graph: Pick<
    GetIntegrationGraphResponse,
    "contentDescriptor" | "nodes" | "links" | "revision" | "instanceId" | "brokers"
  >,
): GraphSnapshot {
  return {
    contentDescriptor: contentDescriptorFromProto(graph.contentDescriptor),
    nodes: graph.nodes.map(nodeFromProto),
    links: graph.links.flatMap(linkFromProto),
    revision: Number(graph.revision),
    ...(graph.instanceId !== "" && { instanceId: graph.instanceId }),
    ...(graph.brokers.length > 0 && {
      brokers: graph.brokers.map(({ system, name, address }) => ({ system, name, address })),
    }),
  };
}

/** Converts what describes the provider. */
export function contentDescriptorFromProto(descriptor: ContentDescriptorProto | undefined): ContentDescriptor {
  const { provider = "", providerVersion = "", providerFormatVersion = 0, name = "" } = descriptor ?? {};
  const { dropped = 0n, collapsed = 0n } = descriptor ?? {};
  return {
    ...{ provider, providerVersion, providerFormatVersion },
    ...(name !== "" && { name }),
    ...(dropped > 0n && { dropped: Number(dropped) }),
    ...(collapsed > 0n && { collapsed: Number(collapsed) }),
  };
}

/** A server of an earlier version sends no key; the id replaces it. */
export function nodeFromProto(node: NodeProto): NodeSnapshot {
  const { input, output, errors, discards, sendTimers, receiveCounters, lastSeenTime } = node;
  return {
    nodeId: node.nodeId,
    componentType: node.componentType,
    integrationPatternType: node.integrationPatternType as PatternType,
    integrationPatternCategory: node.integrationPatternCategory as PatternCategory,
    properties: (node.properties ?? {}) as NodeSnapshot["properties"],
    name: node.name,
    observed: node.observed,
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(errors !== undefined && { errors }),
    ...(discards !== undefined && { discards }),
    ...(node.routes.length > 0 && { routes: node.routes }),
    ...(node.handlers.length > 0 && { handlers: node.handlers.map(({ name, type }) => ({ name, type })) }),
    ...(sendTimers !== undefined && {
      sendTimers: { successes: timerFromProto(sendTimers.successes), failures: timerFromProto(sendTimers.failures) },
    }),
    ...(receiveCounters !== undefined && {
      receiveCounters: { successes: Number(receiveCounters.successes), failures: Number(receiveCounters.failures) },
    }),
    key: node.key || `node:${node.nodeId}`,
    rate: node.rate,
    ...(lastSeenTime !== undefined && { lastSeenTime: timestampMs(lastSeenTime) }),
    stale: node.stale,
    ...(node.instances.length > 0 && { instances: node.instances }),
  };
}

function timerFromProto(timer: TimerProto | undefined): TimerSnapshot {
  return { count: Number(timer?.count ?? 0n), mean: timer?.mean ?? 0, max: timer?.max ?? 0 };
}

/** Nothing if its type is unknown. */
export function linkFromProto({ from, to, type, count, declared }: LinkProto): LinkSnapshot[] {
  const known = LINK_TYPE_FROM_PROTO.get(type);
  return known === undefined ? [] : [{ from, to, type: known, count: Number(count), declared }];
}

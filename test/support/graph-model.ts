import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect } from "vitest";
import {
  GetIntegrationGraphResponseSchema,
  type Link,
  type Node,
  type WatchIntegrationGraphResponse,
  WatchIntegrationGraphResponseSchema,
} from "../../src/gen/actuator/v3/integration_graph_pb.ts";
import { graphFromProto } from "../../src/http/rpc/integration-graph-proto.ts";
import type { GraphSnapshot } from "../../src/integration-graph/snapshot.ts";

/** What a client knows that does with the events of a watch what the protocol says. */
export class GraphModel {
  readonly nodes = new Map<number, Node>();
  readonly links = new Map<string, Link>();
  revision = 0n;
  /** Whether it waits for further events. */
  more = true;
  events = 0;

  take(response: WatchIntegrationGraphResponse): void {
    // What was encoded once for all watchers is read as a client reads it.
    const { event, revision, more } = fromBinary(
      WatchIntegrationGraphResponseSchema,
      toBinary(WatchIntegrationGraphResponseSchema, response),
    );
    this.events++;
    this.more = more;
    this.revision = revision;
    if (event.case === "snapshot") {
      this.nodes.clear();
      this.links.clear();
    }
    if (event.case === "change") {
      for (const id of event.value.removedNodes) {
        this.nodes.delete(id);
        for (const [key, { from, to }] of this.links) if (from === id || to === id) this.links.delete(key);
      }
      for (const link of event.value.removedLinks) this.links.delete(keyOf(link));
    }
    if (event.case === "snapshot" || event.case === "change") {
      for (const node of event.value.nodes) this.nodes.set(node.nodeId, node);
      for (const link of event.value.links) {
        expect([this.nodes.has(link.from), this.nodes.has(link.to)]).toEqual([true, true]);
        this.links.set(keyOf(link), link);
      }
    }
  }

  /** It knows the graph as it is; a rate may be off by a fifth. */
  expectToBe(snapshot: GraphSnapshot): void {
    expect(this.more).toBe(false);
    const known = graphFromProto(
      create(GetIntegrationGraphResponseSchema, {
        nodes: [...this.nodes.values()],
        links: [...this.links.values()],
        revision: this.revision,
      }),
    );
    const rates = new Map(snapshot.nodes.map(({ nodeId, rate }) => [nodeId, rate]));
    for (const { nodeId, rate } of known.nodes) {
      const now = rates.get(nodeId) ?? Number.NaN;
      expect(Math.abs(rate - now)).toBeLessThanOrEqual(0.2 * Math.max(rate, now) + 1e-9);
      if (now === 0) expect(rate).toBe(0);
    }
    expect(sorted(known)).toEqual(sorted(snapshot));
  }
}

function keyOf({ from, type, to }: Link): string {
  return `${from} ${type} ${to}`;
}

/** Without order and rates; what a protobuf message does not tell apart from nothing is nothing. */
function sorted({ nodes, links, revision }: GraphSnapshot) {
  const json = (value: unknown) => JSON.stringify(value);
  const shown = nodes.map(({ rate: _, routes = [], handlers = [], ...node }) => ({ ...node, routes, handlers }));
  return {
    nodes: shown.sort((one, other) => one.nodeId - other.nodeId),
    links: [...links].sort((one, other) => (json(one) < json(other) ? -1 : 1)),
    revision,
  };
}

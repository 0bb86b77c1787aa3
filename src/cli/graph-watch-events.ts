import { create } from "@bufbuild/protobuf";
import {
  WatchIntegrationGraphResponse_ChangeSchema as ChangeSchema,
  type Link,
  type Node,
  WatchIntegrationGraphResponse_SnapshotSchema as SnapshotSchema,
  type WatchIntegrationGraphResponse,
  WatchIntegrationGraphResponseSchema,
} from "../gen/actuator/v3/integration_graph_pb.ts";

/**
 * The events of a watch as they were before the server took large ones to pieces: a snapshot, then changes, each the graph at
 * one moment. Heartbeats, and changes of which nothing is left, are left out.
 */
export async function* wholeGraphEvents(
  pieces: AsyncIterable<WatchIntegrationGraphResponse>,
): AsyncGenerator<WatchIntegrationGraphResponse> {
  let whole = new Whole();
  for await (const piece of pieces) {
    if (piece.event.case !== "snapshot" && piece.event.case !== "change") continue;
    if (piece.event.case === "snapshot") whole = new Whole(piece.event.value.contentDescriptor);
    whole.take(piece.event.value);
    if (piece.more) continue;
    const event = whole.event();
    if (event !== undefined) yield create(WatchIntegrationGraphResponseSchema, { event, revision: piece.revision });
    whole = new Whole();
  }
}

type Event = WatchIntegrationGraphResponse["event"];
type Snapshot = Extract<Event, { case: "snapshot" }>["value"];
type Change = Extract<Event, { case: "change" }>["value"];

/** Several pieces put together: of what is told twice, the later one stays. */
class Whole {
  readonly #descriptor: Snapshot["contentDescriptor"];
  readonly #isSnapshot: boolean;
  readonly #nodes = new Map<number, Node>();
  readonly #links = new Map<string, Link>();
  readonly #removedNodes = new Set<number>();
  readonly #removedLinks = new Map<string, Link>();

  constructor(...descriptor: [Snapshot["contentDescriptor"]] | []) {
    this.#isSnapshot = descriptor.length > 0;
    this.#descriptor = descriptor[0];
  }

  take(piece: Snapshot | Change): void {
    if ("removedNodes" in piece) {
      for (const id of piece.removedNodes) this.#removeNode(id);
      for (const link of piece.removedLinks) {
        this.#links.delete(keyOf(link));
        this.#removedLinks.set(keyOf(link), link);
      }
    }
    for (const node of piece.nodes) this.#nodes.set(node.nodeId, node);
    for (const link of piece.links) {
      this.#links.set(keyOf(link), link);
      this.#removedLinks.delete(keyOf(link));
    }
  }

  event(): Event | undefined {
    const [nodes, links] = [[...this.#nodes.values()], [...this.#links.values()]];
    if (this.#isSnapshot) {
      const contentDescriptor = this.#descriptor;
      const value = create(SnapshotSchema, {
        nodes,
        links,
        ...(contentDescriptor !== undefined && { contentDescriptor }),
      });
      return { case: "snapshot", value };
    }
    const [removedNodes, removedLinks] = [[...this.#removedNodes], [...this.#removedLinks.values()]];
    if (nodes.length + links.length + removedNodes.length + removedLinks.length === 0) return undefined;
    return { case: "change", value: create(ChangeSchema, { nodes, links, removedNodes, removedLinks }) };
  }

  #removeNode(id: number): void {
    this.#nodes.delete(id);
    this.#removedNodes.add(id);
    for (const [key, { from, to }] of this.#links) if (from === id || to === id) this.#links.delete(key);
  }
}

function keyOf({ from, type, to }: Link): string {
  return `${from} ${type} ${to}`;
}

import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { WatchedGraph } from "../../client/watched-graph.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import {
  WatchFleetGraphResponse_InstancesSchema as InstancesSchema,
  type WatchFleetGraphRequest,
  type WatchFleetGraphResponse,
  WatchFleetGraphResponseSchema,
} from "../../gen/actuator/v3/fleet_pb.ts";
import {
  GetIntegrationGraphResponseSchema,
  IntegrationGraphService,
  type WatchIntegrationGraphResponse,
} from "../../gen/actuator/v3/integration_graph_pb.ts";
import { mergeGraphs } from "../../integration-graph/merge.ts";
import type { GraphSnapshot } from "../../integration-graph/snapshot.ts";
import { byInstance, type FleetPeers } from "./fleet-peers.ts";
import { graphFromProto } from "./integration-graph-proto.ts";
import { type PeerStream, PeerStreams } from "./peer-streams.ts";
import { liveEvents, type ServiceLimits } from "./streams.ts";
import { graphEvents } from "./watch-integration-graph.ts";

/** After this time the graph is sent without the instances that have not answered yet. */
const FIRST_MS = 2_000;

/** Watches the graphs of all instances as one. */
export function watchFleetGraph(
  fleet: Fleet,
  peers: FleetPeers,
  { selector, interval }: WatchFleetGraphRequest,
  context: HandlerContext,
  limits: ServiceLimits,
): AsyncIterableIterator<WatchFleetGraphResponse, undefined> {
  const { heartbeatMs } = limits;
  const merged = new MergedGraph();
  const asked = interval === undefined ? {} : { interval };
  const events = graphEvents(merged, limits)(asked);
  const unread = new Map<string, string>();
  let streams: PeerStreams<WatchIntegrationGraphResponse> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isBegun = false;
  let wake: () => void;
  let told = "";

  /** Begins when all have answered. */
  function begin(): void {
    if (isBegun || streams?.instances === undefined) return;
    const isComplete = [...streams.instances].every((id) => merged.has(id) || unread.has(id));
    if (isComplete) start();
    else timer ??= setTimeout(start, FIRST_MS).unref();
  }

  function start(): void {
    isBegun = true;
    clearTimeout(timer);
    events.open(wake);
    wake();
  }

  function changed(): void {
    begin();
    wake();
  }

  /** Who is in the graph, if the client does not know it yet. */
  function instances(): WatchFleetGraphResponse | undefined {
    const others = [...unread].map(([instance, reason]) => ({ instance, reason })).sort(byInstance);
    const now = JSON.stringify([merged.size, others]);
    if (now === told) return undefined;
    told = now;
    const value = create(InstancesSchema, { count: merged.size, unread: others });
    return create(WatchFleetGraphResponseSchema, { event: { case: "instances", value } });
  }

  return liveEvents(
    {
      open(wakeUp) {
        wake = wakeUp;
        const listener: PeerStream<WatchIntegrationGraphResponse> = {
          selector,
          ask: (clients, signal) => clients(IntegrationGraphService).watchIntegrationGraph(asked, { signal }),
          message(instance, message) {
            if (!merged.apply(instance, message)) return;
            unread.delete(instance);
            changed();
          },
          unread(instance, reason) {
            merged.delete(instance);
            unread.set(instance, reason);
            changed();
          },
          gone(instance) {
            merged.delete(instance);
            unread.delete(instance);
          },
          changed,
        };
        streams = new PeerStreams(fleet, peers, listener, context);
        begin();
      },
      take() {
        if (streams?.unavailable !== undefined) throw streams.unavailable;
        if (!isBegun) return undefined;
        const event = instances();
        if (event !== undefined) return event;
        const value = events.take();
        if (value === undefined || value === "end") return undefined;
        return create(WatchFleetGraphResponseSchema, { event: { case: "graph", value } });
      },
      heartbeat() {
        const value = { interval: durationFromMs(heartbeatMs) };
        return create(WatchFleetGraphResponseSchema, { event: { case: "heartbeat", value } });
      },
      close() {
        clearTimeout(timer);
        streams?.close();
        if (isBegun) events.close();
      },
    },
    heartbeatMs,
  );
}

/** The graphs of instances as one, merged again only after one of them has changed. */
class MergedGraph {
  readonly #watched = new Map<string, WatchedGraph>();
  /** Those of which everything is known. */
  readonly #graphs = new Map<string, GraphSnapshot | undefined>();
  #merged: GraphSnapshot | undefined;

  /** How many instances it has. */
  get size(): number {
    return this.#graphs.size;
  }

  has(instance: string): boolean {
    return this.#graphs.has(instance);
  }

  /** Applies an event of an instance's watch. Returns whether the instance has become a part, or its part has changed. */
  apply(instance: string, event: WatchIntegrationGraphResponse): boolean {
    const watched = this.#watched.get(instance) ?? new WatchedGraph();
    this.#watched.set(instance, watched);
    if (watched.apply(event) === undefined) return false;
    // Converted when it is merged: an instance may change several times until then.
    this.#graphs.set(instance, undefined);
    this.#merged = undefined;
    return true;
  }

  delete(instance: string): void {
    this.#watched.delete(instance);
    if (this.#graphs.delete(instance)) this.#merged = undefined;
  }

  snapshot(): GraphSnapshot {
    this.#merged ??= mergeGraphs(
      Array.from(this.#graphs, ([instance, known]) => {
        const graph = known ?? snapshotOf(this.#watched.get(instance)!);
        this.#graphs.set(instance, graph);
        return { instance, graph };
      }),
    );
    return this.#merged;
  }
}

function snapshotOf({ nodes, links, contentDescriptor }: WatchedGraph): GraphSnapshot {
  return graphFromProto(
    create(GetIntegrationGraphResponseSchema, {
      nodes: [...nodes.values()],
      links: [...links.values()],
      ...(contentDescriptor !== undefined && { contentDescriptor }),
    }),
  );
}

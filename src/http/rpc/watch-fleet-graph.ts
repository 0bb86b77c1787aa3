import { create } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
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
  IntegrationGraphService,
  type Link,
  type Node,
  type WatchIntegrationGraphResponse,
} from "../../gen/actuator/v3/integration_graph_pb.ts";
import { GraphMerger } from "../../integration-graph/merge.ts";
import type { GraphSnapshot, LinkSnapshot, NodeSnapshot } from "../../integration-graph/snapshot.ts";
import { WATCH_INTERVAL } from "../../integration-graph/watch.ts";
import { byInstance, type FleetPeers } from "./fleet-peers.ts";
import { contentDescriptorFromProto, linkFromProto, nodeFromProto } from "./integration-graph-proto.ts";
import { type PeerStream, PeerStreams } from "./peer-streams.ts";
import { liveEvents, type ServiceLimits } from "./streams.ts";
import { graphEvents } from "./watch-integration-graph.ts";

/** So much longer is the interval for each instance: what all of them send takes no more than a part of a processor. */
const MS_FOR_EACH = 20;

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
  const events = graphEvents(merged, limits)(interval === undefined ? {} : { interval });
  const unread = new Map<string, string>();
  let streams: PeerStreams<WatchIntegrationGraphResponse> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isBegun = false;
  let wake: () => void;
  let told = "";

  /** Begins when all have answered. */
  function begin(): void {
    if (isBegun || streams?.instances === undefined) return;
    const isComplete = streams.instances.every((id) => merged.has(id) || unread.has(id));
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
          ask(clients, signal) {
            const least = MS_FOR_EACH * (streams?.instances?.length ?? 0);
            const ms = Math.max(interval === undefined ? WATCH_INTERVAL.default : durationMs(interval), least);
            return clients(IntegrationGraphService).watchIntegrationGraph({ interval: durationFromMs(ms) }, { signal });
          },
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

/** The graphs of instances as one, merged only when it is looked at after one of them has changed. */
class MergedGraph {
  readonly #merger = new GraphMerger();
  readonly #parts = new Map<string, Part>();
  #merged: GraphSnapshot | undefined;

  /** How many instances it has. */
  get size(): number {
    return this.#whole().length;
  }

  has(instance: string): boolean {
    return this.#parts.get(instance)?.isWhole === true;
  }

  /** Applies an event of an instance's watch. Returns whether the instance has become a part, or its part has changed. */
  apply(instance: string, event: WatchIntegrationGraphResponse): boolean {
    const part = this.#parts.get(instance) ?? new Part();
    this.#parts.set(instance, part);
    const isChanged = part.apply(event);
    if (isChanged) this.#merged = undefined;
    return isChanged;
  }

  delete(instance: string): void {
    if (this.#parts.delete(instance)) this.#merged = undefined;
  }

  snapshot(): GraphSnapshot {
    this.#merged ??= this.#merger.merge(
      this.#whole().map(([instance, part]) => ({ instance, graph: part.snapshot() })),
    );
    return this.#merged;
  }

  #whole(): (readonly [string, Part])[] {
    return [...this.#parts].filter(([, { isWhole }]) => isWhole);
  }
}

/** The graph of one instance. What has not changed in it is the very same object again, so that it is not merged anew. */
class Part {
  readonly #watched = new WatchedGraph();
  readonly #nodes = new WeakMap<Node, NodeSnapshot>();
  readonly #links = new WeakMap<Link, readonly LinkSnapshot[]>();
  #isWhole = false;

  /** Whether everything has been received once. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Returns whether an event has made it whole, or changed it. */
  apply(event: WatchIntegrationGraphResponse): boolean {
    const isChanged = this.#watched.apply(event) !== undefined;
    this.#isWhole ||= isChanged;
    return isChanged;
  }

  snapshot(): GraphSnapshot {
    const { nodes, links, contentDescriptor } = this.#watched;
    return {
      contentDescriptor: contentDescriptorFromProto(contentDescriptor),
      nodes: Array.from(nodes.values(), (node) => made(this.#nodes, node, nodeFromProto)),
      links: [...links.values()].flatMap((link) => made(this.#links, link, linkFromProto)),
      revision: 0,
    };
  }
}

function made<From extends object, To>(known: WeakMap<From, To>, from: From, make: (from: From) => To): To {
  const before = known.get(from);
  if (before !== undefined) return before;
  const to = make(from);
  known.set(from, to);
  return to;
}

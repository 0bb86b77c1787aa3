import { create, toBinary } from "@bufbuild/protobuf";
import { type Duration, durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { ActuatorError } from "../../common/error.ts";
import {
  WatchIntegrationGraphResponse_ChangeSchema as ChangeSchema,
  LinkSchema,
  NodeSchema,
  WatchIntegrationGraphResponse_SnapshotSchema as SnapshotSchema,
  type WatchIntegrationGraphRequest,
  type WatchIntegrationGraphResponse,
  type WatchIntegrationGraphResponse_Change,
  WatchIntegrationGraphResponseSchema,
} from "../../gen/actuator/v3/integration_graph_pb.ts";
import type { LinkSnapshot, NodeSnapshot } from "../../integration-graph/snapshot.ts";
import { GraphWatch, type GraphWatcher, WATCH_INTERVAL, type WatchableGraph } from "../../integration-graph/watch.ts";
import type { Dated, WatchedGraph } from "../../integration-graph/watched-graph.ts";
import { contentDescriptorToProto, linkToProto, nodeToProto } from "./integration-graph-proto.ts";
import { type LiveSource, liveEvents, type ServiceLimits } from "./streams.ts";

/** Watches the graph for one call. */
export type WatchIntegrationGraph = (
  request: WatchIntegrationGraphRequest,
) => AsyncIterableIterator<WatchIntegrationGraphResponse, undefined>;

/** Makes watches of the graph. */
export function watchIntegrationGraph(graph: WatchableGraph, limits: ServiceLimits): WatchIntegrationGraph {
  const events = graphEvents(graph, limits);
  return (request) => liveEvents(events(request), limits.heartbeatMs);
}

/**
 * Makes the events of such watches, which share their messages. A watch keeps only two versions and a position, however slowly its client
 * reads; several changes reach a slow client as one.
 */
export function graphEvents(
  graph: WatchableGraph,
  { maxBytes, heartbeatMs }: ServiceLimits,
): (request: Pick<WatchIntegrationGraphRequest, "interval">) => LiveSource<WatchIntegrationGraphResponse> {
  const watch = new GraphWatch(graph);
  const pieces = new GraphPieces(maxBytes);
  const heartbeat = durationFromMs(heartbeatMs);

  return ({ interval }) => {
    const milliseconds = intervalFrom(interval);
    let since = 0;
    let until = 0;
    let after: Position | undefined;
    let watcher: GraphWatcher;

    return {
      open(wake) {
        watcher = watch.watch(milliseconds, wake);
      },
      take() {
        const { state } = watcher;
        if (after === undefined && since === state.version) return undefined;
        if (since < state.remembers && sendsRemoved(after)) {
          since = 0;
          after = undefined;
        }
        if (after === undefined) until = state.version;
        const { response, last } = pieces.get(state, { since, until, after });
        after = last;
        if (last === undefined) since = until;
        return response;
      },
      heartbeat: () =>
        create(WatchIntegrationGraphResponseSchema, {
          event: { case: "heartbeat", value: { interval: heartbeat } },
          revision: BigInt(watcher.state.revision),
        }),
      close() {
        watcher.close();
      },
    };
  };
}

/** Whether removed elements are still to be sent. */
function sendsRemoved(after: Position | undefined): boolean {
  return after === undefined || after.part < 2;
}

/** @throws ActuatorError INVALID_ARGUMENT for an interval that is too short or too long */
function intervalFrom(interval: Duration | undefined): number {
  if (interval === undefined) return WATCH_INTERVAL.default;
  const milliseconds = durationMs(interval);
  if (milliseconds >= WATCH_INTERVAL.min && milliseconds <= WATCH_INTERVAL.max) return milliseconds;
  const message = `interval must be from 0.25 to 60 seconds, not ${milliseconds / 1_000}.`;
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_INTERVAL", message, { field: "interval" });
}

/** How much of an event was sent: up to which part, and up to which place in it. */
export interface Position {
  readonly part: number;
  readonly place: number;
}

/** The next piece that a watch needs. */
export interface Wanted {
  /** The version that its client knows completely; 0 for none. */
  readonly since: number;
  /** The version that it is sending. */
  readonly until: number;
  /** How much of that version it has sent; undefined at the beginning. */
  readonly after: Position | undefined;
}

/** One event with as many elements as fit. */
export interface Piece {
  readonly response: WatchIntegrationGraphResponse;
  /** Its end, if there is more to send. */
  readonly last: Position | undefined;
}

/** The maximum size of a piece. A thousand stalled clients hold no more than a thousand pieces. */
const PIECE_BYTES = 64 * 1024;
/** What a response has beside its elements. */
const FRAME_BYTES = 512;
/** JSON takes at most this many times the bytes of protobuf. */
const JSON_FACTOR = 4;
/** The maximum of shared pieces. Watches that keep up need the same ones; each that does not needs others. */
const MAX_SHARED = 32;

/** The fields of a change in the order in which they are sent: a link after its nodes. */
const PARTS = ["removedNodes", "removedLinks", "nodes", "links"] as const satisfies readonly (keyof WatchedGraph)[];
type PartName = (typeof PARTS)[number];
type Element = Dated<number | NodeSnapshot | LinkSnapshot>;

/** The pieces of a state, each made once for all watches that need it, so that it is encoded once for each format. */
export class GraphPieces {
  readonly #maxBytes: number;
  readonly #shared = new WeakMap<WatchedGraph, Map<string, Piece>>();
  readonly #sizes = new WeakMap<object, number>();

  /** @param maxBytes the maximum size of a response */
  constructor(maxBytes: number) {
    this.#maxBytes = Math.min(maxBytes / JSON_FACTOR, PIECE_BYTES) - FRAME_BYTES;
  }

  get(state: WatchedGraph, wanted: Wanted): Piece {
    const pieces = this.#shared.get(state) ?? new Map<string, Piece>();
    this.#shared.set(state, pieces);
    const { since, until, after } = wanted;
    const key = JSON.stringify([since, until, after?.part, after?.place]);
    const shared = pieces.get(key);
    if (shared !== undefined) return shared;
    const piece = this.#piece(state, wanted);
    const [oldest] = pieces.keys();
    if (pieces.size >= MAX_SHARED) pieces.delete(oldest!);
    pieces.set(key, piece);
    return piece;
  }

  #piece(state: WatchedGraph, wanted: Wanted): Piece {
    const { until, after, since } = wanted;
    const taken: Record<PartName, Element[]> = { removedNodes: [], removedLinks: [], nodes: [], links: [] };
    let bytes = 0;
    let sent: Position | undefined;
    let last: Position | undefined;
    for (const { part, element } of news(state, wanted)) {
      bytes += this.#size(part, element) + 8;
      if (sent !== undefined && bytes > this.#maxBytes) {
        last = sent;
        break;
      }
      taken[part].push(element);
      sent = { part: PARTS.indexOf(part), place: element.place };
    }
    const isSnapshot = since === 0 && after === undefined;
    const isDescribed = after === undefined && state.describedAt > since;
    const descriptor = isDescribed ? { contentDescriptor: contentDescriptorToProto(state.contentDescriptor) } : {};
    const response = create(WatchIntegrationGraphResponseSchema, {
      event: eventOf(descriptor, taken, isSnapshot),
      revision: BigInt(state.revision),
      more: last !== undefined || state.version !== until,
    });
    return { response, last };
  }

  /** The bytes of an element as protobuf, counted once for all watches and intervals. */
  #size(part: PartName, { subject }: Element): number {
    if (typeof subject === "number") return NUMBER_BYTES;
    const known = this.#sizes.get(subject);
    if (known !== undefined) return known;
    const bytes =
      part === "nodes"
        ? toBinary(NodeSchema, nodeToProto(subject as NodeSnapshot))
        : toBinary(LinkSchema, linkToProto(subject as LinkSnapshot));
    this.#sizes.set(subject, bytes.length);
    return bytes.length;
  }
}

/** The length of the longest encoded number. */
const NUMBER_BYTES = 10;

/** The elements that are still to be sent, in their order. */
function* news(
  state: WatchedGraph,
  { since, until, after }: Wanted,
): Iterable<{ readonly part: PartName; readonly element: Element }> {
  for (const [at, part] of PARTS.entries()) {
    if (after !== undefined && at < after.part) continue;
    const list: readonly Element[] = state[part];
    // A client that knows nothing needs no removals.
    if (part.startsWith("removed") && since === 0 && after === undefined) continue;
    for (const element of list) {
      if (after?.part === at && element.place <= after.place) continue;
      if (element.version <= since || element.since > until) continue;
      yield { part, element };
    }
  }
}

/** The description of the provider, if the client does not know it yet. */
type Descriptor = Pick<WatchIntegrationGraphResponse_Change, "contentDescriptor"> | Record<string, never>;

function eventOf(descriptor: Descriptor, taken: Record<PartName, Element[]>, isSnapshot: boolean) {
  const nodes = taken.nodes.map(({ subject }) => nodeToProto(subject as NodeSnapshot));
  const links = taken.links.map(({ subject }) => linkToProto(subject as LinkSnapshot));
  if (isSnapshot) {
    return { case: "snapshot" as const, value: create(SnapshotSchema, { ...descriptor, nodes, links }) };
  }
  const value: WatchIntegrationGraphResponse_Change = create(ChangeSchema, {
    ...descriptor,
    nodes,
    links,
    removedNodes: taken.removedNodes.map(({ subject }) => subject as number),
    removedLinks: taken.removedLinks.map(({ subject }) => linkToProto(subject as LinkSnapshot)),
  });
  return { case: "change" as const, value };
}

import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  WatchIntegrationGraphResponse_ChangeSchema as ChangeSchema,
  LinkSchema,
  NodeSchema,
  WatchIntegrationGraphResponse_SnapshotSchema as SnapshotSchema,
  type WatchIntegrationGraphResponse,
  type WatchIntegrationGraphResponse_Change,
  WatchIntegrationGraphResponseSchema,
} from "../../gen/actuator/v3/integration_graph_pb.ts";
import type { LinkSnapshot, NodeSnapshot } from "../../integration-graph/snapshot.ts";
import type { Dated, WatchedGraph } from "../../integration-graph/watched-graph.ts";
import { contentDescriptorToProto, linkToProto, nodeToProto } from "./integration-graph-proto.ts";

/** How far a watcher has been told: up to which part of an event, and in it up to which place. */
export interface Position {
  readonly part: number;
  readonly place: number;
}

/** What a watcher is to be told next. */
export interface Wanted {
  /** The version up to which it knows everything; 0 for nothing. */
  readonly since: number;
  /** The version that it is being taken to. */
  readonly until: number;
  /** How far it has been told on the way there; undefined at the beginning. */
  readonly after: Position | undefined;
  /** Whether it takes protobuf and not JSON. */
  readonly binary: boolean;
}

/** One event with as much of that as fits. */
export interface Piece {
  readonly response: WatchIntegrationGraphResponse;
  /** How far it goes, where there is more. */
  readonly last: Position | undefined;
}

/** A piece is no larger, so that a thousand readers that stall hold no more than a thousand of these. */
const PIECE_BYTES = 64 * 1024;
/** What a response has beside its elements. */
const FRAME_BYTES = 512;
/** JSON takes up to this many times the bytes of protobuf. */
const JSON_FACTOR = 4;
/** Watchers that keep up want the same, and each that does not something else. */
const MAX_SHARED = 32;

/** The fields of a change in the order in which they are told: a link comes after its nodes. */
const PARTS = ["removedNodes", "removedLinks", "nodes", "links"] as const satisfies readonly (keyof WatchedGraph)[];
type PartName = (typeof PARTS)[number];
type Element = Dated<number | NodeSnapshot | LinkSnapshot>;

/** The pieces of a state, each made once for all watchers that want it, and encoded once where they take protobuf. */
export class GraphPieces {
  readonly #maxBytes: number;
  readonly #shared = new WeakMap<WatchedGraph, Map<string, Piece>>();
  readonly #encoded = new WeakMap<object, Uint8Array>();

  /** `maxBytes` bounds a response. */
  constructor(maxBytes: number) {
    this.#maxBytes = Math.min(maxBytes, PIECE_BYTES) - FRAME_BYTES;
  }

  get(state: WatchedGraph, wanted: Wanted): Piece {
    const pieces = this.#shared.get(state) ?? new Map<string, Piece>();
    this.#shared.set(state, pieces);
    const { since, until, after, binary } = wanted;
    const key = JSON.stringify([since, until, after?.part, after?.place, binary]);
    const shared = pieces.get(key);
    if (shared !== undefined) return shared;
    const piece = this.#piece(state, wanted);
    const [oldest] = pieces.keys();
    if (pieces.size >= MAX_SHARED) pieces.delete(oldest!);
    pieces.set(key, piece);
    return piece;
  }

  #piece(state: WatchedGraph, wanted: Wanted): Piece {
    const { until, after, since, binary } = wanted;
    const taken: Record<PartName, Element[]> = { removedNodes: [], removedLinks: [], nodes: [], links: [] };
    const maxBytes = binary ? this.#maxBytes : this.#maxBytes / JSON_FACTOR;
    let bytes = 0;
    let told: Position | undefined;
    let last: Position | undefined;
    for (const { part, element } of news(state, wanted)) {
      bytes += this.#bytes(part, element).length + 8;
      if (told !== undefined && bytes > maxBytes) {
        last = told;
        break;
      }
      taken[part].push(element);
      told = { part: PARTS.indexOf(part), place: element.place };
    }
    const response = create(WatchIntegrationGraphResponseSchema, {
      revision: BigInt(state.revision),
      more: last !== undefined || state.version !== until,
    });
    const isSnapshot = since === 0 && after === undefined;
    if (binary) {
      // Fields that a message does not know are written as they are: so a hundred watchers cost one encoding.
      const { snapshot, change } = WatchIntegrationGraphResponseSchema.field;
      const no = (isSnapshot ? snapshot : change).number;
      const data = new BinaryWriter().bytes(this.#encodedEvent(state, taken, isSnapshot)).finish();
      response.$unknown = [{ no, wireType: WireType.LengthDelimited, data }];
    } else response.event = eventOf(state, taken, isSnapshot);
    return { response, last };
  }

  #encodedEvent(state: WatchedGraph, taken: Record<PartName, Element[]>, isSnapshot: boolean): Uint8Array {
    const fields = isSnapshot ? SnapshotSchema.field : ChangeSchema.field;
    const writer = new BinaryWriter();
    if (isSnapshot) {
      const descriptor = create(SnapshotSchema, {
        contentDescriptor: contentDescriptorToProto(state.contentDescriptor),
      });
      writer.raw(toBinary(SnapshotSchema, descriptor));
    }
    for (const part of PARTS) {
      for (const element of taken[part]) {
        const { number } = fields[part as keyof typeof fields]!;
        if (typeof element.subject === "number") writer.tag(number, WireType.Varint).int32(element.subject);
        else writer.tag(number, WireType.LengthDelimited).bytes(this.#bytes(part, element));
      }
    }
    return writer.finish();
  }

  /** An element as protobuf, made once however many watchers and intervals. */
  #bytes(part: PartName, { subject }: Element): Uint8Array {
    if (typeof subject === "number") return NUMBER;
    const known = this.#encoded.get(subject);
    if (known !== undefined) return known;
    const bytes =
      part === "nodes"
        ? toBinary(NodeSchema, nodeToProto(subject as NodeSnapshot))
        : toBinary(LinkSchema, linkToProto(subject as LinkSnapshot));
    this.#encoded.set(subject, bytes);
    return bytes;
  }
}

/** As long as the longest number. */
const NUMBER = new Uint8Array(10);

/** What `wanted` has not been told of yet, in the order in which it is told. */
function* news(
  state: WatchedGraph,
  { since, until, after }: Wanted,
): Iterable<{ readonly part: PartName; readonly element: Element }> {
  for (const [at, part] of PARTS.entries()) {
    if (after !== undefined && at < after.part) continue;
    const list: readonly Element[] = state[part];
    // Who knows nothing needs not hear of what is gone.
    if (part.startsWith("removed") && since === 0 && after === undefined) continue;
    for (const element of list) {
      if (after?.part === at && element.place <= after.place) continue;
      if (element.version <= since || element.since > until) continue;
      yield { part, element };
    }
  }
}

function eventOf(state: WatchedGraph, taken: Record<PartName, Element[]>, isSnapshot: boolean) {
  const nodes = taken.nodes.map(({ subject }) => nodeToProto(subject as NodeSnapshot));
  const links = taken.links.map(({ subject }) => linkToProto(subject as LinkSnapshot));
  if (isSnapshot) {
    const contentDescriptor = contentDescriptorToProto(state.contentDescriptor);
    return { case: "snapshot" as const, value: create(SnapshotSchema, { contentDescriptor, nodes, links }) };
  }
  const value: WatchIntegrationGraphResponse_Change = create(ChangeSchema, {
    nodes,
    links,
    removedNodes: taken.removedNodes.map(({ subject }) => subject as number),
    removedLinks: taken.removedLinks.map(({ subject }) => linkToProto(subject as LinkSnapshot)),
  });
  return { case: "change" as const, value };
}

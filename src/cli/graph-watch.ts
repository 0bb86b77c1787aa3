import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { printable } from "../common/printable.ts";
import {
  type WatchIntegrationGraphResponse_Change as Change,
  WatchIntegrationGraphResponse_ChangeSchema as ChangeSchema,
  GetIntegrationGraphResponseSchema,
  IntegrationGraphService,
  type Link,
  type Node,
  type WatchIntegrationGraphResponse_Snapshot as Snapshot,
  WatchIntegrationGraphResponse_SnapshotSchema as SnapshotSchema,
  type WatchIntegrationGraphResponse,
  WatchIntegrationGraphResponseSchema,
} from "../gen/actuator/v3/integration_graph_pb.ts";
import { graphFromProto } from "../http/rpc/integration-graph-proto.ts";
import { leftOutText } from "../integration-graph/export/labels.ts";
import { nodeText, toText } from "../integration-graph/export/text.ts";
import type { GraphSnapshot, LinkSnapshot } from "../integration-graph/snapshot.ts";
import { type Connection, printJson } from "./connection.ts";
import { GRAPH_STYLE, summary } from "./graph-show.ts";
import { liveStream } from "./live-stream.ts";
import type { GlobalOptions } from "./options.ts";
import { clockText, note, print } from "./output.ts";

/** How many lines one change may have; more of them are counted. */
const MAX_LINES = 30;

/** Runs `graph --watch`: shows the graph, then every change of it, until the command is ended. */
export async function watchGraph(
  connection: Connection,
  { timeout, json, interval }: Pick<GlobalOptions, "timeout" | "json"> & { readonly interval?: number },
): Promise<void> {
  const client = connection(IntegrationGraphService);
  const request = interval === undefined ? {} : { interval: durationFromMs(interval) };
  const stream = liveStream((call) => client.watchIntegrationGraph(request, call), { timeout });
  const names = new Map<number, string>();
  const links = new Set<string>();
  for await (const whole of wholeEvents(stream)) {
    const { event } = whole;
    const graph = graphOf(whole);
    if (json) printJson(WatchIntegrationGraphResponseSchema, whole, "one");
    else if (event.case === "snapshot") {
      names.clear();
      links.clear();
      process.stdout.write(toText(graph, { style: GRAPH_STYLE }));
      note(summary(event.value));
    } else showChange(event.value, graph, names, links);
    for (const { nodeId, name } of event.value.nodes) names.set(nodeId, name);
    for (const link of graph.links) links.add(keyOf(link));
  }
}

/** Prints a change. `names` and `links` are what was printed before. */
function showChange(
  change: Change,
  graph: GraphSnapshot,
  names: ReadonlyMap<number, string>,
  links: ReadonlySet<string>,
): void {
  const name = (id: number) => {
    return printable(change.nodes.find(({ nodeId }) => nodeId === id)?.name ?? names.get(id) ?? `${id}`);
  };
  const linkText = ({ from, type, to }: LinkSnapshot) => `${name(from)} -${type}-> ${name(to)}`;
  const lines = [
    ...change.removedNodes.map((id) => `${name(id)}: gone`),
    ...graph.nodes.map((node) => nodeText(node, GRAPH_STYLE)),
    ...graph.links.filter((link) => !links.has(keyOf(link))).map(linkText),
    ...(change.contentDescriptor === undefined ? [] : [leftOutText(graph.contentDescriptor) ?? []].flat()),
  ];
  const clock = clockText();
  for (const line of lines.slice(0, MAX_LINES)) print(`${clock}  ${line}`);
  if (lines.length > MAX_LINES) print(`${clock}  and ${lines.length - MAX_LINES} more`);
}

type WholeEvent = WatchIntegrationGraphResponse & {
  readonly event:
    | { readonly case: "snapshot"; readonly value: Snapshot }
    | { readonly case: "change"; readonly value: Change };
};

/** The nodes and links of an event as a graph. */
function graphOf({ event, revision }: WholeEvent): GraphSnapshot {
  const { nodes, links } = event.value;
  const { contentDescriptor } = event.value;
  return graphFromProto(
    create(GetIntegrationGraphResponseSchema, {
      nodes,
      links,
      revision,
      ...(contentDescriptor !== undefined && { contentDescriptor }),
    }),
  );
}

/**
 * Joins the pieces into which the server divides large events: one snapshot, then changes, each the graph at one moment. Leaves
 * out heartbeats, and changes of which nothing is left.
 */
async function* wholeEvents(pieces: AsyncIterable<WatchIntegrationGraphResponse>): AsyncGenerator<WholeEvent> {
  let pending = new PendingEvent();
  for await (const { event, more, revision } of pieces) {
    if (event.case !== "snapshot" && event.case !== "change") continue;
    if (event.case === "snapshot") pending = new PendingEvent(true);
    pending.add(event.value);
    if (more) continue;
    const whole = pending.event();
    if (whole !== undefined) {
      yield create(WatchIntegrationGraphResponseSchema, { event: whole, revision }) as WholeEvent;
    }
    pending = new PendingEvent();
  }
}

/** The pieces of one event. If two pieces tell the same thing, the later one counts. */
class PendingEvent {
  readonly #isSnapshot: boolean;
  #descriptor: Change["contentDescriptor"];
  readonly #nodes = new Map<number, Node>();
  readonly #links = new Map<string, Link>();
  readonly #removedNodes = new Set<number>();
  readonly #removedLinks = new Map<string, Link>();

  constructor(isSnapshot = false) {
    this.#isSnapshot = isSnapshot;
  }

  add(piece: Snapshot | Change): void {
    this.#descriptor = piece.contentDescriptor ?? this.#descriptor;
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

  /** The event; undefined if nothing changed. */
  event(): WholeEvent["event"] | undefined {
    const [nodes, links] = [[...this.#nodes.values()], [...this.#links.values()]];
    const descriptor = this.#descriptor === undefined ? {} : { contentDescriptor: this.#descriptor };
    if (this.#isSnapshot) return { case: "snapshot", value: create(SnapshotSchema, { nodes, links, ...descriptor }) };
    const [removedNodes, removedLinks] = [[...this.#removedNodes], [...this.#removedLinks.values()]];
    const count = nodes.length + links.length + removedNodes.length + removedLinks.length;
    if (count === 0 && this.#descriptor === undefined) return undefined;
    return { case: "change", value: create(ChangeSchema, { nodes, links, removedNodes, removedLinks, ...descriptor }) };
  }

  #removeNode(id: number): void {
    this.#nodes.delete(id);
    this.#removedNodes.add(id);
    for (const [key, { from, to }] of this.#links) if (from === id || to === id) this.#links.delete(key);
  }
}

function keyOf({ from, type, to }: Pick<Link, "from" | "to"> & { readonly type: unknown }): string {
  return `${from} ${type} ${to}`;
}

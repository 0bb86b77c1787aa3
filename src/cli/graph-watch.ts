import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { type GraphChange, linkKey, WatchedGraph } from "../client/watched-graph.ts";
import { printable } from "../common/printable.ts";
import {
  GetIntegrationGraphResponseSchema,
  IntegrationGraphService,
  type WatchIntegrationGraphResponse,
  WatchIntegrationGraphResponseSchema,
} from "../gen/actuator/v3/integration_graph_pb.ts";
import { graphFromProto, LINK_TYPE_TO_PROTO } from "../http/rpc/integration-graph-proto.ts";
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
  { timeout, json = false, interval }: Pick<GlobalOptions, "timeout" | "json"> & { readonly interval?: number },
): Promise<void> {
  const client = connection(IntegrationGraphService);
  const request = interval === undefined ? {} : { interval: durationFromMs(interval) };
  const shown = new ShownGraph(json);
  for await (const event of liveStream((call) => client.watchIntegrationGraph(request, call), { timeout })) {
    shown.apply(event);
  }
}

/** A graph that is watched on the terminal. The server divides large events; what is shown is the graph of one moment. */
export class ShownGraph {
  readonly #watched = new WatchedGraph();
  readonly #isJson: boolean;

  constructor(isJson: boolean) {
    this.#isJson = isJson;
  }

  /** Prints what an event has changed. */
  apply(event: WatchIntegrationGraphResponse): void {
    const change = this.#watched.apply(event);
    if (change === undefined) return;
    const graph = graphOf(change);
    if (this.#isJson) printJson(WatchIntegrationGraphResponseSchema, wholeEvent(change), "one");
    else if (change.isSnapshot) {
      process.stdout.write(toText(graph, { style: GRAPH_STYLE }));
      note(summary(graph));
    } else showChange(change, graph, this.#watched);
  }
}

function showChange(change: GraphChange, graph: GraphSnapshot, { nodes }: WatchedGraph): void {
  const name = (id: number) => printable((nodes.get(id) ?? change.nodesBefore.get(id))?.name ?? `${id}`);
  const linkText = ({ from, type, to }: LinkSnapshot) => `${name(from)} -${type}-> ${name(to)}`;
  const isNew = (link: LinkSnapshot) =>
    !change.linksBefore.has(linkKey({ ...link, type: LINK_TYPE_TO_PROTO[link.type] }));
  const lines = [
    ...[...change.removedNodes].map((id) => `${name(id)}: gone`),
    ...graph.nodes.map((node) => nodeText(node, GRAPH_STYLE)),
    ...graph.links.filter(isNew).map(linkText),
    ...(change.contentDescriptor === undefined ? [] : [leftOutText(graph.contentDescriptor) ?? []].flat()),
  ];
  const clock = clockText();
  for (const line of lines.slice(0, MAX_LINES)) print(`${clock}  ${line}`);
  if (lines.length > MAX_LINES) print(`${clock}  and ${lines.length - MAX_LINES} more`);
}

/** The nodes and links of a change as a graph. */
function graphOf({ nodes, links, contentDescriptor, revision }: GraphChange): GraphSnapshot {
  return graphFromProto(
    create(GetIntegrationGraphResponseSchema, {
      nodes: [...nodes.values()],
      links: [...links.values()],
      revision,
      ...(contentDescriptor !== undefined && { contentDescriptor }),
    }),
  );
}

/** A change as one event. */
function wholeEvent(change: GraphChange) {
  const [nodes, links] = [[...change.nodes.values()], [...change.links.values()]];
  const removed = { removedNodes: [...change.removedNodes], removedLinks: [...change.removedLinks.values()] };
  const descriptor = change.contentDescriptor === undefined ? {} : { contentDescriptor: change.contentDescriptor };
  return create(WatchIntegrationGraphResponseSchema, {
    event: change.isSnapshot
      ? { case: "snapshot", value: { nodes, links, ...descriptor } }
      : { case: "change", value: { nodes, links, ...removed, ...descriptor } },
    revision: change.revision,
  });
}

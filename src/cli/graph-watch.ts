import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampNow } from "@bufbuild/protobuf/wkt";
import {
  type WatchIntegrationGraphResponse_Change as Change,
  GetIntegrationGraphResponseSchema,
  IntegrationGraphService,
  type WatchIntegrationGraphResponse,
  WatchIntegrationGraphResponseSchema,
} from "../gen/actuator/v3/integration_graph_pb.ts";
import { graphFromProto } from "../http/rpc/integration-graph-proto.ts";
import { nodeText, toText } from "../integration-graph/export/text.ts";
import type { GraphSnapshot, LinkSnapshot } from "../integration-graph/snapshot.ts";
import type { Connection } from "./connection.ts";
import type { GlobalOptions } from "./global-options.ts";
import { GRAPH_STYLE, summary } from "./graph-text.ts";
import { wholeGraphEvents } from "./graph-watch-events.ts";
import { liveStream } from "./live-stream.ts";
import { note, print, printJson, styled } from "./output.ts";
import { printable } from "./printable.ts";
import { timeToText } from "./time.ts";

/** How many nodes have a line each of one change; of more, their number is told. */
const MOST_LINES = 30;

/** `graph --watch`: the graph, then what changes of it, until the command is ended. */
export async function watchGraph(
  connection: Connection,
  { timeout, json, interval }: Pick<GlobalOptions, "timeout" | "json"> & { readonly interval?: number },
): Promise<void> {
  const client = connection(IntegrationGraphService);
  const request = interval === undefined ? {} : { interval: durationFromMs(interval) };
  const stream = liveStream((call) => client.watchIntegrationGraph(request, call), { timeout });
  const names = new Map<number, string>();
  const links = new Set<string>();
  for await (const whole of wholeGraphEvents(stream)) {
    const { event } = whole;
    if (json) printJson(WatchIntegrationGraphResponseSchema, whole, "one");
    else if (event.case === "snapshot") {
      names.clear();
      links.clear();
      process.stdout.write(toText(graphOf(whole), { style: GRAPH_STYLE }));
      note(summary(event.value));
    } else if (event.case === "change") showChange(event.value, graphOf(whole), { names, links });
    if (event.case !== "snapshot" && event.case !== "change") continue;
    for (const { nodeId, name } of event.value.nodes) names.set(nodeId, name);
    for (const link of graphOf(whole).links) links.add(keyOf(link));
  }
}

/** What the reader has been shown. */
interface Shown {
  readonly names: ReadonlyMap<number, string>;
  readonly links: Set<string>;
}

function showChange(change: Change, graph: GraphSnapshot, { names, links }: Shown): void {
  const name = (id: number) => {
    return printable(change.nodes.find(({ nodeId }) => nodeId === id)?.name ?? names.get(id) ?? `${id}`);
  };
  const way = ({ from, type, to }: LinkSnapshot) => `${name(from)} -${type}-> ${name(to)}`;
  const lines = [
    ...change.removedNodes.map((id) => `${name(id)}: gone`),
    ...graph.nodes.map((node) => nodeText(node, GRAPH_STYLE)),
    ...graph.links.filter((link) => !links.has(keyOf(link))).map(way),
  ];
  const clock = styled("dim", timeToText(timestampNow()).slice(-8));
  for (const line of lines.slice(0, MOST_LINES)) print(`${clock}  ${line}`);
  if (lines.length > MOST_LINES) print(`${clock}  and ${lines.length - MOST_LINES} more`);
}

/** The nodes and links of an event as a graph. */
function graphOf({ event, revision }: WatchIntegrationGraphResponse): GraphSnapshot {
  const { nodes, links } =
    event.case === "snapshot" || event.case === "change" ? event.value : { nodes: [], links: [] };
  const contentDescriptor = event.case === "snapshot" ? event.value.contentDescriptor : undefined;
  return graphFromProto(
    create(GetIntegrationGraphResponseSchema, {
      nodes,
      links,
      revision,
      ...(contentDescriptor !== undefined && { contentDescriptor }),
    }),
  );
}

function keyOf({ from, type, to }: LinkSnapshot): string {
  return `${from} ${type} ${to}`;
}

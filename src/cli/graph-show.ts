import { writeFile } from "node:fs/promises";
import { toJson } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { printable, printableJson } from "../common/printable.ts";
import {
  type GetIntegrationGraphResponse,
  GetIntegrationGraphResponseSchema,
  IntegrationGraphService,
} from "../gen/actuator/v3/integration_graph_pb.ts";
import { graphFromProto, graphToProto } from "../http/rpc/integration-graph-proto.ts";
import { toAsyncApi } from "../integration-graph/export/asyncapi.ts";
import { toDot } from "../integration-graph/export/dot.ts";
import { leftOutText } from "../integration-graph/export/labels.ts";
import { toMermaid } from "../integration-graph/export/mermaid.ts";
import { toSvg } from "../integration-graph/export/svg.ts";
import { type Style, toText } from "../integration-graph/export/text.ts";
import { differentParts, type GraphPart, mergeGraphs } from "../integration-graph/merge.ts";
import { baseUrlOf, type Connection, connect } from "./connection.ts";
import { CliError, EXIT } from "./error.ts";
import { failureOf } from "./failure.ts";
import type { GlobalOptions } from "./options.ts";
import { type Format, note, styled } from "./output.ts";

/** The formats of a graph. */
export type GraphFormat = "text" | "json" | "dot" | "mermaid" | "svg" | "asyncapi";

/** The options of `graph`. */
export interface GraphOptions {
  readonly format: GraphFormat;
  readonly output?: string;
  readonly with?: readonly string[];
  readonly watch?: boolean;
  /** Milliseconds. */
  readonly interval?: number;
}

const COLOURS: Readonly<Record<Parameters<Style>[0], Format>> = { failure: "red", aside: "dim" };

/** The colours of a graph on a terminal. */
export const GRAPH_STYLE: Style = (part, text) => styled(COLOURS[part], text);

type Writer = (graph: GetIntegrationGraphResponse, style?: Style) => string | Promise<string>;

const WRITERS: Readonly<Record<GraphFormat, Writer>> = {
  text: (graph, style) => toText(graphFromProto(graph), style && { style }),
  json: (graph) => `${printableJson(toJson(GetIntegrationGraphResponseSchema, graph), 2)}\n`,
  dot: (graph) => toDot(graphFromProto(graph)),
  mermaid: (graph) => toMermaid(graphFromProto(graph)),
  asyncapi: (graph) => toAsyncApi(graphFromProto(graph)),
  svg: (graph) => toSvg(graphFromProto(graph)),
};

/** Runs `graph`. */
export async function showGraph(connection: Connection, options: GraphOptions & GlobalOptions): Promise<void> {
  const { with: others = [] } = options;
  const graph = await (others.length > 0
    ? mergedGraph(connection, others, options)
    : connection(IntegrationGraphService).getIntegrationGraph({}));
  await printGraph(graph, options);
}

/** Prints a graph, or writes it to a file. */
export async function printGraph(
  graph: GetIntegrationGraphResponse,
  { format, output }: Pick<GraphOptions, "format" | "output">,
): Promise<void> {
  const text = await formatted(graph, format, output === undefined ? GRAPH_STYLE : undefined);
  if (output !== undefined) {
    await write(output, text);
    note(`${summary(graph)} in ${printable(output)}`);
    noteLeftOut(graph);
  } else {
    process.stdout.write(text);
    // JSON is for programs, which count by themselves.
    if (format !== "json") note(summary(graph));
    // The text has a line of its own for it.
    if (format !== "json" && format !== "text") noteLeftOut(graph);
  }
}

/** The name and size of a graph. */
export function summary({
  contentDescriptor,
  nodes,
  links,
}: {
  readonly contentDescriptor?: { readonly name?: string | undefined } | undefined;
  readonly nodes: readonly unknown[];
  readonly links: readonly unknown[];
}): string {
  const { name = "" } = contentDescriptor ?? {};
  return `${name === "" ? "" : `${printable(name)}: `}${nodes.length} nodes, ${links.length} links`;
}

function noteLeftOut(graph: GetIntegrationGraphResponse): void {
  const leftOut = leftOutText(graphFromProto(graph).contentDescriptor);
  if (leftOut !== undefined) note(leftOut);
}

/** @throws CliError if the graph is too large for the format; the message names another one. */
async function formatted(graph: GetIntegrationGraphResponse, format: GraphFormat, style?: Style): Promise<string> {
  try {
    return await WRITERS[format](graph, style);
  } catch (error) {
    if (error instanceof RangeError) throw new CliError(EXIT.refused, error.message);
    throw error;
  }
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message = `${printable(file)} cannot be written (${code}): check that its folder exists and is writable`;
    throw new CliError(EXIT.refused, message);
  }
}

/**
 * Merges the graphs of the actuator of `options` and of those at `addresses`. Each instance is named by its address. The token
 * is sent to all of them.
 *
 * @throws CliError if an address is given twice, or if one of them does not answer.
 */
async function mergedGraph(
  connection: Connection,
  addresses: readonly string[],
  options: GlobalOptions,
): Promise<GetIntegrationGraphResponse> {
  const urls = [options.url, ...addresses].map(baseUrlOf);
  const twice = urls.find((url, at) => urls.indexOf(url) !== at);
  if (twice !== undefined) throw new CliError(EXIT.usage, `${twice} is named twice`);
  const connections = urls.map((url, at) => (at === 0 ? connection : connect({ ...options, url })));
  const parts = await Promise.all(connections.map((each, at) => graphPart(each, urls[at]!, options)));
  const different = differentParts(parts);
  for (const part of parts) {
    if (different.includes(part)) continue;
    const first = different.find(({ graph }) => graph.instanceId === part.graph.instanceId)!;
    note(`${part.instance} is the same process as ${first.instance}: counted once`);
  }
  return graphToProto(mergeGraphs(different));
}

async function graphPart(connection: Connection, url: string, options: GlobalOptions): Promise<GraphPart> {
  try {
    const graph = await connection(IntegrationGraphService).getIntegrationGraph({});
    return { instance: url.replace(/^https?:\/\//, ""), graph: graphFromProto(graph) };
  } catch (error) {
    throw error instanceof ConnectError ? failureOf(error, { ...options, url }) : error;
  }
}

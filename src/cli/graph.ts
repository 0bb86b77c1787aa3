import { writeFile } from "node:fs/promises";
import { toJson } from "@bufbuild/protobuf";
import {
  type GetIntegrationGraphResponse,
  GetIntegrationGraphResponseSchema,
  IntegrationGraphService,
} from "../gen/actuator/v3/integration_graph_pb.ts";
import { graphFromProto } from "../http/rpc/integration-graph-proto.ts";
import { toAsyncApi } from "../integration-graph/export/asyncapi.ts";
import { toDot } from "../integration-graph/export/dot.ts";
import { toMermaid } from "../integration-graph/export/mermaid.ts";
import { toSvg } from "../integration-graph/export/svg.ts";
import { type Style, toText } from "../integration-graph/export/text.ts";
import { CliError } from "./cli-error.ts";
import type { Connection } from "./connection.ts";
import { EXIT } from "./exit-code.ts";
import type { GlobalOptions } from "./global-options.ts";
import type { GraphFormat, GraphOptions } from "./graph-formats.ts";
import { GRAPH_STYLE, summary } from "./graph-text.ts";
import { note } from "./output.ts";
import { printable, printableJson } from "./printable.ts";

/** `graph`: the channels and endpoints, and the ways between them. */
export async function showGraph(connection: Connection, options: GraphOptions & GlobalOptions): Promise<void> {
  const format = options.json === true ? "json" : options.format;
  const { output, with: others = [] } = options;
  if (options.watch === true) return watch(connection, format, options);
  if (options.interval !== undefined) throw new CliError(EXIT.usage, "--interval goes with --watch");

  const graph = await (others.length > 0
    ? merged(connection, others, options)
    : connection(IntegrationGraphService).getIntegrationGraph({}));
  const text = await written(graph, format, output === undefined ? GRAPH_STYLE : undefined);
  if (output !== undefined) {
    await write(output, text);
    note(`${summary(graph)} in ${printable(output)}`);
  } else {
    process.stdout.write(text);
    // A reader of JSON counts by itself.
    if (format !== "json") note(summary(graph));
  }
}

async function merged(connection: Connection, others: readonly string[], options: GlobalOptions) {
  const { mergedGraph } = await import("./graph-instances.ts");
  return mergedGraph(connection, others, options);
}

async function watch(
  connection: Connection,
  format: GraphFormat,
  options: GraphOptions & GlobalOptions,
): Promise<void> {
  if (format !== "text" && format !== "json") {
    throw new CliError(EXIT.usage, `--watch shows text or JSON, not ${format}`);
  }
  const { watchGraph } = await import("./graph-watch.ts");
  await watchGraph(connection, { ...options, json: format === "json" });
}

/** @throws CliError where the graph is too large for the format, saying which other one to use. */
async function written(graph: GetIntegrationGraphResponse, format: GraphFormat, style?: Style): Promise<string> {
  try {
    return await WRITERS[format](graph, style);
  } catch (error) {
    if (error instanceof RangeError) throw new CliError(EXIT.refused, error.message);
    throw error;
  }
}

type Writer = (graph: GetIntegrationGraphResponse, style?: Style) => string | Promise<string>;

const WRITERS: Readonly<Record<GraphFormat, Writer>> = {
  text: (graph, style) => toText(graphFromProto(graph), style && { style }),
  json: (graph) => `${printableJson(toJson(GetIntegrationGraphResponseSchema, graph), 2)}\n`,
  dot: (graph) => toDot(graphFromProto(graph)),
  mermaid: (graph) => toMermaid(graphFromProto(graph)),
  asyncapi: (graph) => toAsyncApi(graphFromProto(graph)),
  svg: (graph) => toSvg(graphFromProto(graph)),
};

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message = `${printable(file)} cannot be written (${code}): does its folder exist, and may you?`;
    throw new CliError(EXIT.refused, message);
  }
}

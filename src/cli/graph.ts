import { type Command, Option } from "commander";
import { CliError, EXIT } from "./error.ts";
import type { GraphFormat, GraphOptions } from "./graph-show.ts";
import { durationOf, examples, invocationOf } from "./options.ts";

/** The formats of `--format`. */
export const GRAPH_FORMATS: readonly GraphFormat[] = ["text", "json", "dot", "mermaid", "svg", "asyncapi"];

/** Adds `graph`. */
export function addGraphCommand(program: Command): void {
  program
    .command("graph")
    .description("show the integration graph: channels and handlers that messages pass, with live numbers")
    .addOption(new Option("--format <format>", "how to show it").choices(GRAPH_FORMATS).default("text"))
    .option("-o, --output <file>", "write it to a file")
    .option("--with <address...>", "merge in the graphs of other instances and applications")
    .addOption(watchOption().conflicts(["output", "with"]))
    .addOption(intervalOption())
    .addHelpText(
      "after",
      examples(
        ["graph", "as a tree"],
        ["graph --watch", "and then every change"],
        ["graph --format svg -o graph.svg", "as a picture; dot and mermaid are for other tools to draw"],
        ["graph --format asyncapi", "as the skeleton of an AsyncAPI 3 document"],
        ["graph --with 127.0.0.1:9002 127.0.0.1:9003", "three instances as one graph"],
        ["graph --format json", "as protobuf JSON, like --json"],
      ),
    )
    .action(async (_, command: Command) => {
      const { connection, options } = await invocationOf<GraphOptions>(command);
      const format = formatOf(options);
      if (options.watch) {
        const { watchGraph } = await import("./graph-watch.ts");
        return watchGraph(connection, { ...options, json: format === "json" });
      }
      const { showGraph } = await import("./graph-show.ts");
      await showGraph(connection, { ...options, format });
    });
}

/** `--watch` of a graph. */
export function watchOption(): Option {
  return new Option("-w, --watch", "show changes, as text or JSON, until Ctrl-C");
}

/** `--interval` of a graph that is watched. */
export function intervalOption(): Option {
  return new Option("--interval <duration>", "how often, with --watch").argParser(durationOf);
}

/** @throws CliError if `--watch` and the other options do not go together */
export function formatOf({ json, format: asked, watch, interval }: GraphOptions & { json?: boolean }): GraphFormat {
  const format = json ? "json" : asked;
  if (watch && format !== "text" && format !== "json") {
    throw new CliError(EXIT.usage, `--watch shows text or JSON, not ${format}`);
  }
  if (!watch && interval !== undefined) throw new CliError(EXIT.usage, "--interval goes with --watch");
  return format;
}

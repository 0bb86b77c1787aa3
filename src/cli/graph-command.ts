import { type Command, Option } from "commander";
import { examples } from "./examples.ts";
import { durationOf } from "./global-options.ts";
import { GRAPH_FORMATS, type GraphOptions } from "./graph-formats.ts";
import { invocationOf } from "./invocation.ts";

/** Adds `graph`. */
export function addGraphCommand(program: Command): void {
  program
    .command("graph")
    .description("show the integration graph: which channels and handlers messages flow through, with live numbers")
    .addOption(new Option("--format <format>", "how to show it").choices(GRAPH_FORMATS).default("text"))
    .option("-o, --output <file>", "write it to a file")
    .option("--with <address...>", "put in the graphs of other instances and applications, as one")
    .addOption(
      new Option("-w, --watch", "go on with what changes, as text or JSON, until Ctrl-C").conflicts(["output", "with"]),
    )
    .addOption(new Option("--interval <duration>", "how often, with --watch").argParser(durationOf))
    .addHelpText(
      "after",
      examples(
        ["graph", "as a tree"],
        ["graph --watch", "and then what changes"],
        ["graph --format svg -o graph.svg", "as a picture; dot and mermaid for others to draw"],
        ["graph --format asyncapi", "as the skeleton of an AsyncAPI 3 document"],
        ["graph --with 127.0.0.1:9002 127.0.0.1:9003", "of three instances, as one"],
        ["graph --format json", "as the JSON of protobuf, like --json"],
      ),
    )
    .action(async (_, command: Command) => {
      const { connection, options } = await invocationOf<GraphOptions>(command);
      const { showGraph } = await import("./graph.ts");
      await showGraph(connection, options);
    });
}

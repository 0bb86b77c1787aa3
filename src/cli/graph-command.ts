import { type Command, Option } from "commander";
import { examples } from "./examples.ts";
import { invocationOf } from "./invocation.ts";

/** Adds `graph`. */
export function addGraphCommand(program: Command): void {
  program
    .command("graph")
    .description("show the integration graph: which channels and handlers messages flow through, with live numbers")
    .addOption(new Option("--format <format>", "how to show it").choices(["text", "json"]).default("text"))
    .addHelpText(
      "after",
      examples(["graph", "as a tree"], ["graph --format json", "as the JSON of protobuf, like --json"]),
    )
    .action(async (_, command: Command) => {
      const { connection, options } = await invocationOf<{ format: "text" | "json" }>(command);
      const { showGraph } = await import("./graph.ts");
      await showGraph(connection, { json: options.json === true || options.format === "json" });
    });
}

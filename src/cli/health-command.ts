import type { Command } from "commander";
import { examples } from "./examples.ts";
import { invocationOf } from "./invocation.ts";

/** Adds `health`. */
export function addHealthCommand(program: Command): void {
  program
    .command("health")
    .description("say whether the application is serving; the exit code is 1 where it is not")
    .argument("[service]", "full name of one service; otherwise the process as a whole")
    .addHelpText(
      "after",
      examples(
        ["health", "the process as a whole"],
        ["health actuator.v3.LoggersService --timeout 1s", "one service, soon"],
      ),
    )
    .action(async (service: string | undefined, _, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { checkHealth } = await import("./health.ts");
      process.exitCode = await checkHealth(connection, service ?? "", options);
    });
}

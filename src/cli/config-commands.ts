import type { Command } from "commander";
import type { ConfigCheckOptions } from "./config-check.ts";
import { configOption } from "./config-file.ts";
import { examples } from "./examples.ts";

const PRECEDENCE = `
The environment wins over the file, and the file over the defaults: listen.port
is ACTUATOR_LISTEN_PORT. A secret can stand in a file of its own: idKeyFile in
the place of idKey, ACTUATOR_SESSIONS_ID_KEY_FILE. Secrets are never printed.`;

/** Adds `config check` and `config schema`. */
export function addConfigCommands(program: Command): void {
  const config = program
    .command("config")
    .description("check a configuration, and describe what there is to configure");
  config
    .command("check")
    .description("print the configuration in force and who says what, or everything that is wrong with it")
    .addOption(configOption())
    .option("--application", "as an application reads it, which has its store, graph and loggers in code")
    .addHelpText(
      "after",
      examples(
        ["config check --config actuator.json", "the file with this environment; exit code 1 where it is not fit"],
        ["config check --json", "the environment alone, for programs"],
      ) + PRECEDENCE,
    )
    .action(async (_, command: Command) => {
      const { checkConfiguration } = await import("./config-check.ts");
      process.exitCode = await checkConfiguration(command.optsWithGlobals<ConfigCheckOptions>());
    });
  config
    .command("schema")
    .description("print the JSON Schema of the file, for editors and for reading")
    .addHelpText(
      "after",
      examples(["config schema > actuator.schema.json", 'then "$schema": "./actuator.schema.json" in the file']),
    )
    .action(async () => {
      const { printConfigurationSchema } = await import("./config-schema.ts");
      await printConfigurationSchema();
    });
}

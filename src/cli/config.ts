import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import { ActuatorError, type Fault } from "../common/error.ts";
import { printable, printableJson } from "../common/printable.ts";
import { CliError, EXIT, type ExitCode } from "./error.ts";
import { examples, type GlobalOptions } from "./options.ts";
import { note, print, tableLines } from "./output.ts";

/** The option of every command that reads a configuration. */
export interface ConfigFileOptions {
  readonly config?: string;
}

interface CheckOptions extends ConfigFileOptions, Pick<GlobalOptions, "json"> {
  readonly application?: boolean;
}

const PRECEDENCE = `

The environment overrides the file, and the file overrides the defaults:
listen.port is ACTUATOR_LISTEN_PORT. A secret can be in a file of its own:
idKeyFile instead of idKey, ACTUATOR_SESSIONS_ID_KEY_FILE. Secrets are never
printed.`;

/** Adds `config check` and `config schema`. */
export function addConfigCommands(program: Command): void {
  const config = program.command("config").description("check a configuration, and print its schema");
  config
    .command("check")
    .description("print the settings in force with their sources, or everything that is wrong")
    .addOption(configOption())
    .option("--application", "as an application reads it, which has its store, graph and loggers in code")
    .addHelpText(
      "after",
      examples(
        ["config check --config actuator.json", "the file with this environment; exit code 1 if it is invalid"],
        ["config check --json", "only the environment, as JSON"],
      ) + PRECEDENCE,
    )
    .action(async (_, command: Command) => {
      process.exitCode = await checkConfiguration(command.optsWithGlobals<CheckOptions>());
    });
  config
    .command("schema")
    .description("print the JSON Schema of the file, for editors and for reading")
    .addHelpText(
      "after",
      examples(["config schema > actuator.schema.json", 'then "$schema": "./actuator.schema.json" in the file']),
    )
    .action(async () => {
      const { configurationSchema } = await import("../configuration/index.ts");
      print(JSON.stringify(configurationSchema(), null, 2));
    });
}

/** The option that names the configuration file. */
export function configOption(): Option {
  return new Option("--config <file>", "the configuration, as JSON; without it, only the environment").env(
    "ACTUATOR_CONFIG",
  );
}

/** @throws CliError if the named file does not exist. */
export function configFileOf({ config }: ConfigFileOptions): string | undefined {
  // An environment variable may be set to the empty string.
  if (!config) return undefined;
  if (existsSync(config)) return config;
  throw new CliError(EXIT.usage, `there is no file ${config}: give another with --config or ACTUATOR_CONFIG`);
}

async function checkConfiguration(options: CheckOptions): Promise<ExitCode> {
  const { application = false, json = false } = options;
  const file = configFileOf(options);
  const { applicationConfiguration, standaloneConfiguration } = await import("../configuration/index.ts");
  const { contentFaults } = await import("../configuration/contents.ts");
  const refuse = (faults: readonly Fault[]): ExitCode => {
    if (json) print(printableJson({ valid: false, faults }, 2));
    else for (const { at, message } of faults) note(printable(`${at}: ${message}`));
    return EXIT.refused;
  };
  try {
    const configuration = application ? applicationConfiguration({ file }) : standaloneConfiguration({ file });
    const { settings } = configuration;
    const faults = await contentFaults(configuration);
    if (faults.length > 0) return refuse(faults);
    if (json) print(printableJson({ valid: true, settings }, 2));
    else {
      const rows = settings.map(({ setting, value, from }) => [setting, printable(textOf(value)), printable(from)]);
      print(tableLines(["SETTING", "VALUE", "FROM"], rows).join("\n"));
    }
    return EXIT.ok;
  } catch (error) {
    const faults = error instanceof ActuatorError ? error.faults : [];
    if (faults.length === 0) throw error;
    return refuse(faults);
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

import { existsSync } from "node:fs";
import { Option } from "commander";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-code.ts";

/** What every command that reads a configuration takes. */
export interface ConfigFileOptions {
  readonly config?: string;
}

/** The option that names the file. */
export function configOption(): Option {
  return new Option("--config <file>", "the configuration, as JSON; without it, only the environment").env(
    "ACTUATOR_CONFIG",
  );
}

/** @throws CliError where the file that was named is not there. */
export function configFileOf({ config }: ConfigFileOptions): string | undefined {
  // A variable that is set to nothing.
  if (!config) return undefined;
  if (existsSync(config)) return config;
  throw new CliError(EXIT.usage, `there is no file ${config}: --config or ACTUATOR_CONFIG names another`);
}

import type { ConfigurationError, Shown } from "../configuration/index.ts";
import { type ConfigFileOptions, configFileOf } from "./config-file.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import type { GlobalOptions } from "./global-options.ts";
import { note, print } from "./output.ts";
import { printable, printableJson } from "./printable.ts";
import { tableLines } from "./table.ts";

/** What `config check` takes. */
export interface ConfigCheckOptions extends ConfigFileOptions, Pick<GlobalOptions, "json"> {
  readonly application?: boolean;
}

/** `config check`: the settings in force, or all that is wrong with them. */
export async function checkConfiguration(options: ConfigCheckOptions): Promise<ExitCode> {
  const { application = false, json = false } = options;
  const file = configFileOf(options);
  const { ConfigurationError, applicationConfiguration, standaloneConfiguration } = await import(
    "../configuration/index.ts"
  );
  try {
    const { settings } = application ? applicationConfiguration({ file }) : standaloneConfiguration({ file });
    print(json ? printableJson({ valid: true, settings }, 2) : tableOf(settings));
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return tell(error, json);
  }
}

function tell({ faults }: ConfigurationError, json: boolean): ExitCode {
  if (json) print(printableJson({ valid: false, faults }, 2));
  else for (const { at, message } of faults) note(printable(`${at}: ${message}`));
  return EXIT.refused;
}

function tableOf(settings: readonly Shown[]): string {
  const rows = settings.map(({ setting, value, from }) => [setting, printable(textOf(value)), printable(from)]);
  return tableLines(["SETTING", "VALUE", "FROM"], rows).join("\n");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

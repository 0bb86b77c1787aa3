import { once } from "node:events";
import type { Command } from "commander";
import { ActuatorError } from "../common/error.ts";
import { printable } from "../common/printable.ts";
import { type ConfigFileOptions, configFileOf, configOption } from "./config.ts";
import { CliError, EXIT, type ExitCode } from "./error.ts";
import { Interruption } from "./interruption.ts";
import { examples } from "./options.ts";
import { note, print } from "./output.ts";

const EXAMPLE = `

The configuration says what is served: sessions in a store, a graph from OTLP
traces, a fleet, which it reads and changes.
  { "sessions": { "store": { "redis": "redis://127.0.0.1:6379" }, "idKeyFile": "id.key" },
    "graph": true,
    "fleet": { "redis": "redis://127.0.0.1:6379", "name": "shop" } }
It listens on 127.0.0.1:9001 by default (listen). After SIGTERM it finishes open
requests and ends; a second signal ends it at once.
Exit codes: 0 ended by a signal, 1 cannot start, 2 wrong command line.`;

/** How long stores and instances may take to close after the requests were drained. */
const CLOSE_TIMEOUT_MS = 5_000;

/** Adds `serve`. */
export function addServeCommand(program: Command): void {
  program
    .command("serve")
    .description("serve an actuator without an application, as a sidecar")
    .addOption(configOption())
    .addHelpText(
      "after",
      examples(
        ["serve --config actuator.json", "what the file says, with this environment"],
        ["config check --config actuator.json", "check the file without starting"],
      ) + EXAMPLE,
    )
    .action(async (_, command: Command) => {
      process.exitCode = await serve(command.optsWithGlobals<ConfigFileOptions>());
    });
}

/** @throws CliError if it cannot start. */
async function serve(options: ConfigFileOptions): Promise<ExitCode> {
  const file = configFileOf(options);
  const interruption = new Interruption();
  try {
    const { standaloneConfiguration } = await import("../configuration/index.ts");
    const { startStandaloneActuator } = await import("../serve/index.ts");
    const actuator = await startStandaloneActuator(standaloneConfiguration({ file }));
    print(printable(`connect-actuator serves ${actuator.serves.join(", ")} on ${actuator.address.url}`));
    for (const warning of actuator.warnings) note(printable(`connect-actuator: ${warning}`));
    if (!interruption.signal.aborted) await once(interruption.signal, "abort");
    note("connect-actuator: shutting down; a second signal ends it at once");
    setTimeout(() => process.exit(EXIT.refused), actuator.drainMs + CLOSE_TIMEOUT_MS).unref();
    await actuator.close();
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof ActuatorError)) throw error;
    throw new CliError(EXIT.refused, `cannot start: ${printable(error.message).replaceAll("\\u000a", "\n  ")}`);
  } finally {
    interruption.close();
  }
}

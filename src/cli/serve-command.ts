import type { Command } from "commander";
import { type ConfigFileOptions, configOption } from "./config-file.ts";
import { examples } from "./examples.ts";

const EXAMPLE = `
The configuration says what is served: sessions in a store, a graph that
services draw over OTLP, the loggers of a fleet.
  { "sessions": { "store": { "redis": "redis://127.0.0.1:6379" }, "idKeyFile": "id.key" },
    "graph": true,
    "fleet": { "instances": ["http://10.0.0.7:9001", "http://10.0.0.8:9001"] } }
It listens on 127.0.0.1:9001 unless listen says otherwise. SIGTERM lets answers
under way finish; a second signal ends it at once.
Exit codes: 0 ended by a signal, 1 cannot start, 2 wrong command line.`;

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
        ["config check --config actuator.json", "what that would be, without starting it"],
      ) + EXAMPLE,
    )
    .action(async (_, command: Command) => {
      const { serve } = await import("./serve.ts");
      process.exitCode = await serve(command.optsWithGlobals<ConfigFileOptions>());
    });
}

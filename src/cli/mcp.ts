import { once } from "node:events";
import type { Command } from "commander";
import { ActuatorError } from "../common/error.ts";
import { CliError, EXIT } from "./error.ts";
import { Interruption } from "./interruption.ts";
import { connecting, examples } from "./options.ts";

const HELP = `

Standard input and output belong to the protocol; messages go to standard error.
The process is looked for at each call, so that it may be restarted meanwhile.
Needs the package @modelcontextprotocol/server beside connect-actuator.`;

interface McpCommandOptions {
  readonly readOnly?: boolean;
}

/** Adds `mcp`. */
export function addMcpCommand(program: Command, version: string): void {
  program
    .command("mcp")
    .description("serve the tools of AI agents over standard input and output, for editors")
    .option("--read-only", "leave out the tools that change something")
    .addHelpText(
      "after",
      examples(
        ["mcp --name shop", "the tools for the process with this name"],
        ["mcp --url https://shop.example --read-only", "for an address, with the token in ACTUATOR_TOKEN"],
      ) + HELP,
    )
    .action(async (options: McpCommandOptions, command: Command) => {
      process.exitCode = await serveAgents(command, version, options);
    });
}

/**
 * Serves one client until it closes standard input or a signal arrives; calls under way are ended, and levels put back.
 *
 * @throws CliError if the package that speaks the protocol is not installed
 */
async function serveAgents(
  command: Command,
  version: string,
  { readOnly = false }: McpCommandOptions,
): Promise<number> {
  const connect = connecting(command);
  const { loadSdk, loadStdio, toolServers } = await import("../mcp/server.ts");
  const [sdk, { serveStdio }] = await Promise.all([loadSdk(), loadStdio()]).catch((error: unknown) => {
    throw error instanceof ActuatorError ? new CliError(EXIT.refused, error.message) : error;
  });
  const { messageOf } = await import("./mcp-error.ts");
  const serverFor = toolServers(sdk);
  const service = {
    name: "connect-actuator",
    version,
    clients: connect,
    offers: ({ writes }: { readonly writes: boolean }) => !(readOnly && writes),
    messageOf: (error: unknown) => messageOf(error, connect.last),
  };
  const interruption = new Interruption();
  const handle = serveStdio(() => serverFor(service));
  try {
    await Promise.race([once(process.stdin, "end"), once(process.stdin, "close"), once(interruption.signal, "abort")]);
    await handle.close();
    return interruption.exitCode ?? EXIT.ok;
  } finally {
    interruption.close();
    // Otherwise an open standard input keeps the process alive.
    process.stdin.destroy();
  }
}

import { readFileSync } from "node:fs";
import { Command, CommanderError, Help, type Option } from "commander";
import { printable } from "../common/printable.ts";
import { addAttachCommand } from "./attach.ts";
import { addCompletionCommand, COMPLETE } from "./completion.ts";
import { addConfigCommands } from "./config.ts";
import { addDetachCommand } from "./detach.ts";
import { CliError, EXIT } from "./error.ts";
import { addFleetCommands } from "./fleet.ts";
import { addGraphCommand } from "./graph.ts";
import { addHealthCommand } from "./health.ts";
import { addLoggersCommands } from "./loggers.ts";
import { addMcpCommand } from "./mcp.ts";
import { addGlobalOptions, examples, type GlobalOptions } from "./options.ts";
import { note } from "./output.ts";
import { addPsCommand } from "./ps.ts";
import { addServeCommand } from "./serve.ts";
import { addSessionsCommands } from "./sessions.ts";
import { addTokenCommands } from "./token.ts";

const EXIT_CODES = `
Exit codes: 0 done, 1 refused by the server or not serving, 2 wrong command line,
3 no actuator reached, 130 interrupted.`;

/** Creates the program: every command with its arguments, options and help. Completion and the reference are made from it. */
export function createProgram(): Command {
  const program = new Command("connect-actuator")
    .description("Inspects and changes a running Node.js application: loggers, HTTP sessions, integration graph.")
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions })
    .configureOutput({ outputError: (text, write) => write(`${asOneLine(text)}\n`) })
    .addHelpText(
      "after",
      examples(
        ["loggers list", "every logger with its level"],
        ["loggers set orders debug --for 10m", "for ten minutes, then as it was before"],
        ["health --name shop", "of the process with this name; without it, the only one of this user"],
        ["health --url http://127.0.0.1:9002", "of an application at an address"],
      ),
    )
    .addHelpText("after", EXIT_CODES)
    .exitOverride();
  addGlobalOptions(program);
  addLoggersCommands(program);
  addFleetCommands(program);
  addSessionsCommands(program);
  addGraphCommand(program);
  addHealthCommand(program);
  addMcpCommand(program, version());
  addPsCommand(program);
  addAttachCommand(program);
  addDetachCommand(program);
  addTokenCommands(program);
  addConfigCommands(program);
  addServeCommand(program);
  addCompletionCommand(program);
  return program;
}

/** An option of the command itself comes before a global one of the same name. */
function visibleGlobalOptions(this: Help, command: Command): Option[] {
  const options = Help.prototype.visibleGlobalOptions.call(this, command);
  return options.filter(({ long }) => !command.options.some((own) => own.long === long));
}

/** Runs a command line, given as the words after the program's name. Prints a failure as one line and returns the exit code. */
export async function run(words: readonly string[]): Promise<number> {
  const program = createProgram();
  try {
    if (words[0] === COMPLETE) {
      const { printCompletions } = await import("./complete.ts");
      await printCompletions(program, words.slice(1));
    } else {
      await program.parseAsync(words, { from: "user" });
    }
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    // Commander has already printed its message, or the help that was requested.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const failure = error instanceof CliError ? error : await callFailure(error, program.opts<GlobalOptions>());
    note(`connect-actuator: ${failure.message}`);
    return failure.exitCode;
  }
}

async function callFailure(error: unknown, options: GlobalOptions): Promise<CliError> {
  const { ConnectError } = await import("@connectrpc/connect");
  if (!(error instanceof ConnectError)) throw error;
  const { failureOf } = await import("./failure.ts");
  const { baseUrlOf } = await import("./connection.ts");
  return failureOf(error, { ...options, url: baseUrlOf(options.url) });
}

/** Formats an error of commander like every other error: `connect-actuator: unknown command …`. */
function asOneLine(text: string): string {
  const line = text.replace(/^error: /, "connect-actuator: ").trim();
  return printable(line.replace(/\n+/g, " "));
}

/** Reads the version of the package; `package.json` is at the same distance from `src/cli` and `dist/cli`. */
function version(): string {
  return JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version;
}

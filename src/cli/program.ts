import { readFileSync } from "node:fs";
import { Command } from "commander";
import { addCompletionCommand } from "./completion-command.ts";
import { addConfigCommands } from "./config-commands.ts";
import { examples } from "./examples.ts";
import { addGlobalOptions } from "./global-options.ts";
import { addGraphCommand } from "./graph-command.ts";
import { addHealthCommand } from "./health-command.ts";
import { addLoggersCommands } from "./loggers-commands.ts";
import { printable } from "./printable.ts";
import { addServeCommand } from "./serve-command.ts";
import { addSessionsCommands } from "./sessions-commands.ts";
import { addTokenCommands } from "./token-commands.ts";

/** Every command with its arguments, options and help. What completes words on a command line reads the same. */
export function createProgram(): Command {
  const program = new Command("connect-actuator")
    .description("Sees and changes what a running Node.js application does: loggers, HTTP sessions, integration graph.")
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text, write) => write(`${asOneLine(text)}\n`) })
    .addHelpText(
      "after",
      examples(
        ["loggers list", "every logger with its level"],
        ["loggers set orders debug --for 10m", "for ten minutes, then as it was before"],
        ["health --url http://127.0.0.1:9002", "another application"],
      ),
    )
    .addHelpText("after", EXIT_CODES)
    .exitOverride();
  addGlobalOptions(program);
  addLoggersCommands(program);
  addSessionsCommands(program);
  addGraphCommand(program);
  addHealthCommand(program);
  addTokenCommands(program);
  addConfigCommands(program);
  addServeCommand(program);
  addCompletionCommand(program);
  return program;
}

const EXIT_CODES = `
Exit codes: 0 done, 1 the server said no or is not well, 2 wrong command line,
3 no actuator reached, 130 interrupted.`;

/** What is wrong with a command line, as one line like every other error: `connect-actuator: unknown command …`. */
function asOneLine(text: string): string {
  return printable(
    text
      .replace(/^error: /, "connect-actuator: ")
      .trim()
      .replace(/\n+/g, " "),
  );
}

/** The package's own version: `package.json` stands at the same distance from the source as from what is built of it. */
function version(): string {
  return JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version;
}

import { CommanderError } from "commander";
import { CliError } from "./cli-error.ts";
import { COMPLETE } from "./completion-scripts.ts";
import { EXIT } from "./exit-code.ts";
import type { GlobalOptions } from "./global-options.ts";
import { note } from "./output.ts";
import { createProgram } from "./program.ts";

/** Runs a command line, the words after the program's name. What goes wrong is told in one line; the answer is the exit code. */
export async function run(words: readonly string[]): Promise<number> {
  const program = createProgram();
  try {
    if (words[0] === COMPLETE) {
      const { printCompletions } = await import("./completion.ts");
      await printCompletions(program, words.slice(1));
    } else {
      await program.parseAsync(words, { from: "user" });
    }
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    // The library has printed its message, or the help that was asked for.
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

import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";

/** The repository's root: every command runs there, wherever the script was started from. */
export const root: string = join(import.meta.dirname, "..");

/**
 * Runs a program to its end and answers its standard output. The repository's own tools come before the host's,
 * so a script does the same under `npm run` and without it.
 *
 * @throws CommandFailed when the program cannot be started or ends with another code than 0.
 */
export function run(program: string, ...args: string[]): string {
  const { error, status, signal, stdout, stderr } = spawnSync(program, args, {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, PATH: `${join(root, "node_modules", ".bin")}${delimiter}${process.env.PATH}` },
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = `${stdout ?? ""}${stderr ?? ""}`.trim();
  if (error) throw new CommandFailed(`${program} could not be run: ${error.message}`, output);
  if (status !== 0) throw new CommandFailed(`${[program, ...args].join(" ")} ended with ${signal ?? status}`, output);
  return stdout.trim();
}

/** A program that did not end well; `output` is all that it printed. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  readonly output: string;

  constructor(message: string, output: string) {
    super(message);
    this.output = output;
  }
}

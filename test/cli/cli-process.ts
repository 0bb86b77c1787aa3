import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** The program, as its source. */
export const MAIN = join(import.meta.dirname, "..", "..", "src", "cli", "main.ts");

/** The environment of a process in which a package is not installed. */
export function without(name: string): NodeJS.ProcessEnv {
  const code = `
    import { registerHooks } from "node:module";
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier !== ${JSON.stringify(name)}) return next(specifier, context);
        throw Object.assign(new Error("none"), { code: "ERR_MODULE_NOT_FOUND" });
      },
    });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

/** The exit of a command, and its output. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line as a process that writes lines. Killed when the test ends. */
export class CliProcess {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  stdout = "";
  stderr = "";

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    this.#child = spawn(process.execPath, [MAIN, ...args], { env: cliEnv(env), stdio: ["pipe", "pipe", "pipe"] });
    this.#child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text;
    });
    this.#child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    this.#closed = once(this.#child, "close");
    onTestFinished(() => this.kill());
  }

  /** Writes everything that the command reads, and closes its standard input. */
  input(text: string): void {
    this.#child.stdin!.end(text);
  }

  /** Resolves as soon as the output on either stream matches; rejects after 30 seconds or when the process has ended. */
  async wrote(pattern: RegExp): Promise<void> {
    const streams = [this.#child.stdout!, this.#child.stderr!];
    const { promise, resolve } = Promise.withResolvers<string>();
    const look = () => {
      if (pattern.test(this.stdout) || pattern.test(this.stderr)) resolve("wrote it");
    };
    for (const stream of streams) stream.on("data", look);
    const late = setTimeout(() => resolve("late"), 30_000);
    look();
    const outcome = await Promise.race([promise, this.#closed.then(() => "ended")]);
    clearTimeout(late);
    for (const stream of streams) stream.off("data", look);
    if (outcome === "late" || (outcome === "ended" && !pattern.test(this.stdout) && !pattern.test(this.stderr))) {
      throw new Error(`${outcome}, and never wrote ${pattern}:\n${this.stdout}\n${this.stderr}`);
    }
  }

  /** Closes the pipe that the command writes to, as `head` does. */
  leave(): void {
    this.#child.stdout!.destroy();
  }

  /** Reads no more of what the command writes to standard output, until {@link resume}. */
  pause(): void {
    this.#child.stdout!.pause();
  }

  resume(): void {
    this.#child.stdout!.resume();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async ended(): Promise<Ended> {
    await this.#closed;
    const { exitCode: code, signalCode: signal } = this.#child;
    return { code, signal, stdout: this.stdout, stderr: this.stderr };
  }

  /** Kills the process. */
  async kill(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill("SIGKILL");
    await this.#closed;
  }
}

/** Runs a command to its end, with `input` on its standard input. */
export async function cli(
  args: readonly string[],
  { env = {}, input = "" }: { readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {},
): Promise<Ended> {
  const child = new CliProcess(args, env);
  child.input(input);
  return child.ended();
}

/** Processes that run on this machine are not found. */
const NO_FOLDER = join(import.meta.dirname, "none");

/** The environment without settings for colours and the program itself, in UTC. */
export function cliEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // If CI is set, Node.js assumes a terminal without colours.
  const { ACTUATOR_URL, ACTUATOR_TOKEN, CI, NO_COLOR, FORCE_COLOR, NODE_OPTIONS, ...inherited } = process.env;
  return { ...inherited, TZ: "UTC", CONNECT_ACTUATOR_RUNTIME_DIR: NO_FOLDER, ...env };
}

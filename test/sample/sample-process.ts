import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const MAIN = join(import.meta.dirname, "..", "..", "src", "sample", "main.ts");

/** The sample as its operator sees it: a process that writes lines. */
export class SampleProcess {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  stdout = "";
  stderr = "";

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const { PORT: _, ...inherited } = process.env;
    this.#child = spawn(process.execPath, [MAIN, ...args], {
      env: { ...inherited, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text;
    });
    this.#child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    this.#closed = once(this.#child, "close");
  }

  /** Resolves to the match as soon as the output has it; rejects after half a minute or when the process has ended. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = AbortSignal.timeout(30_000);
    for (;;) {
      const match = pattern.exec(this.stdout);
      if (match !== null) return match;
      const ended = this.#closed.then(() => "ended");
      const more = once(this.#child.stdout!, "data", { signal: deadline });
      const next = await Promise.race([more, ended]).catch(() => "late");
      if (next === "ended" || next === "late") {
        const last = pattern.exec(this.stdout);
        if (last !== null) return last;
        throw new Error(`${next}, and never printed ${pattern}:\n${this.stdout}\n${this.stderr}`);
      }
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** How the process ended by itself. */
  async ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    await this.#closed;
    return { code: this.#child.exitCode, signal: this.#child.signalCode };
  }

  /** Ends the process, whatever it is doing. */
  async kill(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill("SIGKILL");
    await this.#closed;
  }
}

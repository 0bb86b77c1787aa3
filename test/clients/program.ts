import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Built } from "./build.ts";

/** What a program said until it ended. */
export interface Outcome {
  readonly code: number | null;
  readonly lines: readonly string[];
  readonly errors: string;
}

const PATIENCE_MS = 60_000;

/** A running example. Its lines are heard as they come. */
export class Program implements AsyncDisposable {
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #errors = "";
  #heard = Promise.withResolvers<void>();

  constructor({ cwd, command, args, env }: Built, own: readonly string[], more: NodeJS.ProcessEnv) {
    this.#child = spawn(command, [...args, ...own], {
      cwd,
      env: { ...env, ...more },
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own: a script's children end with it.
      detached: true,
    });
    const { stdout, stderr } = this.#child;
    createInterface(stdout!).on("line", (line) => {
      this.lines.push(line);
      this.#wake();
    });
    stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.#errors += text;
    });
    this.#ended = once(this.#child, "close").then(() => this.#wake());
  }

  /** Waits for a line from the `from`th on that matches, and answers the number of the line after it. */
  async heard(wanted: RegExp, from = 0): Promise<number> {
    const giveUp = AbortSignal.timeout(PATIENCE_MS);
    giveUp.addEventListener("abort", () => this.#wake());
    for (;;) {
      const found = this.lines.findIndex((line, at) => at >= from && wanted.test(line));
      if (found >= 0) return found + 1;
      if (giveUp.aborted || this.#gone) {
        throw new Error(`no line from ${from} on matches ${wanted}:\n${this.lines.join("\n")}\n${this.#errors}`);
      }
      await this.#heard.promise;
    }
  }

  async outcome(): Promise<Outcome> {
    const timer = setTimeout(() => this.#kill(), PATIENCE_MS);
    await this.#ended;
    clearTimeout(timer);
    return { code: this.#child.exitCode, lines: this.lines, errors: this.#errors };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#kill();
    await this.#ended;
  }

  get #gone(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #wake(): void {
    this.#heard.resolve();
    this.#heard = Promise.withResolvers();
  }

  #kill(): void {
    if (!this.#gone) process.kill(-this.#child.pid!, "SIGKILL");
  }
}

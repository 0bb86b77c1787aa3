import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/**
 * A process of its own that answers one message with one message, in order. A benchmark's servers and its load run in
 * such processes, so that none shares a thread, a heap or a compiler with another.
 */
export class Child {
  readonly #process: ChildProcess;

  constructor(
    module: string,
    options: { readonly args?: readonly string[]; readonly execArgv?: readonly string[] } = {},
  ) {
    this.#process = fork(module, options.args ?? [], {
      execArgv: [...(options.execArgv ?? [])],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
  }

  /** The next message that the process sends. Fails when the process ends instead. */
  async next<Answer>(): Promise<Answer> {
    const settled = new AbortController();
    const message = once(this.#process, "message", settled).then(([answer]) => answer as Answer);
    const exit = once(this.#process, "exit", settled).then(([code, signal]) => {
      throw new Error(`a process of the benchmark ended with ${code ?? signal}`);
    });
    try {
      return await Promise.race([message, exit]);
    } finally {
      settled.abort();
    }
  }

  ask<Answer>(question: object): Promise<Answer> {
    this.#process.send(question);
    return this.next<Answer>();
  }

  /** Lets the process end by itself, so that it can still write a profile. */
  async end(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const exit = once(this.#process, "exit");
    this.#process.disconnect();
    await exit;
  }
}

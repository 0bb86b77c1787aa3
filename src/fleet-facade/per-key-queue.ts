import { settlesWithin } from "../common/timeout.ts";

/** How a {@link PerKeyQueue} runs its tasks. */
export interface TaskRunner<Task> {
  /** Whether tasks can run now. */
  isOpen(): boolean;
  /** Runs a task. Returns false to run it again later, unless a newer one of its name was added. Never rejects. */
  run(task: Task): Promise<boolean>;
  /** Called after each run of a task, successful or not. */
  settled(name: string): void;
}

/** How long to wait after a failed task; each further failure doubles it. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
const MAX_CONCURRENT = 8;
/** How long closing waits for running tasks. */
const CLOSE_TIMEOUT_MS = 5_000;

/** Runs tasks: of each name only the latest, and one at a time, so that they arrive in order. */
export class PerKeyQueue<Task extends { readonly name: string }> {
  readonly #runner: TaskRunner<Task>;
  readonly #due = new Map<string, Task>();
  readonly #running = new Map<string, Promise<void>>();
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #closed = false;

  constructor(runner: TaskRunner<Task>) {
    this.#runner = runner;
  }

  /** Adds a task, in place of a waiting one of its name. {@link start} runs it. */
  add(task: Task): void {
    this.#due.set(task.name, task);
  }

  /** Removes the waiting task of this name. */
  remove(name: string): void {
    this.#due.delete(name);
  }

  /** The tasks that wait. */
  waiting(): readonly Task[] {
    return [...this.#due.values()];
  }

  /** Whether a task of this name runs, or can run now. */
  isBusy(name: string): boolean {
    return this.#running.has(name) || (this.#runner.isOpen() && this.#due.has(name));
  }

  /** Starts the waiting tasks that can run; `now` skips the delay after a failure. */
  start({ now = false } = {}): void {
    if (now) {
      clearTimeout(this.#retry);
      this.#retry = undefined;
    }
    for (const [name, task] of this.#due) {
      if (this.#closed || this.#retry !== undefined) return;
      if (!this.#runner.isOpen() || this.#running.size >= MAX_CONCURRENT) return;
      if (this.#running.has(name)) continue;
      this.#due.delete(name);
      this.#running.set(name, this.#run(task));
    }
  }

  /** Waits for the running tasks, for a few seconds at most, and runs no more. */
  async close(): Promise<void> {
    const finish = async () => {
      while (this.#running.size > 0) await Promise.all(this.#running.values());
    };
    await settlesWithin(finish(), CLOSE_TIMEOUT_MS, { background: true });
    this.#closed = true;
    clearTimeout(this.#retry);
  }

  async #run(task: Task): Promise<void> {
    const { name } = task;
    const isDone = await this.#runner.run(task);
    if (isDone) this.#failures = 0;
    else {
      if (!this.#due.has(name)) this.#due.set(name, task);
      this.#retryLater();
    }
    this.#running.delete(name);
    this.#runner.settled(name);
    this.start();
  }

  #retryLater(): void {
    if (this.#closed || this.#retry !== undefined) return;
    const wait = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** this.#failures++);
    this.#retry = setTimeout(() => this.start({ now: true }), wait).unref();
  }
}

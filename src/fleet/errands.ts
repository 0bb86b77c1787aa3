import { setTimeout as delay } from "node:timers/promises";

/** How errands are run. */
export interface ErrandRunner<Task> {
  /** Whether any can be run now. */
  isOpen(): boolean;
  /** Runs one. False: it is to be run again later, unless another of its name has come meanwhile. Never rejects. */
  run(task: Task): Promise<boolean>;
  /** One is over, whatever became of it. */
  settled(name: string): void;
}

/** A failed errand is run again after so long, and after longer each time. */
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
/** Errands at a time. */
const AT_ONCE = 8;
/** For how long the end waits for those under way. */
const LAST_WAIT_MS = 5_000;

/** Errands to one place: of each name the latest only, and one at a time, so that they arrive in order. */
export class Errands<Task extends { readonly name: string }> {
  readonly #runner: ErrandRunner<Task>;
  readonly #due = new Map<string, Task>();
  readonly #running = new Map<string, Promise<void>>();
  #pause: NodeJS.Timeout | undefined;
  #failures = 0;
  #ended = false;

  constructor(runner: ErrandRunner<Task>) {
    this.#runner = runner;
  }

  /** Puts an errand in the place of one of its name that is still due. {@link go} runs it. */
  put(task: Task): void {
    this.#due.set(task.name, task);
  }

  /** What is due is to be done no more. */
  drop(name: string): void {
    this.#due.delete(name);
  }

  /** Those that are due. */
  due(): readonly Task[] {
    return [...this.#due.values()];
  }

  /** Whether one of this name is under way, or about to be. */
  isBusy(name: string): boolean {
    return this.#running.has(name) || (this.#runner.isOpen() && this.#due.has(name));
  }

  /** Runs what is due and can be run; with `anew`, though it failed a moment ago. */
  go(anew = false): void {
    if (anew) {
      clearTimeout(this.#pause);
      this.#pause = undefined;
    }
    for (const [name, task] of this.#due) {
      if (this.#ended || this.#pause !== undefined) return;
      if (!this.#runner.isOpen() || this.#running.size >= AT_ONCE) return;
      if (this.#running.has(name)) continue;
      this.#due.delete(name);
      this.#running.set(name, this.#run(task));
    }
  }

  /** Waits for what is under way, and runs nothing more. */
  async close(): Promise<void> {
    const done = async () => {
      while (this.#running.size > 0) await Promise.all(this.#running.values());
    };
    await Promise.race([done(), delay(LAST_WAIT_MS, undefined, { ref: false })]);
    this.#ended = true;
    clearTimeout(this.#pause);
  }

  async #run(task: Task): Promise<void> {
    const { name } = task;
    const isDone = await this.#runner.run(task);
    if (isDone) this.#failures = 0;
    else {
      if (!this.#due.has(name)) this.#due.set(name, task);
      this.#rest();
    }
    this.#running.delete(name);
    this.#runner.settled(name);
    this.go();
  }

  #rest(): void {
    if (this.#ended || this.#pause !== undefined) return;
    const wait = Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** this.#failures++);
    this.#pause = setTimeout(() => this.go(true), wait).unref();
  }
}

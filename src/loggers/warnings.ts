import { ROOT } from "./name.ts";

const MAX_WARNINGS = 1_000;
const none: readonly string[] = [];

/**
 * What an operator should know of single loggers; each sentence once a name, and a bounded number in all. Those of ROOT, which tell of
 * the whole, have a bound of their own, so that many others cannot hide them.
 */
export class Warnings {
  readonly #byName = new Map<string, string[]>();
  readonly #onChange: () => void;
  #count = 0;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  add(name: string, message: string): void {
    const messages = this.#byName.get(name) ?? [];
    if (messages.includes(message)) return;
    if (name === ROOT && messages.length >= MAX_WARNINGS) return;
    if (name !== ROOT && this.#count >= MAX_WARNINGS) {
      this.add(ROOT, `more than ${MAX_WARNINGS} warnings of loggers: the rest is not shown`);
      return;
    }
    if (name !== ROOT) this.#count++;
    this.#byName.set(name, [...messages, message]);
    this.#onChange();
  }

  /** Takes a sentence back that is true no more. */
  delete(name: string, message: string): void {
    const messages = this.#byName.get(name);
    if (messages?.includes(message) !== true) return;
    if (name !== ROOT) this.#count--;
    const left = messages.filter((each) => each !== message);
    if (left.length === 0) this.#byName.delete(name);
    else this.#byName.set(name, left);
    this.#onChange();
  }

  of(name: string): readonly string[] {
    return this.#byName.get(name) ?? none;
  }
}

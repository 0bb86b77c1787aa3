import type { DebugLogger } from "./native.ts";

/** How many loggers of one name are held; the oldest make room for new ones. */
const MAX_LOGGERS = 256;

/** One namespace of debug, whether it is on, and its loggers, held weakly. */
export class Namespace {
  readonly name: string;
  /** What the application said of it at the beginning: on, off, or nothing at all. */
  #said: boolean | undefined;
  #on = false;
  #made = 0;
  readonly #loggers: WeakRef<DebugLogger>[] = [];

  constructor(name: string) {
    this.name = name;
  }

  get on(): boolean {
    return this.#on;
  }

  /** Whether it was switched by anybody yet, rather than being off for want of a word about it. */
  get configured(): boolean {
    return this.#said !== undefined || this.#on;
  }

  add(logger: DebugLogger): void {
    this.#loggers[this.#made++ % MAX_LOGGERS] = new WeakRef(logger);
  }

  /** Takes over from the patterns and from what single loggers were set to. */
  begin(said: boolean | undefined): void {
    this.#on = said ?? false;
    this.#said = this.override() ?? said;
    this.turn(this.#said ?? false);
  }

  /** Switches the namespace. What single loggers were set to before holds no longer. */
  turn(on: boolean): void {
    this.#on = on;
    for (const logger of this.#live()) logger.enabled = null;
  }

  /** What application code set a logger to, where that differs from the namespace. */
  override(): boolean | undefined {
    return this.#live().find(({ enabled }) => enabled !== this.#on)?.enabled;
  }

  /** Gives the loggers back to the patterns; where these say otherwise, each keeps what it has. */
  end(patterns: boolean): void {
    if (patterns === this.#on) return;
    for (const logger of this.#live()) logger.enabled = this.#on;
  }

  #live(): DebugLogger[] {
    return this.#loggers.flatMap((held) => held.deref() ?? []);
  }
}

import type { LoggerHost } from "../loggers/adapter.ts";

/** What operators are told as warnings of loggers, each for as long as it is true. */
export class Notices {
  readonly #host: LoggerHost;
  /** By name and topic. */
  readonly #told = new Map<string, Map<string, string>>();

  constructor(host: LoggerHost) {
    this.#host = host;
  }

  /** Tells of a topic on a logger, in place of what was told of it before; undefined: there is nothing to tell any more. */
  tell(name: string, topic: string, message: string | undefined): void {
    const before = this.#told.get(name)?.get(topic);
    if (before === message) return;
    if (before !== undefined) this.#host.retract?.(name, before);
    if (message !== undefined) {
      this.#host.warn(name, message);
      const topics = this.#told.get(name) ?? new Map<string, string>();
      this.#told.set(name, topics.set(topic, message));
      return;
    }
    const topics = this.#told.get(name);
    topics?.delete(topic);
    if (topics?.size === 0) this.#told.delete(name);
  }

  /** There is nothing to tell of a topic any more, on any logger. */
  forget(topic: string): void {
    for (const [name, topics] of [...this.#told]) if (topics.has(topic)) this.tell(name, topic, undefined);
  }
}

import type { LoggerHost } from "../loggers/adapter.ts";

/** The warnings of the fleet on loggers: for each logger and topic at most one, as long as it is true. */
export class Warnings {
  readonly #host: LoggerHost;
  /** Messages by name and topic. */
  readonly #messages = new Map<string, Map<string, string>>();

  constructor(host: LoggerHost) {
    this.#host = host;
  }

  /** Sets the warning about a topic on a logger, in place of an earlier one. */
  set(name: string, topic: string, message: string): void {
    if (this.#messages.get(name)?.get(topic) === message) return;
    this.clear(name, topic);
    this.#host.warn(name, message);
    const topics = this.#messages.get(name) ?? new Map<string, string>();
    this.#messages.set(name, topics.set(topic, message));
  }

  /** Removes the warning about a topic from a logger, if there is one. */
  clear(name: string, topic: string): void {
    const topics = this.#messages.get(name);
    const message = topics?.get(topic);
    if (topics === undefined || message === undefined) return;
    this.#host.retract(name, message);
    topics.delete(topic);
    if (topics.size === 0) this.#messages.delete(name);
  }
}

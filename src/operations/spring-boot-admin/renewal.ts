import { setTimeout as delay } from "node:timers/promises";
import type { AdminServer } from "./admin-server.ts";

/**
 * Registers again and again with the first of some servers that answers. Rounds begin at every interval, never two at a
 * time, and keep no process alive.
 */
export class Renewal {
  readonly #servers: readonly AdminServer[];
  readonly #body: string;
  readonly #intervalMs: number;
  readonly #stopping = new AbortController();
  #ended = false;
  #round: Promise<void>;
  #timer: NodeJS.Timeout | undefined;

  constructor(servers: readonly AdminServer[], body: string, intervalMs: number) {
    this.#servers = servers;
    this.#body = body;
    this.#intervalMs = intervalMs;
    this.#round = this.#run();
  }

  /** Ends the registrations within so many milliseconds; with 0 it lets them be. */
  async end(limitMs: number): Promise<void> {
    const until = performance.now() + limitMs;
    this.#ended = true;
    clearTimeout(this.#timer);
    // A registration that arrived after its end would stay. Nothing is to be hoped of a server that was away.
    const cancel = new AbortController();
    const patience = this.#servers.some(({ isAway }) => isAway) ? 0 : limitMs;
    const late = delay(patience, undefined, { signal: cancel.signal }).catch(() => undefined);
    await Promise.race([this.#round, late]);
    cancel.abort();
    this.#stopping.abort();
    await Promise.all(
      this.#servers.map((server) => {
        const left = Math.ceil(until - performance.now());
        return left > 0 ? server.deregister(left) : undefined;
      }),
    );
  }

  async #run(): Promise<void> {
    const begun = performance.now();
    for (const server of this.#servers) {
      if (this.#ended || (await server.register(this.#body, this.#stopping.signal))) break;
    }
    if (this.#ended) return;
    const pause = Math.max(0, this.#intervalMs - (performance.now() - begun));
    this.#timer = setTimeout(() => {
      this.#round = this.#run();
    }, pause).unref();
  }
}

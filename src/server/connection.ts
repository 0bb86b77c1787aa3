import type { Socket } from "node:net";

/** Whom connections count for, and what is open of theirs. */
export class Client {
  readonly name: string;
  readonly sockets = new Map<Connection, Socket>();
  /** Those that could end without a loss to anybody who is known, idle for longest first. */
  readonly idle = new Set<Connection>();

  constructor(name: string) {
    this.name = name;
  }

  /** The one that is idle for longest. */
  get idlest(): Connection | undefined {
    return this.idle.values().next().value;
  }
}

/**
 * What a port knows of one of its connections: idle, unless a request of somebody who is known is under way. Others may not
 * hold a place by what they begin, such as a body that never comes.
 *
 * It never leads to its socket once that has closed, whoever holds it: see `Http2Sessions`.
 */
export class Connection {
  readonly client: Client;
  #isKnown: boolean;
  #requests = 0;
  #idleSince = performance.now();

  /** @param isKnown whether nobody is asked who they are, so that all are as good as known */
  constructor(client: Client, socket: Socket, isKnown: boolean) {
    this.client = client;
    this.#isKnown = isKnown;
    client.sockets.set(this, socket);
    client.idle.add(this);
  }

  /** A time of `performance.now()`: when it was opened, or when its last request was over. */
  get idleSince(): number {
    return this.#idleSince;
  }

  /** Notes that a request has begun. */
  began(): void {
    this.#requests++;
    if (this.#isKnown) this.client.idle.delete(this);
  }

  /** Notes that the answer to a request is over. */
  ended(): void {
    this.#requests--;
    if (this.#isKnown && this.#requests > 0) return;
    this.#idleSince = performance.now();
    const { idle, sockets } = this.client;
    idle.delete(this);
    if (sockets.has(this)) idle.add(this);
  }

  /** Notes that somebody has said over it who they are, and was let in. */
  noteKnown(): void {
    this.#isKnown = true;
    if (this.#requests > 0) this.client.idle.delete(this);
  }

  /** Notes that its socket has closed. */
  closed(): void {
    this.client.sockets.delete(this);
    this.client.idle.delete(this);
  }
}
